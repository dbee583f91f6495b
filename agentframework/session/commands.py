"""A session's side of slash commands: what commands may see and do of it, and how one is run.

Implements `agentframework.slash.CommandHost` over the session's parts. The session owns one of these and delegates
to it; of the session itself it knows no more than `Commanded`.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from agentframework.assembly import Parts
from agentframework.context.window import ContextPart
from agentframework.events import UiIntent
from agentframework.events.sink import EventSink
from agentframework.messages import ContextState, Usage
from agentframework.permissions import PermissionMode
from agentframework.slash import (
    CommandExecutor,
    CommandInfo,
    CommandModule,
    CommandRegistry,
    CommandResult,
    PermissionOverview,
    ServerOverview,
)

EXIT_INTENT = "exit"


class Commanded(Protocol):
    """What commands need of the session beside its parts."""

    def is_executing(self) -> bool:
        """True while something holds the session."""
        ...

    def get_context_state(self) -> ContextState:
        """How full the window is."""
        ...

    def get_context_parts(self) -> Sequence[ContextPart]:
        """What fills it."""
        ...

    def clear_conversation_history(self) -> None:
        """Begin a new conversation."""
        ...

    async def compact_context(self, instructions: str | None = None) -> bool:
        """Go on from a summary."""
        ...


class SessionCommandHost:
    """The session as its commands see it."""

    __slots__ = (
        "_parts",
        "_registry",
        "_session",
        "exit_requested",
        "usage",
    )

    def __init__(self, registry: CommandRegistry, parts: Parts, session: Commanded) -> None:
        self._registry = registry
        self._parts = parts
        self._session = session
        self.usage = Usage()
        self.exit_requested = False

    @property
    def permission_mode(self) -> PermissionMode:
        """The mode in force."""
        return self._parts.gate.mode

    def set_permission_mode(self, mode: PermissionMode | str) -> None:
        """Change it; takes effect for the next call that is judged."""
        self._parts.gate.mode = mode

    @property
    def model(self) -> str:
        """The model that answers."""
        return self._parts.settings.model

    def set_model(self, model: str) -> None:
        """Another model of the same provider."""
        settings = self._parts.settings
        settings.model = settings.provider.resolve_model(model)

    def get_context_state(self) -> ContextState:
        """How full the window is."""
        return self._session.get_context_state()

    def get_context_parts(self) -> Sequence[ContextPart]:
        """What fills it, and what is free."""
        return self._session.get_context_parts()

    def get_usage(self) -> Usage:
        """Tokens of all replies and summaries so far."""
        compactor = self._parts.compactor
        return self.usage if compactor is None else self.usage + compactor.spent

    def clear_conversation_history(self) -> None:
        """Begin a new conversation."""
        self._session.clear_conversation_history()

    async def compact_context(self, instructions: str | None) -> bool:
        """Go on from a summary."""
        return await self._session.compact_context(instructions)

    def get_permissions(self) -> PermissionOverview:
        """Mode, rules and grants."""
        gate = self._parts.gate
        rules = {"allow": gate.rules.allow, "ask": gate.rules.ask, "deny": gate.rules.deny}
        texts = {effect: tuple(rule.text for rule in found) for effect, found in rules.items()}
        return PermissionOverview(gate.mode, texts, gate.grants)

    def clear_grants(self) -> None:
        """Ask again about everything."""
        self._parts.gate.clear_grants()

    def list_commands(self) -> Sequence[CommandInfo]:
        """All commands."""
        return [command.info for command in self._registry]

    def list_tools(self) -> Sequence[str]:
        """Names of the tools offered."""
        return self._parts.catalog.names

    def get_servers(self) -> tuple[ServerOverview, ...]:
        """How each MCP server stands at this moment."""
        return tuple(
            ServerOverview(one.server_id, one.status, one.reason, one.tools)
            for one in self._parts.servers.manager.summaries()
        )

    def request_exit(self) -> None:
        """Noted; the session ends when the command has returned."""
        self.exit_requested = True


class SessionCommands:
    """The commands of one session. Raises `ConfigurationError` if two modules bring the same name."""

    __slots__ = ("_executor", "_sink", "host")

    def __init__(
        self,
        modules: Iterable[CommandModule],
        parts: Parts,
        sink: EventSink,
        session: Commanded,
    ) -> None:
        registry = CommandRegistry(modules)
        self._sink = sink
        self.host = SessionCommandHost(registry, parts, session)
        self._executor = CommandExecutor(registry, self.host, session.is_executing)

    def count(self, usage: Usage) -> None:
        """Add a reply's usage."""
        self.host.usage = self.host.usage + usage

    async def execute(self, name: str, args: str) -> CommandResult | None:
        """Run a command and emit its intents, ``exit`` among them if it asked for the end."""
        result = await self._executor.execute(name, args)
        if result is None:
            return None
        asked = (EXIT_INTENT,) if self.host.exit_requested and EXIT_INTENT not in result.ui_intents else ()
        intents = (*result.ui_intents, *asked)
        for intent in intents:
            self._sink.emit(UiIntent, intent, None)
        return CommandResult(result.message, result.success, result.data, intents)
