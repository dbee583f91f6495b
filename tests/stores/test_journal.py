import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework import JsonlSessionStore, SessionLockedError, create_initial_session_state
from agentframework.messages import user_text
from agentframework.stores.journal import JournalWriter, read_journal
from agentframework.stores.records import message_record, restore


def same(value: Any) -> Any:
    return value


async def session_of(folder: Path, *texts: str) -> JsonlSessionStore:
    store = JsonlSessionStore(folder)
    await store.create(create_initial_session_state("a"))
    await store.append("a", [message_record(user_text(text)) for text in texts])
    await store.aclose()
    return store


def texts_of(path: Path, faults: list[tuple[str, int, str]] | None = None) -> list[str]:
    found = faults if faults is not None else []
    records = read_journal(path, on_fault=lambda *fault: found.append(fault))
    return [message.text for message in restore("a", records).messages]


LOST = {
    "half an object": b'{"kind":"entry","entr',
    "zero bytes": b"\0" * 300,
    "a list": b"[1]",
    "a text": b'"x"',
    "not UTF-8": b"\xff\xfe",
    "deep nesting": b"[" * 100_000,
}


@pytest.mark.parametrize("line", LOST.values(), ids=LOST.keys())
async def test_a_line_that_cannot_be_read_costs_only_itself(tmp_path: Path, line: bytes) -> None:
    await session_of(tmp_path, *map(str, range(100)))
    path = tmp_path / "a.jsonl"
    lines = path.read_bytes().split(b"\n")
    lines[40] = line
    path.write_bytes(b"\n".join(lines))
    before = path.read_bytes()
    faults: list[tuple[str, int, str]] = []
    assert texts_of(path, faults) == [str(number) for number in range(100) if number != 39]
    assert [(name, number) for name, number, _ in faults] == [(str(path), 41)]
    store = JsonlSessionStore(tmp_path)
    await store.append("a", [message_record(user_text("later"))])
    await store.aclose()
    assert path.read_bytes().startswith(before)
    assert texts_of(path)[-1] == "later"


async def test_a_blank_line_and_a_kind_of_the_future_are_no_faults(tmp_path: Path) -> None:
    await session_of(tmp_path, "one")
    path = tmp_path / "a.jsonl"
    future = b'{"kind":"future-kind","x":1}\n\n'
    path.write_bytes(path.read_bytes() + future)
    faults: list[tuple[str, int, str]] = []
    assert texts_of(path, faults) == ["one"]
    assert faults == []
    store = JsonlSessionStore(tmp_path)
    await store.append("a", [message_record(user_text("two"))])
    await store.aclose()
    assert future in path.read_bytes()
    assert texts_of(path) == ["one", "two"]


@pytest.mark.parametrize("tail", [b'{"kind":"entry","te', b'{"kind":"future","whole":true}', b"\xf0\x9f", b"\0\0\0"])
async def test_a_torn_end_swallows_no_later_record(tmp_path: Path, tail: bytes) -> None:
    await session_of(tmp_path, "one")
    path = tmp_path / "a.jsonl"
    path.write_bytes(path.read_bytes() + tail)
    store = JsonlSessionStore(tmp_path)
    assert texts_of(path) == ["one"]
    for text in ("two", "three"):
        await store.append("a", [message_record(user_text(text))])
        await store.aclose()
    assert texts_of(path) == ["one", "two", "three"]
    assert tail in path.read_bytes()


async def test_a_last_line_that_only_lacks_its_end_counts(tmp_path: Path) -> None:
    await session_of(tmp_path, "one", "two")
    path = tmp_path / "a.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    assert texts_of(path) == ["one", "two"]
    store = JsonlSessionStore(tmp_path)
    await store.append("a", [message_record(user_text("three"))])
    await store.aclose()
    assert texts_of(path) == ["one", "two", "three"]


@given(cut=st.integers(min_value=0), texts=st.lists(st.text(max_size=40), min_size=1, max_size=6))
def test_a_crash_at_any_byte_loses_only_what_comes_after_it(
    tmp_path_factory: pytest.TempPathFactory, cut: int, texts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("cut") / "a.jsonl"
    writer = JournalWriter(path, same, new=True)
    ends = [0]
    for text in texts:
        writer.append([message_record(user_text(text))])
        ends.append(writer.size)
    writer.close()
    cut %= ends[-1] + 1
    os.truncate(path, cut)
    writer = JournalWriter(path, same)
    writer.append([message_record(user_text("after"))])
    writer.close()
    whole = max(number for number, end in enumerate(ends) if end <= cut)
    lacks_only_its_end = cut + 1 in ends
    kept = texts[: whole + lacks_only_its_end]
    clean = [text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in kept]
    assert texts_of(path) == [*clean, "after"]


async def test_lone_surrogates_neither_get_in_nor_out(tmp_path: Path) -> None:
    await session_of(tmp_path, "cut \ud83d emoji")
    path = tmp_path / "a.jsonl"
    path.read_bytes().decode("utf-8")
    bad = json.dumps(message_record(user_text("bad \ud83d")))
    path.write_bytes(path.read_bytes() + bad.encode() + b"\n")
    assert texts_of(path) == ["cut � emoji", "bad �"]


async def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "sessions"
    await session_of(folder, "x" * 50_000)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.rglob("*")]}
    payload = next(name for name in modes if len(name) == 69)
    assert modes == {
        "sessions": 0o700, "a.jsonl": 0o600, "a.index.json": 0o600, "a.payloads": 0o700, payload: 0o600,
    }  # fmt: skip


def test_a_link_in_place_of_a_journal_is_not_followed(tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_text("precious")
    (tmp_path / "a.jsonl").symlink_to(target)
    with pytest.raises(OSError, match="symbolic links|link"):
        JournalWriter(tmp_path / "a.jsonl", same)
    assert target.read_text() == "precious"


# --- one writer -------------------------------------------------------------------------------------------

HOLD = """
import asyncio, sys
from agentframework import JsonlSessionStore
async def main():
    store = JsonlSessionStore(sys.argv[1])
    await store.acquire("a")
    print("held", flush=True)
    await asyncio.to_thread(sys.stdin.read)
asyncio.run(main())
"""


async def test_a_second_process_is_refused_and_a_dead_one_is_not_waited_for(tmp_path: Path) -> None:
    store = await session_of(tmp_path, "one")
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    async with await anyio.open_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        with anyio.fail_after(60):
            assert (await holder.stdout.receive()).startswith(b"held")
        with pytest.raises(SessionLockedError, match=r"a\.jsonl is open elsewhere"):
            await store.acquire("a")
        assert texts_of(tmp_path / "a.jsonl") == ["one"]
        holder.send_signal(signal.SIGKILL)
        await holder.wait()
        await store.acquire("a")
    await store.aclose()


async def test_two_objects_of_one_process_are_two_writers(tmp_path: Path) -> None:
    first, second = await session_of(tmp_path, "one"), JsonlSessionStore(tmp_path)
    await first.acquire("a")
    with pytest.raises(SessionLockedError):
        await second.append("a", [message_record(user_text("two"))])
    with pytest.raises(SessionLockedError):
        await second.delete("a")
    await first.release("a")
    await second.append("a", [message_record(user_text("two"))])
    await second.aclose()
    assert texts_of(tmp_path / "a.jsonl") == ["one", "two"]


MANY = """
import sys
from pathlib import Path
from agentframework import SessionLockedError
from agentframework.messages import user_text
from agentframework.stores.journal import JournalWriter
from agentframework.stores.records import message_record
for number in range(100):
    while True:
        try:
            writer = JournalWriter(Path(sys.argv[1]) / "a.jsonl", lambda value: value)
        except SessionLockedError:
            continue
        break
    writer.append([message_record(user_text(f"{sys.argv[2]} {number}"))])
    writer._dirty = False  # two hundred waits for the disk show nothing here
    writer.close()
"""


async def test_records_of_two_processes_are_all_there_and_whole(tmp_path: Path) -> None:
    await session_of(tmp_path)
    async with anyio.create_task_group() as tasks:
        for name in ("a", "b"):
            tasks.start_soon(anyio.run_process, [sys.executable, "-c", MANY, str(tmp_path), name])
    found = texts_of(tmp_path / "a.jsonl")
    assert [text for text in found if text.startswith("a ")] == [f"a {number}" for number in range(100)]
    assert [text for text in found if text.startswith("b ")] == [f"b {number}" for number in range(100)]


def test_a_full_disk_is_an_error_and_the_next_record_is_whole(tmp_path: Path) -> None:
    program = """
import resource, signal, sys
from pathlib import Path
from agentframework.messages import user_text
from agentframework.stores.journal import JournalWriter, read_journal
from agentframework.stores.records import message_record
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1]) / "a.jsonl"
writer = JournalWriter(path, lambda value: value, new=True)
writer.append([message_record(user_text("one"))])
resource.setrlimit(resource.RLIMIT_FSIZE, (writer.size + 20, resource.RLIM_INFINITY))
try:
    writer.append([message_record(user_text("two"))])
    sys.exit("the disk was not full")
except OSError:
    pass
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
writer.append([message_record(user_text("three"))])
writer.close()
"""
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=True, timeout=60)
    assert texts_of(tmp_path / "a.jsonl") == ["one", "three"]
