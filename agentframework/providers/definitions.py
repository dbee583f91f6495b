"""What we know about models, as data: names, windows, output limits, abilities.

Figures are lower bounds taken from the vendors' model pages; an unknown model gets defaults and works. Lookups
go by the longest matching beginning of the name, so dated releases need no row of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentframework.providers.protocol import DEFAULT_CONTEXT_WINDOW, ModelLimits


@dataclass(frozen=True, slots=True)
class ModelFamily:
    """Models whose names begin with ``prefix``; sizes in tokens.

    ``thinking`` says which reasoning settings it takes: ``adaptive`` (the model decides how long it thinks, an
    effort guides it), ``budget`` (Anthropic's older models: a number of tokens), or ``none``. ``effort`` says
    whether an effort may be named.
    """

    prefix: str
    context_window: int
    max_output_tokens: int
    thinking: Literal["adaptive", "budget", "none"] = "adaptive"
    effort: bool = True


INHERIT = "inherit"
"""In place of a model's name: the one that is there anyway."""

ANTHROPIC_DEFAULT_MODEL = "claude-sonnet-5-5"
ANTHROPIC_ALIASES: Mapping[str, str] = {
    "opus": "claude-opus-5-5",
    "sonnet": "claude-sonnet-5-5",
    "haiku": "claude-haiku-5-5",
}
ANTHROPIC_FAMILIES: Sequence[ModelFamily] = (
    ModelFamily("claude-", 200_000, 64_000),
    ModelFamily("claude-opus-4-", 200_000, 64_000),
    ModelFamily("claude-opus-4-0", 200_000, 32_000, "budget", effort=False),
    ModelFamily("claude-opus-4-1", 200_000, 32_000, "budget", effort=False),
    ModelFamily("claude-opus-4-2025", 200_000, 32_000, "budget", effort=False),
    ModelFamily("claude-opus-4-5", 200_000, 64_000, "budget"),
    ModelFamily("claude-sonnet-4-0", 200_000, 64_000, "budget", effort=False),
    ModelFamily("claude-sonnet-4-2025", 200_000, 64_000, "budget", effort=False),
    ModelFamily("claude-sonnet-4-5", 200_000, 64_000, "budget", effort=False),
    ModelFamily("claude-haiku-4-5", 200_000, 64_000, "budget", effort=False),
    ModelFamily("claude-3-7", 200_000, 64_000, "budget", effort=False),
    ModelFamily("claude-3-5", 200_000, 8_192, "none", effort=False),
    ModelFamily("claude-3", 200_000, 4_096, "none", effort=False),
)

OPENAI_DEFAULT_MODEL = "gpt-6.2-sol"
OPENAI_ALIASES: Mapping[str, str] = {
    "opus": "gpt-6.2-astra",
    "sonnet": "gpt-6.2-sol",
    "haiku": "gpt-6-luna",
}
OPENAI_FAMILIES: Sequence[ModelFamily] = (
    ModelFamily("gpt-6", 400_000, 128_000),
    ModelFamily("gpt-5", 400_000, 128_000),
    ModelFamily("gpt-5-chat", 128_000, 16_384, "none", effort=False),
    ModelFamily("codex-", 200_000, 100_000),
    ModelFamily("o1", 200_000, 100_000),
    ModelFamily("o3", 200_000, 100_000),
    ModelFamily("o4", 200_000, 100_000),
    ModelFamily("gpt-4.1", 1_047_576, 32_768, "none", effort=False),
    ModelFamily("gpt-4o", 128_000, 16_384, "none", effort=False),
    ModelFamily("chatgpt-4o", 128_000, 16_384, "none", effort=False),
    ModelFamily("gpt-4-turbo", 128_000, 4_096, "none", effort=False),
    ModelFamily("gpt-4-32k", 32_768, 4_096, "none", effort=False),
    ModelFamily("gpt-4", 8_192, 4_096, "none", effort=False),
    ModelFamily("gpt-3.5", 16_385, 4_096, "none", effort=False),
)


def family_of(families: Sequence[ModelFamily], model: str) -> ModelFamily | None:
    """The most specific family of ``model``; a path before the name (``vendor/model``) is ignored."""
    name = model.rpartition("/")[2]
    fitting = [family for family in families if name.startswith(family.prefix)]
    return max(fitting, key=lambda family: len(family.prefix), default=None)


def limits_of(families: Sequence[ModelFamily], model: str) -> ModelLimits:
    """Window and output limit of ``model``; the default window and no known limit for others."""
    family = family_of(families, model)
    if family is None:
        return ModelLimits(DEFAULT_CONTEXT_WINDOW)
    return ModelLimits(family.context_window, family.max_output_tokens)
