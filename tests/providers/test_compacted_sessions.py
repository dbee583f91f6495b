"""Sessions that are shortened over and over, against servers that refuse what the APIs refuse."""

from contextlib import aclosing
from pathlib import Path

import pytest
from apikit import APIS, provider_for

from agentframework import ContextOptions, InteractiveSession
from agentframework.testing.strict_server import (
    RecordedRequest,
    Reply,
    StrictModelServer,
    call,
    error,
    reply,
    text,
    thinking,
)


class Model:
    """Answers each prompt after four rounds of tools; sums up when asked to; finds the conversation too long once."""

    def __init__(self) -> None:
        self.summaries = 0
        self.rounds = 0
        self.too_long = False

    def __call__(self, request: RecordedRequest) -> Reply:
        if b"Summarise the conversation" in request.raw:
            self.summaries += 1
            return reply(text("They read notes."))
        if self.too_long and self.rounds % 5 == 2:
            self.too_long = False
            return reply(error(400, "prompt is too long: 210000 tokens > 200000 maximum"))
        self.rounds += 1
        if self.rounds % 5 == 0:
            return reply(text("It says hello."))
        read = call("Read", {"file_path": "notes.txt"})
        return reply(thinking("Where?"), text("I look."), *[read] * (1 + self.rounds % 3))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("keep", [0, 2])
async def test_long_turns_are_shortened_and_every_request_is_accepted(api: str, keep: int, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    context = ContextOptions(max_messages=7, keep_recent_turns=keep)
    model = Model()
    async with (
        StrictModelServer(model) as server,
        aclosing(provider_for(api, server.url)) as provider,
        InteractiveSession(cwd=tmp_path, provider=provider, context=context, loop_guard=None) as session,
    ):
        for number in range(4):
            model.too_long = number == 3
            handle = await session.submit(f"What do the notes say? {number}")
            assert (await handle.completed).response == "It says hello."
        assert session.get_context_state().messages < 12
        await session.compact_context()
        await session.submit("And now?")
        assert server.rejections == []
    assert model.summaries >= 4
