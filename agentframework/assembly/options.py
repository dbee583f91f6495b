"""What a host may choose. One frozen object for both faces; each part takes from it what it needs."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentframework.errors import ConfigurationError
from agentframework.loop import Limits
from agentframework.permissions import PermissionMode, PermissionRules
from agentframework.providers.protocol import Provider
from agentframework.tools import Tool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """The model side. ``effort`` is ``none`` to ``max``; ``max_output_tokens`` bounds one reply."""

    provider: Provider
    model: str | None = None
    effort: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """Which tools there are. ``default_tools`` None means the built-in ones, a list replaces them."""

    default_tools: Sequence[Tool] | None = None
    additional_tools: Sequence[Tool] = ()
    additional_directories: Sequence[str | Path] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionOptions:
    """What may run. ``allowed_tools`` and ``denied_tools`` become rules of the bare name."""

    mode: PermissionMode = PermissionMode.DEFAULT
    rules: PermissionRules = field(default_factory=PermissionRules)
    allowed_tools: Sequence[str] = ()
    denied_tools: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyOptions:
    """Everything together."""

    session_id: str
    cwd: str | Path
    model: ModelOptions
    tools: ToolOptions = field(default_factory=ToolOptions)
    permissions: PermissionOptions = field(default_factory=PermissionOptions)
    limits: Limits = field(default_factory=lambda: Limits(max_iterations=None, max_tool_calls_per_turn=None))
    system_prompt: str | None = None
    append_system_prompt: str | None = None


def session_limits(limits: Limits | None, max_turns: int | None) -> Limits:
    """Limits of a session: none on iterations and calls unless asked for.

    ``max_turns`` is another name of ``max_iterations``; 0 means no limit.

    Raises `ConfigurationError` if both are given or a value is not positive.
    """
    if limits is not None and max_turns is not None:
        raise ConfigurationError(
            "max_turns is another name of limits.max_iterations; give one of them", details={"field": "max_turns"}
        )
    if max_turns is not None and max_turns < 0:
        raise ConfigurationError(f"max_turns must not be negative, got {max_turns}", details={"field": "max_turns"})
    return limits or Limits(max_iterations=max_turns or None, max_tool_calls_per_turn=None)
