"""The settings files of a running session: read anew, they change the rules, hooks and variables that are in force."""

from dataclasses import dataclass

from agentframework._base.diagnostic import Diagnostic
from agentframework.assembly.configured import Configured, unusable
from agentframework.assembly.instructed import Instructed
from agentframework.assembly.servers import ConversationServers
from agentframework.errors import ConfigurationError, describe_error
from agentframework.events import ErrorEvent, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.hooks import HookConfig, HookEngine
from agentframework.permissions import PermissionGate, RuleSet
from agentframework.tools import ToolCatalog


@dataclass(frozen=True, slots=True)
class Fixed:
    """What the host gave as options, which no file changes."""

    rules: RuleSet
    hooks: HookConfig


class SettingsFiles:
    """Applies `Configured` to the parts of one session; ``servers`` may still bring tools."""

    __slots__ = (
        "__weakref__", "_broken", "_catalog", "_engine", "_gate", "_hooks", "_instructed", "_rules", "_servers",
        "_sink", "configured",
    )  # fmt: skip

    def __init__(
        self,
        configured: Configured,
        fixed: Fixed,
        gate: PermissionGate,
        engine: HookEngine,
        catalog: ToolCatalog,
        servers: ConversationServers,
        sink: EventSink,
        instructed: Instructed | None,
    ) -> None:
        self.configured = configured
        self._rules, self._hooks = fixed.rules, fixed.hooks
        self._gate = gate
        self._engine = engine
        self._catalog = catalog
        self._servers = servers
        self._sink = sink
        self._instructed = instructed
        self._broken: tuple[Diagnostic, ...] = ()
        self._gate.no_bypass = configured.no_bypass
        if configured.access is not None:
            configured.access.tell(self)

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """What is wrong in files and options, worst first."""
        options = [Diagnostic("warning", "permissions", text) for text in self._rules.warnings]
        options += [Diagnostic("warning", "hooks", text) for text in self._hooks.problems]
        unknown = self.configured.unknown_tools(self._catalog.names, self._servers.name_prefixes)
        instructions = () if self._instructed is None else self._instructed.problems
        return (*self._broken, *options, *self.configured.now.diagnostics, *unknown, *instructions)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The problems, and where each value in force was written."""
        return (*self.problems, *self.configured.in_force())

    def reload(self) -> tuple[Diagnostic, ...]:
        """Read all files again and let them count at once; a file that cannot be used changes nothing.

        Problems that are new are emitted: a broken file as ``error``, others as ``warning``.
        """
        known = frozenset(self.problems)
        self._broken = ()
        self.configured.reload(self._cannot_use)
        now = self.configured.now
        self._gate.rules = now.rules + self._rules
        self._gate.no_bypass = self.configured.no_bypass
        self._engine.configure(now.hooks + self._hooks)
        for problem in self.problems:
            if problem.level == "warning" and problem not in known:
                self._sink.emit(WarningEvent, told(problem), problem.source)
        return self.problems

    def access_expired(self) -> None:
        """Trust in the project was taken back: what came from it counts no longer."""
        self.reload()
        self.begin_turn()

    def begin_turn(self) -> None:
        """Notice what has changed meanwhile: the trust, and the instruction files."""
        self.configured.look()
        if self._instructed is not None:
            self._instructed.refresh()

    def _cannot_use(self, error: ConfigurationError) -> None:
        self._broken = (*self._broken, unusable(error))
        self._sink.emit(ErrorEvent, describe_error(error))


def told(problem: Diagnostic) -> str:
    """The finding as one sentence with its place."""
    return f"{problem.place}: {problem.message}" if problem.place else problem.message
