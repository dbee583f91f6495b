import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from agentframework._base.emitter import EventEmitter
from agentframework._base.subscription import ListenerFault


@dataclass(frozen=True)
class Note:
    type: ClassVar[str] = "note"
    text: str = ""


@dataclass(frozen=True)
class Error:
    type: ClassVar[str] = "error"
    text: str = ""


def join(first: Any, second: Any) -> Any:
    both = isinstance(first, Note) and isinstance(second, Note)
    return Note(first.text + second.text) if both else None


class Bench:
    def __init__(self, buffer_limit: int = 10_000) -> None:
        self.faults: list[ListenerFault] = []
        self.overflows = 0
        self.emitter: EventEmitter[Any] = EventEmitter(
            ("note", "error"),
            merge=join,
            on_fault=self.faults.append,
            on_overflow=self.count_overflow,
            buffer_limit=buffer_limit,
        )

    def count_overflow(self) -> None:
        self.overflows += 1


async def test_listeners_get_events_by_name_and_by_class() -> None:
    bench, got = Bench(), []
    bench.emitter.on("note", lambda event: got.append(("name", event.text)))
    bench.emitter.on(Note, lambda event: got.append(("class", event.text)))
    bench.emitter.emit(Note("a"))
    assert got == [("name", "a"), ("class", "a")]


async def test_an_unknown_event_name_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown event 'noet'.*note"):
        Bench().emitter.on("noet", print)


async def test_a_throwing_listener_harms_nobody_and_is_reported_once() -> None:
    bench, got = Bench(), []

    def bad(_event: Note) -> None:
        raise ValueError("broken")

    bench.emitter.on("note", bad)
    bench.emitter.on("note", lambda event: got.append(event.text))
    for text in "abc":
        bench.emitter.emit(Note(text))
    assert got == ["a", "b", "c"]
    assert [(fault.event_type, str(fault.error)) for fault in bench.faults] == [("note", "broken")]
    assert "bad" in bench.faults[0].listener


async def test_an_error_event_without_listener_raises_nothing() -> None:
    Bench().emitter.emit(Error("nobody listens"))


async def test_a_cancelled_error_out_of_a_sync_listener_is_a_fault_like_any_other() -> None:
    bench, got = Bench(), []

    def bad(_event: Note) -> None:
        raise asyncio.CancelledError

    bench.emitter.on("note", bad)
    bench.emitter.on("note", lambda event: got.append(event.text))
    bench.emitter.emit(Note("a"))
    assert got == ["a"]
    assert len(bench.faults) == 1


async def test_a_keyboard_interrupt_goes_on_after_the_others_were_served() -> None:
    bench, got = Bench(), []

    def interrupting(_event: Note) -> None:
        raise KeyboardInterrupt

    bench.emitter.on("note", interrupting)
    bench.emitter.on("note", lambda event: got.append(event.text))
    with pytest.raises(KeyboardInterrupt):
        bench.emitter.emit(Note("a"))
    assert got == ["a"]


async def test_an_async_listener_gets_its_events_in_order_however_slow_it_is() -> None:
    bench, got = Bench(), []
    gates = [asyncio.Event() for _ in range(3)]

    async def slow(event: Note) -> None:
        await gates[int(event.text)].wait()
        got.append(event.text)

    bench.emitter.on("note", slow)
    for text in "012":
        bench.emitter.emit(Note(text))
    for gate in reversed(gates):
        gate.set()
    await bench.emitter.close()
    assert got == ["0", "1", "2"]


async def test_a_throwing_async_listener_goes_on_with_the_next_event() -> None:
    bench, got = Bench(), []

    async def bad(event: Note) -> None:
        got.append(event.text)
        raise ValueError(event.text)

    bench.emitter.on("note", bad)
    bench.emitter.emit(Note("a"))
    bench.emitter.emit(Note("b"))
    await bench.emitter.close()
    assert got == ["a", "b"]
    assert len(bench.faults) == 1


async def test_a_sync_function_that_returns_a_coroutine_is_awaited() -> None:
    bench, done = Bench(), asyncio.Event()

    async def work() -> None:
        done.set()

    bench.emitter.on("note", lambda _event: work())
    bench.emitter.emit(Note())
    async with asyncio.timeout(5):
        await done.wait()


async def test_listeners_may_be_added_and_removed_while_an_event_is_delivered() -> None:
    bench, got = Bench(), []

    def added(_event: Note) -> None:
        got.append("added")

    def removes_itself(_event: Note) -> None:
        got.append("removed")
        bench.emitter.off("note", removes_itself)
        bench.emitter.on("note", added)

    bench.emitter.on("note", removes_itself)
    bench.emitter.emit(Note())
    bench.emitter.emit(Note())
    assert got == ["removed", "added"]


async def test_once_delivers_once_and_registering_twice_counts_once() -> None:
    bench, got = Bench(), []

    def listener(event: Note) -> None:
        got.append(event.text)

    bench.emitter.on("note", listener, once=True)
    bench.emitter.emit(Note("a"))
    bench.emitter.emit(Note("b"))
    bench.emitter.on("note", listener)
    bench.emitter.on("note", listener)
    bench.emitter.emit(Note("c"))
    assert got == ["a", "c"]


async def test_removing_an_unknown_listener_does_nothing() -> None:
    Bench().emitter.off("note", print)


async def test_a_bound_method_can_be_removed() -> None:
    bench = Bench()
    got: list[Note] = []
    bench.emitter.on("note", got.append)
    assert bench.emitter.has_listeners("note")
    bench.emitter.off("note", got.append)
    assert not bench.emitter.has_listeners("note")


async def test_a_stream_gets_all_events_and_ends_at_close() -> None:
    bench = Bench()
    stream = bench.emitter.stream()
    assert not bench.emitter.has_listeners("note")
    bench.emitter.emit(Note("a"))
    bench.emitter.emit(Error("b"))
    await bench.emitter.close()
    assert [event async for event in stream] == [Note("a"), Error("b")]


async def test_a_full_buffer_merges_neighbours_and_loses_nothing() -> None:
    bench = Bench(buffer_limit=10)
    stream = bench.emitter.stream()
    for number in range(100):
        bench.emitter.emit(Note(f"{number},"))
        if number % 10 == 9:
            bench.emitter.emit(Error(str(number)))
    await stream.aclose()
    events = [event async for event in stream]
    assert "".join(event.text for event in events if isinstance(event, Note)) == "".join(
        f"{number}," for number in range(100)
    )
    assert [event.text for event in events if isinstance(event, Error)] == [str(n) for n in range(9, 100, 10)]
    assert len(events) < 60
    assert bench.overflows == 1


async def test_a_waiting_reader_is_released_by_aclose() -> None:
    bench = Bench()
    stream = bench.emitter.stream()
    reader = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    await stream.aclose()
    with pytest.raises(StopAsyncIteration):
        await reader
