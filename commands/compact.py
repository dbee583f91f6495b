"""``/compact``: a summary in place of the conversation."""

from agentframework.slash import Command, CommandHost, CommandResult


def compact_command() -> Command:
    """``/compact [what to keep]``. The last turns stay as they are if there are earlier ones."""
    return Command(
        "compact", "Put the conversation into a summary and go on from that", _run, argument_hint="[what to keep]"
    )


async def _run(host: CommandHost, args: str) -> CommandResult:
    before = host.get_context_state()
    if not await host.compact_context(args.strip() or None):
        return CommandResult("There is nothing to compact yet.", data={"compacted": False})
    after = host.get_context_state()
    message = f"The conversation is compacted: {before.used_tokens:,} tokens before, about {after.used_tokens:,} now."
    data = {"compacted": True, "before_tokens": before.used_tokens, "after_tokens": after.used_tokens}
    return CommandResult(message, data=data)
