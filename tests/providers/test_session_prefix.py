"""What a session sends grows at its end only: the prompt caches of all APIs are keyed by the beginning of a request."""

from pathlib import Path

import pytest
from apikit import APIS, talk

from agentframework import InteractiveSession
from agentframework.testing.strict_server import StrictModelServer, call, error, text, thinking


def begins_alike(server: StrictModelServer) -> bool:
    bodies = [request.raw.removesuffix(b"]}") for request in server.requests]
    return all(later.startswith(earlier) for earlier, later in zip(bodies, bodies[1:], strict=False))


@pytest.mark.parametrize("api", APIS)
async def test_requests_of_a_session_share_their_beginning_byte_for_byte(api: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello", encoding="utf-8")
    async with talk(api) as it, InteractiveSession(cwd=tmp_path, provider=it.provider, model="model-a") as session:
        it.server.reply(thinking("Where?"), text("I look."), call("Read", {"file_path": "notes.txt"}))
        it.server.reply(call("Write", {"file_path": "b.txt", "content": "x"}))  # asked about, and nobody listens
        it.server.reply(text("It says hello."))
        await session.submit("What do the notes say?")
        session.set_permission_mode("plan")
        it.server.reply(error(400, "not today"))
        await session.submit("Are you sure?")
        it.server.reply(text("I am."))
        await session.submit("Are you sure now?")
    assert len(it.server.requests) == 5
    assert it.server.rejections == []
    del it.server.requests[3]  # the prompt that failed for good is not sent again
    assert begins_alike(it.server)


@pytest.mark.parametrize("api", APIS)
async def test_another_session_with_the_same_options_begins_alike(api: str, tmp_path: Path) -> None:
    async with talk(api) as it:
        for _ in range(2):
            async with InteractiveSession(cwd=tmp_path, provider=it.provider, model="model-a") as session:
                it.server.reply(text("Hello."))
                await session.submit("Hello?")
    one, two = (request.body for request in it.server.requests)
    for body in (one, two):
        body.pop("prompt_cache_key", None)
    assert list(one.items()) == list(two.items())
