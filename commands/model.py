"""``/model``: who answers."""

from agentframework.slash import Command, CommandHost, CommandResult


def model_command() -> Command:
    """``/model [name]``; the name may be an alias of the provider."""
    return Command("model", "Show or change the model", _run, "[name]", read_only=lambda args: not args)


async def _run(host: CommandHost, args: str) -> CommandResult:
    if args:
        host.set_model(args)
    verb = "answers from now on" if args else "answers"
    return CommandResult(f"{host.model} {verb}.", data={"model": host.model})
