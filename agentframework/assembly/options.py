"""What a host may choose. One frozen object for both faces; each part takes from it what it needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentframework.context import ContextOptions
from agentframework.errors import ConfigurationError, WorkspaceTrustError
from agentframework.loop import Limits, LoopGuard
from agentframework.mcp import McpOptions
from agentframework.messages import ModelPrice
from agentframework.permissions import PermissionMode, PermissionRules
from agentframework.providers.protocol import Provider
from agentframework.settings import ContributionSources, ProjectAccess, SettingsSource
from agentframework.tools import Tool

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def _refused(field_name: str, problem: str) -> ConfigurationError:
    return ConfigurationError(f"{field_name} {problem}", details={"field": field_name})


def check_effort(effort: str | None) -> None:
    """Raise `ConfigurationError` for an effort that there is not."""
    if effort is not None and effort not in EFFORTS:
        raise _refused("effort", f"must be one of {', '.join(EFFORTS)}, not {effort!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """The model side.

    ``effort`` is ``none`` to ``max``; ``max_output_tokens`` bounds one reply; ``prices`` tells by the name of a model
    what it costs; ``no_think`` ends prompts in ``/no_think``; ``small_model`` of the same provider answers questions
    about pages.
    """

    provider: Provider
    model: str | None = None
    small_model: str | None = None
    effort: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    raw_events: bool = False
    response_format: Any = None
    prices: Mapping[str, ModelPrice] = field(default_factory=dict[str, ModelPrice])
    no_think: bool = False

    def __post_init__(self) -> None:
        check_effort(self.effort)
        for model, price in self.prices.items():
            if not isinstance(price, ModelPrice):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise _refused("prices", f"holds {price!r} for {model}, which is no ModelPrice")
        if self.max_output_tokens is not None and self.max_output_tokens < 1:
            raise _refused("max_output_tokens", f"must be at least 1, not {self.max_output_tokens}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOptions:
    """Which tools there are. ``default_tools`` None means the built-in ones, a list replaces them.

    ``background_shells`` lets the shell tools among the default ones start commands in the background.
    """

    default_tools: Sequence[Tool] | None = None
    additional_tools: Sequence[Tool] = ()
    additional_directories: Sequence[str | Path] = ()
    background_shells: bool = False

    def __post_init__(self) -> None:
        for name in ("default_tools", "additional_tools"):
            for item in getattr(self, name) or ():
                if not isinstance(item, Tool):
                    raise _refused(name, f"holds {item!r}, which is no Tool; use @tool, or pick a built-in one")
        if isinstance(self.additional_directories, str | Path):
            raise _refused("additional_directories", "must be a list of directories")


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoMode:
    """Who judges calls in the mode ``auto``, and for how long at most. None: the session's provider and model.

    Raises `ConfigurationError` if ``deadline_s`` is not above 0 and at most 15.
    """

    provider: Provider | None = None
    model: str | None = None
    deadline_s: float = 15.0

    def __post_init__(self) -> None:
        if not 0 < self.deadline_s <= 15:
            raise _refused("auto_mode.deadline_s", f"must be above 0 and at most 15, not {self.deadline_s}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionOptions:
    """What may run. ``allowed_tools`` and ``denied_tools`` become rules of the bare name.

    ``mode`` None is that of the settings, else ``default``. ``read_only_commands`` lets shell commands that only read
    run unasked; a change of ``protected_paths`` is asked about in every mode. ``governed`` False: no mode is in force,
    what no rule, hook or policy stops runs.
    """

    mode: PermissionMode | None = None
    rules: PermissionRules = field(default_factory=PermissionRules)
    allowed_tools: Sequence[str] = ()
    denied_tools: Sequence[str] = ()
    read_only_commands: bool = False
    protected_paths: Sequence[str | Path] = ()
    auto_mode: AutoMode | None = None
    governed: bool = True

    def __post_init__(self) -> None:
        for name in ("allowed_tools", "denied_tools"):
            # A string is a sequence of strings too: taken letter by letter, a deny would deny nothing.
            if isinstance(getattr(self, name), str):
                raise _refused(name, f"must be a list of tool names, not the text {getattr(self, name)!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookOptions:
    """What else runs when something happens. ``settings`` has the shape of the ``hooks`` key of a settings file.

    ``fail_closed`` is for hooks that do not say themselves; ``environment`` is what programs may inherit some names
    of, None means that of this process.
    """

    settings: Mapping[str, Any] | Sequence[Any] | None = None
    fail_closed: bool = False
    environment: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """MCP servers by id (or a list of servers and URLs), and how they are treated.

    ``environment`` is what programs may inherit some names of, None means that of this process. ``interactive``: what
    servers ask of a person or a model is answered by the conversation where the host has no handler.
    """

    servers: Mapping[str, Any] | Sequence[Any] | None = None
    mcp: McpOptions | None = None
    environment: Mapping[str, str] | None = None
    interactive: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsOptions:
    """Which settings files count, and what the project may bring. ``bare`` leaves its instruction files out."""

    project_access: ProjectAccess | None = None
    user_sources: Sequence[SettingsSource] = ()
    project_paths: Sequence[object] = ()
    contributions: ContributionSources | None = None
    bare: bool = False

    def __post_init__(self) -> None:
        for item in self.user_sources:
            if not isinstance(item, SettingsSource):
                raise _refused("user_settings_sources", f"holds {item!r:.200}; make it with host_settings_source()")
        access: object = self.project_access
        if access is not None and not isinstance(access, ProjectAccess):
            raise WorkspaceTrustError(
                "project_access must come from a trust service: see create_workspace_trust_service()",
                details={"field": "project_access"},
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class AssemblyOptions:
    """Everything together. ``context`` None: the loop never shortens the conversation."""

    session_id: str
    cwd: str | Path
    model: ModelOptions
    tools: ToolOptions = field(default_factory=ToolOptions)
    permissions: PermissionOptions = field(default_factory=PermissionOptions)
    hooks: HookOptions = field(default_factory=HookOptions)
    servers: ServerOptions = field(default_factory=ServerOptions)
    settings: SettingsOptions = field(default_factory=SettingsOptions)
    limits: Limits = field(default_factory=lambda: Limits(max_iterations=None, max_tool_calls_per_turn=None))
    loop_guard: LoopGuard | None = None
    context: ContextOptions | None = None
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
