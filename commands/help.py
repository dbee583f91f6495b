"""``/help``: what can be typed."""

from collections.abc import Sequence

from agentframework.slash import Command, CommandHost, CommandInfo, CommandResult, normalise_name


def help_command() -> Command:
    """``/help [command]``. Asks the surface to add its keys (``show_keys``)."""
    return Command("help", "List the commands, or explain one", _run, "[command]", read_only=True)


async def _run(host: CommandHost, args: str) -> CommandResult:
    commands = host.list_commands()
    if args:
        return _one(commands, normalise_name(args))
    width = max((len(_usage(info)) for info in commands), default=0)
    lines = ["Commands:", *(f"  {_usage(info):<{width}}  {info.description}" for info in commands)]
    data = {"commands": [{"name": info.name, "description": info.description} for info in commands]}
    return CommandResult("\n".join(lines), data=data, ui_intents=("show_keys",))


def _one(commands: Sequence[CommandInfo], name: str) -> CommandResult:
    found = next((info for info in commands if info.name == name), None)
    if found is None:
        return CommandResult(f"There is no command /{name}. /help lists them all.", success=False)
    return CommandResult(f"{_usage(found)}  {found.description}", data={"name": found.name})


def _usage(info: CommandInfo) -> str:
    return f"/{info.name} {info.argument_hint}" if info.argument_hint else f"/{info.name}"
