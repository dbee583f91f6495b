import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from agentframework import JsonlSessionStore, SessionNotFoundError, create_initial_session_state
from agentframework.messages import user_text
from agentframework.stores.records import boundary_record, message_record, state_record, turn_record

_watching: list[list[str]] = []


def _note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _watching:
        _watching[-1].append(str(arguments[0]))


sys.addaudithook(_note)


async def with_sessions(folder: Path, count: int) -> JsonlSessionStore:
    store = JsonlSessionStore(folder)
    for number in range(count):
        await store.create(create_initial_session_state(f"s-{number}", cwd="/project"))
        await store.append(f"s-{number}", [turn_record("t", "start"), message_record(user_text(f"Question {number}"))])
        await store.release(f"s-{number}")
    return store


async def test_listing_opens_no_journal(tmp_path: Path) -> None:
    store = await with_sessions(tmp_path, 5)
    _watching.append(opened := [])
    try:
        listed = await store.list()
    finally:
        _watching.pop()
    assert [item.title for item in listed] == [f"Question {number}" for number in (4, 3, 2, 1, 0)]
    assert [name for name in opened if name.endswith(".jsonl")] == []
    assert len([name for name in opened if name.endswith(".index.json")]) == 5


async def test_what_a_killed_writer_added_is_seen(tmp_path: Path) -> None:
    store = await with_sessions(tmp_path, 1)
    await store.append("s-0", [turn_record("u", "start"), state_record({"name": "Renamed", "status": "failed"})])
    listed = (await JsonlSessionStore(tmp_path).list())[0]
    assert (listed.title, listed.status, listed.turns, listed.cwd) == ("Renamed", "failed", 2, "/project")


@pytest.mark.parametrize("index", [None, b"", b"{}", b'{"covers":1,"summary":{"tags":[]}}', b"\xff"])
async def test_an_index_that_is_lost_or_damaged_is_done_without(tmp_path: Path, index: bytes | None) -> None:
    store = await with_sessions(tmp_path, 1)
    path = tmp_path / "s-0.index.json"
    path.unlink() if index is None else path.write_bytes(index)
    listed = (await store.list())[0]
    assert (listed.title, listed.turns, listed.cwd) == ("Question 0", 1, "/project")


async def test_files_that_are_no_journals_are_passed_over(tmp_path: Path) -> None:
    store = await with_sessions(tmp_path, 1)
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "garbage.jsonl").write_bytes(b"\0" * 1000)
    (tmp_path / "notes.txt").write_text("x")
    (tmp_path / ".hidden.jsonl").write_text("{}")
    assert [item.session_id for item in await store.list()] == ["s-0"]


async def test_listing_a_directory_that_is_not_there_finds_nothing(tmp_path: Path) -> None:
    assert await JsonlSessionStore(tmp_path / "none").list() == []
    with pytest.raises(SessionNotFoundError, match="there is no session a"):
        await JsonlSessionStore(tmp_path / "none").read("a")


async def test_going_on_with_a_long_session_takes_memory_for_its_live_part(tmp_path: Path) -> None:
    store = JsonlSessionStore(tmp_path)
    await store.create(create_initial_session_state("a"))
    for _ in range(40):
        await store.append("a", [message_record(user_text("x" * 20_000)) for _ in range(20)])
    state = create_initial_session_state("a")
    await store.append("a", [boundary_record("compact", [user_text("A summary.")], state, {})])
    await store.append("a", [message_record(user_text("y" * 20_000)) for _ in range(10)])
    await store.aclose()
    size = (tmp_path / "a.jsonl").stat().st_size
    tracemalloc.start()
    live = await store.read("a", live=True)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(live) == 11
    assert size > 16_000_000
    assert peak < 1_500_000
