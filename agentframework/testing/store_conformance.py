"""Checks that any session store has to pass; run them on your own.

Each check is a coroutine function that takes a fresh, empty store and raises ``AssertionError`` where the store does
not keep its word::

    @pytest.mark.parametrize("check", STORE_CHECKS, ids=lambda check: check.__name__)
    async def test_my_store(check):
        await check(MyStore())

`STORE_CHECKS` is what an `Agent` relies on, `JOURNAL_CHECKS` what interactive sessions need on top.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from agentframework.errors import AgentFrameworkError, ErrorCode
from agentframework.messages import (
    AssistantMessage,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    user_text,
)
from agentframework.stores import JournalStore, SessionStore, create_initial_session_state
from agentframework.stores.records import boundary_record, entry_record, keep_record, message_record, restore

StoreCheck = Callable[[Any], Awaitable[None]]


def _conversation() -> tuple[Message, ...]:
    return (
        user_text("Wie spät ist es? 🕰️"),
        AssistantMessage((TextPart("I look."), ToolCall("call_1", "Clock", {"zone": "UTC"}))),
        ToolMessage((ToolResultPart("call_1", "Clock", "12:00"),)),
        AssistantMessage((TextPart("Noon."),), model="m", stop_reason="end_turn"),
    )


async def _code_of(work: Awaitable[Any]) -> str | None:
    try:
        await work
    except AgentFrameworkError as error:
        return str(error.code)
    return None


async def a_state_comes_back_as_it_was_created(store: SessionStore) -> None:
    """Every field, messages included."""
    facts = {"name": "Noon", "tags": ("a", "b"), "metadata": {"k": 1}}
    state = create_initial_session_state("s-1", messages=_conversation(), **facts)
    await store.create(state)
    assert await store.get("s-1") == state


async def an_unknown_session_is_none(store: SessionStore) -> None:
    """`get` does not raise."""
    assert await store.get("nobody") is None


async def a_session_is_created_once(store: SessionStore) -> None:
    """The second of the same id is refused and changes nothing."""
    await store.create(create_initial_session_state("s-1", name="first"))
    assert await _code_of(store.create(create_initial_session_state("s-1"))) == ErrorCode.SESSION_EXISTS
    kept = await store.get("s-1")
    assert kept is not None
    assert kept.name == "first"


async def updates_replace_what_they_name(store: SessionStore) -> None:
    """And nothing else; ``updated_at`` moves on."""
    state = create_initial_session_state("s-1", name="kept")
    await store.create(state)
    for count in range(1, len(_conversation()) + 1):
        messages = _conversation()[:count]
        await store.update("s-1", {"messages": messages, "iteration": count, "status": "completed"})
        now = await store.get("s-1")
        assert now is not None
        assert (now.iteration, now.status, now.name) == (count, "completed", "kept")
        assert [message.text for message in now.messages] == [message.text for message in messages]
        assert now.created_at == state.created_at
        assert now.updated_at >= state.updated_at


async def an_unknown_field_is_refused(store: SessionStore) -> None:
    """A misspelt field is an error, not a field more."""
    await store.create(create_initial_session_state("s-1"))
    assert await _code_of(store.update("s-1", {"stauts": "failed"})) == ErrorCode.INVALID_INPUT


async def updating_nobody_is_an_error(store: SessionStore) -> None:
    """Nothing is created on the side."""
    assert await _code_of(store.update("nobody", {"status": "failed"})) == ErrorCode.SESSION_NOT_FOUND
    assert await store.get("nobody") is None


async def deleting_is_final_and_may_be_repeated(store: SessionStore) -> None:
    """After it the id is free again."""
    await store.create(create_initial_session_state("s-1"))
    await store.delete("s-1")
    await store.delete("s-1")
    assert await store.get("s-1") is None
    await store.create(create_initial_session_state("s-1"))


async def bad_ids_are_refused(store: SessionStore) -> None:
    """Whatever could leave the place where sessions are kept."""
    for bad in ("", "../x", "a/b", "a b", ".hidden", "x" * 129, "a\n", "ä"):
        assert await _code_of(store.create(_named(bad))) == ErrorCode.INVALID_INPUT, bad


def _named(session_id: str) -> Any:
    from dataclasses import replace  # noqa: PLC0415 - the constructor refuses what this check needs

    return replace(create_initial_session_state("good"), session_id=session_id)


async def sessions_do_not_mix(store: SessionStore) -> None:
    """Many at once."""
    await asyncio.gather(*(store.create(create_initial_session_state(f"s-{n}")) for n in range(8)))
    await asyncio.gather(*(store.update(f"s-{n}", {"content": f"text {n}"}) for n in range(8)))
    for number in range(8):
        state = await store.get(f"s-{number}")
        assert state is not None
        assert state.content == f"text {number}"


async def records_come_back_in_order(store: JournalStore) -> None:
    """Also those of kinds that nobody knows."""
    await store.create(create_initial_session_state("s-1"))
    records = [{"kind": "future", "number": number, "text": "ü" * number} for number in range(50)]
    for record in records:
        await store.append("s-1", [record])
    await store.sync("s-1")
    assert [record for record in await store.read("s-1") if record["kind"] == "future"] == records
    assert [record async for record in store.read("s-1") if record["kind"] == "future"] == records


async def a_boundary_is_where_live_reading_begins(store: JournalStore) -> None:
    """It carries what is needed of the time before."""
    await store.create(create_initial_session_state("s-1", name="kept"))
    await store.append("s-1", [message_record(message) for message in _conversation()])
    await store.append("s-1", [keep_record("plan", ["one"])])
    state = await store.get("s-1")
    assert state is not None
    await store.append("s-1", [boundary_record("compact", [user_text("A summary.")], state, {"plan": ["one"]})])
    await store.append("s-1", [message_record(user_text("And on."))])
    restored = restore("s-1", await store.read("s-1", live=True))
    assert [message.text for message in restored.messages] == ["A summary.", "And on."]
    assert (restored.state.name, restored.kept) == ("kept", {"plan": ["one"]})
    now = await store.get("s-1")
    assert now is not None
    assert [message.text for message in now.messages] == ["A summary.", "And on."]
    assert len(await store.read("s-1")) > len(await store.read("s-1", live=True))


async def there_is_one_writer(store: JournalStore) -> None:
    """The second is refused until the first lets go."""
    await store.create(create_initial_session_state("s-1"))
    await store.acquire("s-1")
    assert await _code_of(store.acquire("s-1")) == ErrorCode.SESSION_LOCKED
    await store.release("s-1")
    await store.acquire("s-1")
    await store.release("s-1")
    assert await _code_of(store.acquire("nobody")) == ErrorCode.SESSION_NOT_FOUND


async def listings_are_searched_and_paged(store: JournalStore) -> None:
    """The latest first; titles are names or the first prompt."""
    from agentframework.messages import HistoryEntry  # noqa: PLC0415 - only this check needs it

    for number in range(5):
        await store.create(create_initial_session_state(f"s-{number}", tags=("odd",) if number % 2 else ()))
        prompt = user_text(f"Question number {number}")
        await store.append(f"s-{number}", [entry_record(HistoryEntry("chat", "user", prompt))])
        await store.sync(f"s-{number}")
    await store.update("s-1", {"name": "The first one"})
    await store.sync("s-1")
    listed = await store.list()
    assert listed[0].session_id == "s-1"
    assert listed[0].title == "The first one"
    assert {item.title for item in listed[1:]} == {f"Question number {number}" for number in (0, 2, 3, 4)}
    assert list(await store.list(limit=2, offset=1)) == list(listed[1:3])
    assert {item.session_id for item in await store.list(tag="odd")} == {"s-1", "s-3"}
    assert [item.session_id for item in await store.list(search="FIRST")] == ["s-1"]


STORE_CHECKS: tuple[StoreCheck, ...] = (
    a_state_comes_back_as_it_was_created,
    an_unknown_session_is_none,
    a_session_is_created_once,
    updates_replace_what_they_name,
    an_unknown_field_is_refused,
    updating_nobody_is_an_error,
    deleting_is_final_and_may_be_repeated,
    bad_ids_are_refused,
    sessions_do_not_mix,
)
JOURNAL_CHECKS: tuple[StoreCheck, ...] = (
    records_come_back_in_order,
    a_boundary_is_where_live_reading_begins,
    there_is_one_writer,
    listings_are_searched_and_paged,
)
