"""``/exit``: end the session."""

from agentframework.slash import Command, CommandHost, CommandResult


def exit_command() -> Command:
    """``/exit``."""
    return Command("exit", "End the session and leave", _run)


async def _run(host: CommandHost, _args: str) -> CommandResult:
    host.request_exit()
    return CommandResult("Goodbye.")
