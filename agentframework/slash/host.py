"""What a command may see and do of its session, as small roles.

A command that needs one role can be tried with an object that has only that. `CommandHost` is all of them; the
session implements it, and nothing in this package knows how.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from agentframework.context.window import ContextPart
from agentframework.messages import ContextState, Usage
from agentframework.permissions import Grant, PermissionMode


@dataclass(frozen=True, slots=True)
class CommandInfo:
    """A command as a list shows it. ``allowed_tools`` are the tools that a prompt-like command may use unasked."""

    name: str
    description: str
    argument_hint: str | None = None
    allowed_tools: tuple[str, ...] = ()
    subcommands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PermissionOverview:
    """What is allowed and refused: the mode, the rules by effect as they were written, the session's grants."""

    mode: PermissionMode
    rules: Mapping[str, tuple[str, ...]]
    grants: tuple[Grant, ...]


@dataclass(frozen=True, slots=True)
class ServerOverview:
    """How an MCP server stands: its status, why if it is not connected, the names of its tools for the model."""

    server_id: str
    status: str
    reason: str | None
    tools: tuple[str, ...]


class ModeRole(Protocol):
    """The permission mode."""

    @property
    def permission_mode(self) -> PermissionMode:
        """The mode in force."""
        ...

    def set_permission_mode(self, mode: PermissionMode | str) -> None:
        """Change it. Raises `ConfigurationError` for an unknown one."""
        ...


class ModelRole(Protocol):
    """Who answers."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    def set_model(self, model: str) -> None:
        """Answer with another model of the same provider from the next request on."""
        ...


class UsageRole(Protocol):
    """What has been used."""

    def get_context_state(self) -> ContextState:
        """How full the window is."""
        ...

    def get_context_parts(self) -> Sequence[ContextPart]:
        """What fills it, and what is free."""
        ...

    def get_usage(self) -> Usage:
        """Tokens of all requests of the session so far."""
        ...


class HistoryRole(Protocol):
    """The conversation."""

    def clear_conversation_history(self) -> None:
        """Begin a new one. Raises `SessionBusyError` while a turn runs."""
        ...

    async def compact_context(self, instructions: str | None) -> bool:
        """Go on from a summary; whether there was anything to leave out.

        Raises `SessionBusyError` while a turn runs, `CompactionError`, and the provider's errors.
        """
        ...


class PermissionRole(Protocol):
    """Rules and grants."""

    def get_permissions(self) -> PermissionOverview:
        """What holds now."""
        ...

    def clear_grants(self) -> None:
        """Ask again about everything that was allowed for the session."""
        ...


class CatalogRole(Protocol):
    """What there is."""

    def list_commands(self) -> Sequence[CommandInfo]:
        """All commands in the order of their modules."""
        ...

    def list_tools(self) -> Sequence[str]:
        """Names of the tools that the model is offered."""
        ...


class ServerRole(Protocol):
    """The MCP servers."""

    def get_servers(self) -> tuple[ServerOverview, ...]:
        """All of them, in the order given."""
        ...


class ExitRole(Protocol):
    """The end."""

    def request_exit(self) -> None:
        """End the session once the command has returned."""
        ...


class CommandHost(
    ModeRole, ModelRole, UsageRole, HistoryRole, PermissionRole, CatalogRole, ServerRole, ExitRole, Protocol
):
    """The session, as every command sees it."""
