import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentframework import (
    ConfigurationError,
    ImagePart,
    InMemorySessionStore,
    InteractiveSession,
    JsonlSessionStore,
    SessionLockedError,
    SessionNotFoundError,
    Tool,
    UserMessage,
)
from agentframework.events import BaseEvent, Complete, SessionRenamed, WarningEvent
from agentframework.messages import Message, ToolMessage
from agentframework.providers.protocol import Chunk, ModelRequest
from agentframework.stores.port import JournalStore
from agentframework.testing import ScriptedProvider, bad_call, call, say, think

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


class Seen(ScriptedProvider):
    """Keeps the messages of each request."""

    requests_seen: list[list[Message]]

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        self.__dict__.setdefault("requests_seen", []).append(list(request.messages))
        return super().stream(request)


def look(arguments: dict[str, Any], _context: object) -> str:
    return f"looked at {arguments.get('what')}"


LOOK = Tool("Look", "Looks.", {"type": "object", "properties": {"what": {"type": "string"}}}, look, risk="inspect")


def session_of(folder: Path, store: JournalStore, provider: ScriptedProvider, **options: Any) -> InteractiveSession:
    return InteractiveSession(
        cwd=folder, provider=provider, model="m", default_tools=[LOOK], session_store=store, **options
    )


@pytest.fixture(params=["files", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> JournalStore:
    return JsonlSessionStore(tmp_path / "sessions") if request.param == "files" else InMemorySessionStore()


def as_sent(messages: list[Message]) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in messages]


async def test_a_resumed_session_goes_on_with_the_same_conversation(tmp_path: Path, store: JournalStore) -> None:
    looks = say(think("hm"), "I look.", call("Look", what="x"))
    first = Seen(looks, say("Seen."), say(bad_call("Look", "{")), say("Oh."))
    async with session_of(tmp_path, store, first, session_name="Mine") as session:
        await session.submit("one", display_input="(one)")
        await session.submit("two", content=[ImagePart("image/png", PIXEL)])
        before = [message for message in session._conversation.messages]
        shown = session.get_messages()
    second = Seen(say("Three it is."))
    async with session_of(tmp_path, store, second, resume_session_id=session.session_id) as again:
        assert again.session_id == session.session_id
        assert again.session_name == "Mine"
        assert list(again._conversation.messages) == before
        assert again.get_messages() == shown
        await again.submit("three")
    assert second.requests_seen[0][: len(before)] == before
    assert [message.text for message in second.requests_seen[0][len(before) :]] == ["three"]
    (listed,) = await store.list()
    assert (listed.title, listed.turns, listed.status) == ("Mine", 3, "completed")


async def test_a_session_without_a_prompt_leaves_nothing(tmp_path: Path, store: JournalStore) -> None:
    async with session_of(tmp_path, store, ScriptedProvider()):
        pass
    assert await store.list() == []


async def test_a_turn_is_stored_whole_before_it_is_reported(tmp_path: Path) -> None:
    store = JsonlSessionStore(tmp_path / "sessions")
    seen: list[list[str]] = []
    session = session_of(tmp_path, store, ScriptedProvider(say("Hello.")))

    def look_at_the_disk(event: BaseEvent) -> None:
        lines = store.path_of(session.session_id).read_text().splitlines()
        seen.append([json.loads(line)["kind"] for line in lines])

    session.on(Complete, look_at_the_disk)
    async with session:
        await session.submit("hi")
    assert seen == [["session", "turn", "entry", "message", "message", "entry", "entry", "turn"]]


async def test_a_fork_leaves_its_origin_alone(tmp_path: Path, store: JournalStore) -> None:
    async with session_of(tmp_path, store, ScriptedProvider(say("One.")), session_name="Origin") as origin:
        await origin.submit("one")
    provider = Seen(say("Two."))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    options = {"resume_session_id": origin.session_id, "fork_session": True}
    async with session_of(elsewhere, store, provider, **options) as fork:
        await fork.submit("two")
        assert fork.session_id != origin.session_id
    assert as_sent(provider.requests_seen[0]) == [("user", "one"), ("assistant", "One."), ("user", "two")]
    summaries = {item.session_id: item for item in await store.list()}
    assert summaries[fork.session_id].metadata == {"forked_from": origin.session_id}
    assert summaries[fork.session_id].cwd == os.path.realpath(elsewhere)
    kept = await store.get(origin.session_id)
    assert kept is not None
    assert [message.text for message in kept.messages] == ["one", "One."]


async def test_a_second_opener_is_refused_and_harms_nobody(tmp_path: Path, store: JournalStore) -> None:
    async with session_of(tmp_path, store, ScriptedProvider(say("One."), say("Two."))) as session:
        await session.submit("one")
        other = session_of(tmp_path, store, ScriptedProvider(), resume_session_id=session.session_id)
        for _ in range(2):
            with pytest.raises(SessionLockedError):
                await other.start()
        with pytest.raises(SessionLockedError):
            await other.submit_nowait("hi").completed
        await other.shutdown()
        await session.submit("two")
    kept = await store.get(session.session_id)
    assert kept is not None
    assert [message.text for message in kept.messages] == ["one", "One.", "two", "Two."]


async def test_what_cannot_be_resumed_is_said_clearly(tmp_path: Path, store: JournalStore) -> None:
    async with session_of(tmp_path, store, ScriptedProvider(say("One."))) as session:
        await session.submit("one")
    with pytest.raises(SessionNotFoundError, match="no session nobody"):
        await session_of(tmp_path, store, ScriptedProvider(), resume_session_id="nobody").start()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    moved = session_of(elsewhere, store, ScriptedProvider(), resume_session_id=session.session_id)
    with pytest.raises(ConfigurationError, match="belongs to .* resume it there, or fork it"):
        await moved.start()
    async with session_of(tmp_path, store, ScriptedProvider(), resume_session_id=session.session_id):
        pass


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"session_store": None, "resume_session_id": "a"}, "needs the session_store"),
        ({"fork_session": True}, "needs the resume_session_id"),
        ({"resume_session_id": "../a"}, "no session id"),
        ({"session_store": object()}, "keeps no journal"),
    ],
)
def test_options_that_do_not_fit_together_are_refused(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    given: dict[str, Any] = {"session_store": InMemorySessionStore(), **options}
    with pytest.raises(Exception, match=problem):
        InteractiveSession(cwd=tmp_path, provider=ScriptedProvider(), model="m", **given)


async def test_clearing_and_renaming_are_kept(tmp_path: Path, store: JournalStore) -> None:
    names: list[str] = []
    async with session_of(tmp_path, store, ScriptedProvider(say("One."), say("Two."))) as session:
        session.on(SessionRenamed, lambda event: names.append(event.name))
        await session.submit("one")
        session.clear_conversation_history()
        await session.submit("two")
        session.rename("  A new \n name ")
    assert names == ["A new name"]
    async with session_of(tmp_path, store, ScriptedProvider(), resume_session_id=session.session_id) as again:
        assert again.session_name == "A new name"
        assert [message.text for message in again._conversation.messages] == ["two", "Two."]
        assert [entry.text for entry in again.get_messages()] == ["two", "Two."]


async def test_an_interrupted_turn_is_resumed_as_one(tmp_path: Path, store: JournalStore) -> None:
    async def wait(_arguments: dict[str, Any], _context: object) -> str:
        session.abort()
        await asyncio.sleep(60)
        return "never"

    waiting = Tool("Wait", "Waits.", {"type": "object"}, wait, risk="inspect")
    provider = ScriptedProvider(say("I wait.", call("Wait")))
    session = session_of(tmp_path, store, provider, additional_tools=[waiting])
    async with session:
        assert (await session.submit_nowait("one").completed).interrupted
    second = Seen(say("Fine."))
    async with session_of(tmp_path, store, second, resume_session_id=session.session_id) as again:
        await again.submit("and now?")
    sent = second.requests_seen[0]
    assert [message.role for message in sent] == ["user", "assistant", "tool", "user"]
    assert "cut short" in sent[-1].text


class Broken(InMemorySessionStore):
    """Fails as long as it is told to."""

    broken = True

    async def append(self, session_id: str, records: Any) -> None:
        if self.broken:
            raise OSError(28, "No space left on device")
        await super().append(session_id, records)


async def test_a_store_that_fails_is_reported_once_and_told_everything_later(tmp_path: Path) -> None:
    store = Broken()
    warnings: list[str] = []
    session = session_of(tmp_path, store, ScriptedProvider(say("One."), say("Two."), say("Three.")))
    session.on(WarningEvent, lambda event: warnings.append(event.message))
    async with session:
        for text in ("one", "two"):
            assert (await session.submit_nowait(text).completed).response
        assert len(warnings) == 1
        assert "No space left" in warnings[0]
        store.broken = False
        await session.submit("three")
    kept = await store.get(session.session_id)
    assert kept is not None
    assert [message.text for message in kept.messages] == ["one", "One.", "two", "Two.", "three", "Three."]


async def test_every_call_has_its_result_also_in_the_store(tmp_path: Path, store: JournalStore) -> None:
    provider = ScriptedProvider(say(call("Look", what="a"), call("None"), bad_call("Look", "{")), say("Done."))
    async with session_of(tmp_path, store, provider) as session:
        await session.submit("one")
    kept = await store.get(session.session_id)
    assert kept is not None
    (answers,) = [message for message in kept.messages if isinstance(message, ToolMessage)]
    assert [part.is_error for part in answers.content] == [False, True, True]
    assert isinstance(kept.messages[0], UserMessage)
