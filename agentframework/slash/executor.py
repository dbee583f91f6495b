"""Runs commands. A failing one is a result like any other: no surface has to guard against it."""

from collections.abc import Callable

from agentframework.errors import AgentFrameworkError
from agentframework.slash.host import CommandHost
from agentframework.slash.module import Command, CommandResult
from agentframework.slash.registry import CommandRegistry


class CommandExecutor:
    """Runs the commands of a registry for one host.

    ``is_busy`` tells whether a turn holds the session; then, and while another command changes it, only commands
    that change nothing are run.
    """

    __slots__ = ("_changing", "_host", "_is_busy", "_registry")

    def __init__(self, registry: CommandRegistry, host: CommandHost, is_busy: Callable[[], bool]) -> None:
        self._registry = registry
        self._host = host
        self._is_busy = is_busy
        self._changing: str | None = None

    async def execute(self, name: str, args: str = "") -> CommandResult | None:
        """Run the command that ``name`` means; None if there is no such command. Never raises an ``Exception``."""
        command = self._registry.get(name)
        if command is None:
            return None
        arguments = args.strip()
        try:
            if command.leaves_session_alone(arguments):
                return await command.run(self._host, arguments)
            return self._refusal(command) or await self._change(command, arguments)
        except AgentFrameworkError as error:
            return CommandResult(error.message, success=False, data={"code": str(error.code)})
        except Exception as error:
            return CommandResult(f"/{command.name} failed: {type(error).__name__}: {error}", success=False)

    def _refusal(self, command: Command) -> CommandResult | None:
        if self._is_busy():
            why = "while a turn is running; stop the turn or wait for its end"
        elif self._changing is not None:
            why = f"while /{self._changing} is running"
        else:
            return None
        return CommandResult(f"/{command.name} cannot run {why}.", success=False, data={"code": "busy"})

    async def _change(self, command: Command, args: str) -> CommandResult:
        self._changing = command.name
        try:
            return await command.run(self._host, args)
        finally:
            self._changing = None
