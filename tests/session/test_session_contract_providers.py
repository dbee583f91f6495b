import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from sessionkit import WAIT_S, Panic, look, results, settle

from agentframework import Tool
from agentframework.errors import (
    StreamInterruptedError,
)
from agentframework.messages import AssistantMessage, TextPart, ToolCall, Usage
from agentframework.providers.protocol import Chunk, ModelReply, ModelRequest, TextChunk
from agentframework.testing import ScriptedProvider, call, say


class Odd(ScriptedProvider):
    """A provider whose stream is the given function."""

    def __init__(self, stream: Callable[[ModelRequest], Any], *steps: Any) -> None:
        super().__init__(*steps)
        self._odd: Callable[[ModelRequest], Any] | None = stream

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        odd, self._odd = self._odd, None
        return super().stream(request) if odd is None else odd(request)


def reply(*parts: Any) -> ModelReply:
    return ModelReply(AssistantMessage(parts, "m", "odd", "end_turn", Usage(1, 1)))


class Plain:
    """An async iterator that is no generator: it cannot be closed."""

    def __init__(self, *chunks: Chunk) -> None:
        self._chunks = list(chunks)

    def __aiter__(self) -> "Plain":
        return self

    async def __anext__(self) -> Chunk:
        if not self._chunks:
            raise StopAsyncIteration
        return self._chunks.pop(0)


async def says_more(_request: ModelRequest) -> AsyncIterator[Chunk]:
    yield reply(TextPart("first"))
    yield TextChunk("more")
    yield reply(TextPart("second"))


async def strange_chunks(_request: ModelRequest) -> AsyncIterator[Any]:
    yield None
    yield {"type": "text"}
    yield reply(TextPart("fine"))


@pytest.mark.parametrize(
    ("stream", "response"),
    [
        (says_more, "first"),
        (strange_chunks, "fine"),
        (lambda _request: Plain(TextChunk("a"), reply(TextPart("whole"))), "whole"),
        (lambda _request: Plain(reply()), "(empty response)"),
        (lambda _request: Plain(reply(TextPart(" \n"))), "(empty response)"),
    ],
)
async def test_the_first_whole_reply_of_a_provider_counts(make_session, stream: Any, response: str) -> None:
    session = make_session(provider=Odd(stream, "next"))
    assert await settle(await session.submit("go")) == response
    assert await settle(await session.submit("again")) == "next"


async def ends_at_once(_request: ModelRequest) -> AsyncIterator[Chunk]:
    return
    yield


async def ends_without_a_reply(_request: ModelRequest) -> AsyncIterator[Chunk]:
    yield TextChunk("half")


def raises(error: BaseException, *, late: bool) -> Callable[[ModelRequest], AsyncIterator[Chunk]]:
    async def stream(_request: ModelRequest) -> AsyncIterator[Chunk]:
        if late:
            yield TextChunk("half")
        raise error

    return stream


def raises_at_once(_request: ModelRequest) -> AsyncIterator[Chunk]:
    raise KeyError("before it began")


async def cannot_be_closed(_request: ModelRequest) -> AsyncIterator[Chunk]:
    yield TextChunk("half")
    try:
        raise ValueError("first")
    finally:
        raise RuntimeError("while closing")


@pytest.mark.parametrize(
    ("stream", "error"),
    [
        (ends_at_once, "StreamInterruptedError"),
        (ends_without_a_reply, "StreamInterruptedError"),
        (raises(KeyError("k"), late=False), "KeyError"),
        (raises(KeyError("k"), late=True), "KeyError"),
        (raises(ExceptionGroup("g", [ValueError("v")]), late=True), "ExceptionGroup"),
        (raises(asyncio.CancelledError(), late=False), "StreamInterruptedError"),
        (raises(asyncio.CancelledError(), late=True), "StreamInterruptedError"),
        (raises(TimeoutError(), late=True), "TimeoutError"),
        (raises(Panic("rust"), late=True), "Panic"),
        (raises(StopAsyncIteration(), late=True), "RuntimeError"),
        (raises_at_once, "KeyError"),
        (cannot_be_closed, "RuntimeError"),
        (lambda _request: None, "TypeError"),
        (lambda _request: Plain(ModelReply(None)), "AttributeError"),  # type: ignore[arg-type]
    ],
)
async def test_whatever_a_provider_raises_fails_this_turn_and_no_other(make_session, stream: Any, error: str) -> None:
    session = make_session(provider=Odd(stream, "next"))
    events: list[str] = []
    for name in ("error", "interrupted", "complete"):
        session.on(name, lambda event: events.append(event.type))
    assert await settle(await session.submit("go")) == error
    assert events == ["error"]
    assert await settle(await session.submit("again")) == "next"
    said = [m.text for m in session.get_messages() if isinstance(m, AssistantMessage)]
    assert said in (["next"], ["half", "next"])


async def test_a_provider_that_gives_up_by_itself_is_told_from_an_interruption(make_session) -> None:
    session = make_session(say("half", asyncio.CancelledError()))
    handle = await session.submit("go")
    with pytest.raises(StreamInterruptedError, match="scripted broke off its answer by itself"):
        await handle.completed


async def never_stops(_request: ModelRequest) -> AsyncIterator[Chunk]:
    while True:
        yield TextChunk("x")


async def test_a_provider_that_never_ends_leaves_the_loop_alive_and_can_be_stopped(make_session) -> None:
    session = make_session(provider=Odd(never_stops, "next"))
    enough = asyncio.Event()
    session.on("text_delta", lambda _event: enough.set() if len(session.get_streaming_text()) > 100 else None)
    handle = session.submit_nowait("go")
    async with asyncio.timeout(WAIT_S):
        await enough.wait()
        session.abort()
    assert await settle(handle) == "interrupted"
    assert await settle(await session.submit("again")) == "next"


async def test_calls_of_one_id_and_without_name_or_id_are_each_answered(make_session) -> None:
    same = ToolCall("same", "look", {"path": "1"}, "{}")
    nameless = ToolCall("other", "", {}, "{}")
    anonymous = ToolCall("", "look", {}, "{}")
    session = make_session(say(same, same, nameless, anonymous), say(same), "done", default_tools=[look])
    ended: list[str] = []
    session.on("tool_end", lambda event: ended.append(event.outcome))
    assert await settle(await session.submit("go")) == "done"
    found = [(part.tool_use_id, part.is_error) for part in results(session)]
    assert found == [("same", False), ("same", False), ("other", True), ("", False), ("same", False)]
    assert sorted(ended) == ["error", *["success"] * 4]


@pytest.mark.parametrize("depth", [100, 900, 960, 975, 990, 1_100])
async def test_arguments_nested_however_deep_get_a_result(make_session, depth: int) -> None:
    nested: Any = []
    for _ in range(depth):
        nested = [nested]
    anything = Tool("anything", "", {"type": "object"}, lambda _arguments, _context: "ran", "inspect")
    deep = ToolCall("c", "anything", {"value": nested}, "{}")
    session = make_session(say(deep, call("anything")), "done", default_tools=[anything])
    assert await settle(await session.submit("go")) == "done"
    assert [part.content for part in results(session)][1] == "ran"
    assert len(results(session)) == 2
