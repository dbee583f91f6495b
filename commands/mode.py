"""``/mode``: how much runs without asking."""

from agentframework.permissions import PermissionMode
from agentframework.slash import Command, CommandHost, CommandResult

_MEANING = {
    PermissionMode.PLAN: "reads and searches; changes nothing",
    PermissionMode.DEFAULT: "asks before it changes files or runs commands",
    PermissionMode.ACCEPT_EDITS: "changes files in the project unasked; asks before it runs commands",
    PermissionMode.BYPASS_PERMISSIONS: "asks only where a rule or a safeguard says so",
    PermissionMode.AUTO: "changes files in the project unasked; the rest is weighed or asked",
}


def mode_command() -> Command:
    """``/mode [name]``; upper and lower case do not matter."""
    names = tuple(str(mode) for mode in PermissionMode)
    return Command(
        "mode", "Show or set the permission mode", _run, "[mode]", names, lambda args: not args
    )


async def _run(host: CommandHost, args: str) -> CommandResult:
    if not args:
        now = host.permission_mode
        lines = [f"{'*' if mode is now else ' '} {mode:<17}  {meaning}" for mode, meaning in _MEANING.items()]
        return CommandResult("\n".join(lines), data={"mode": str(now)})
    asked = next((mode for mode in PermissionMode if mode.lower() == args.lower()), None)
    if asked is None:
        return CommandResult(f"There is no mode {args!r}; the modes are {', '.join(PermissionMode)}.", success=False)
    host.set_permission_mode(asked)
    return CommandResult(f"Mode {asked}: {_MEANING[asked]}.", data={"mode": str(asked)})
