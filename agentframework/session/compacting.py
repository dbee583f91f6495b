"""A session's side of compaction: shortening the conversation when somebody asks for it."""

from agentframework._base.abort import AbortedError, AbortSignal
from agentframework.assembly import Parts
from agentframework.errors import CompactionError, InvalidInputError
from agentframework.loop import Conversation
from agentframework.session.runner import TurnRunner


def check_instructions(instructions: object) -> None:
    """Raise `InvalidInputError` for what is no text."""
    if instructions is not None and not isinstance(instructions, str):
        raise InvalidInputError("the instructions have to be text", details={"field": "instructions"})


async def compact(parts: Parts, runner: TurnRunner, conversation: Conversation, instructions: str | None) -> bool:
    """Shorten ``conversation`` while no turn runs; whether there was anything to leave out.

    Raises `SessionBusyError`, `CompactionError` and the provider's errors.
    """
    compactor = parts.compactor
    assert compactor is not None, "sessions are built with one"

    async def work(abort: AbortSignal) -> bool:
        try:
            return await compactor.on_request(conversation, abort, instructions)
        except AbortedError as error:
            raise CompactionError("aborted; the conversation is as it was") from error

    return await runner.aside(work)
