"""``/clear``: a new conversation in the same session."""

from agentframework.slash import Command, CommandHost, CommandResult


def clear_command() -> Command:
    """``/clear``. What was granted stays granted; mode and model stay as they are."""
    return Command("clear", "Forget the conversation and begin a new one", _run)


async def _run(host: CommandHost, _args: str) -> CommandResult:
    forgotten = host.get_context_state().messages
    host.clear_conversation_history()
    return CommandResult("The conversation is cleared.", data={"messages": forgotten})
