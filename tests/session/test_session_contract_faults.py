import asyncio
import gc
import subprocess
import sys
import textwrap
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from agentframework import InteractiveSession, Tool, ToolContext, tool
from agentframework.errors import (
    AgentFrameworkError,
    SessionBusyError,
    StreamInterruptedError,
    TurnNotRunError,
)
from agentframework.messages import AssistantMessage, TextPart, ToolCall, ToolMessage, ToolResultPart, Usage
from agentframework.providers.protocol import Chunk, ModelReply, ModelRequest, TextChunk
from agentframework.session.queue import QUEUE_CAPACITY
from agentframework.testing import ScriptedProvider, call, say
from agentframework.tools.tool import ToolFunction

WAIT_S = 20


class Panic(BaseException):
    """What a library in another language may throw."""


@tool(risk="inspect")
async def look(path: str = "") -> str:
    """Looks."""
    return f"seen {path}"


def results(session: InteractiveSession) -> list[ToolResultPart]:
    return [part for m in session.get_messages() if isinstance(m, ToolMessage) for part in m.content]


async def settle(handle: Any) -> str:
    """How a turn ended, in a word."""
    async with asyncio.timeout(WAIT_S):
        await handle.wait_settled()
    try:
        result = await handle.completed
    except TurnNotRunError as error:
        return error.reason
    except BaseException as error:
        return type(error).__name__
    return "interrupted" if result.interrupted else result.response


# --- providers ----------------------------------------------------------------------------------------------


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


# --- tools that reach for the session -----------------------------------------------------------------------


def acting(act: Callable[[ToolContext], Any], *, sync: bool) -> Tool:
    """A tool that does something to the session."""

    async def later(_arguments: dict[str, Any], context: ToolContext) -> str:
        outcome = act(context)
        return str(await outcome if asyncio.iscoroutine(outcome) else outcome)

    def now(_arguments: dict[str, Any], context: ToolContext) -> str:
        return str(act(context))

    run: ToolFunction = now if sync else later
    return Tool("act", "", {"type": "object"}, run, "inspect")


@pytest.mark.parametrize("sync", [False, True])
async def test_a_tool_may_abort_its_own_turn(make_session, sync: bool) -> None:
    session: InteractiveSession

    def stop(context: ToolContext) -> str:
        if sync:
            asyncio.run_coroutine_threadsafe(aborted(), loop).result(WAIT_S)
        else:
            session.abort()
        return str(context.abort.aborted)

    async def aborted() -> None:
        session.abort()

    loop = asyncio.get_running_loop()
    session = make_session(say("x", call("act"), call("look")), "next", default_tools=[acting(stop, sync=sync), look])
    handle = session.submit_nowait("go")
    waiting = session.submit_nowait("waits", driver_id="other")
    assert (await settle(handle), await settle(waiting)) == ("interrupted", "cancelled")
    assert len(results(session)) == 2
    assert await settle(await session.submit("again")) == "next"


async def test_a_tool_may_submit_and_its_prompt_runs_next(make_session) -> None:
    handles: list[Any] = []
    session = make_session(say(call("act")), "first", "second", default_tools=[acting(lambda _c: follow(), sync=False)])

    async def follow() -> str:
        handles.append(await session.submit("and then"))
        return "submitted"

    assert await settle(await session.submit("go")) == "first"
    assert await settle(handles[0]) == "second"


async def test_what_a_tool_left_running_may_wait_for_later_turns(make_session) -> None:
    background: list[asyncio.Task[str]] = []
    go_on, queued = asyncio.Event(), asyncio.Event()

    async def later() -> str:
        await go_on.wait()
        handle = session.submit_nowait("from the background", driver_id="tool")
        queued.set()
        return (await handle.completed).response

    def begin(_context: ToolContext) -> str:
        background.append(asyncio.ensure_future(later()))
        return "begun"

    gate = asyncio.Event()
    session = make_session(
        say(call("act")), "first", say(gate, "second"), "third", default_tools=[acting(begin, sync=False)]
    )
    await session.submit("go")
    second = session.submit_nowait("meanwhile")
    go_on.set()
    async with asyncio.timeout(WAIT_S):
        await queued.wait()
        gate.set()
        assert await background[0] == "third"
    assert await settle(second) == "second"


async def test_a_task_that_a_listener_began_may_wait_for_its_turn(make_session) -> None:
    session = make_session("one", "two")
    begun: list[asyncio.Task[str]] = []

    async def follow_up() -> str:
        return (await session.submit_nowait("and?").completed).response

    session.once("complete", lambda _event: begun.append(asyncio.ensure_future(follow_up())))
    await session.submit("go")
    async with asyncio.timeout(WAIT_S):
        assert await begun[0] == "two"


async def test_a_tool_that_clears_the_history_is_told_why_not(make_session) -> None:
    session: InteractiveSession
    clear = acting(lambda _context: session.clear_conversation_history(), sync=False)
    session = make_session(say(call("act")), "done", default_tools=[clear])
    assert await settle(await session.submit("go")) == "done"
    assert results(session)[0].is_error
    assert "[SESSION_ALREADY_RUNNING]" in results(session)[0].content


async def test_a_tool_may_change_model_and_mode_for_the_next_request(make_session) -> None:
    other = ScriptedProvider(say(call("danger")), "from the other")

    def change(_context: ToolContext) -> str:
        session.set_model("other-model", other)
        session.set_permission_mode("bypassPermissions")
        return "changed"

    danger = Tool("danger", "", {"type": "object"}, lambda _arguments, _context: "ran")
    session = make_session(say(call("act")), default_tools=[acting(change, sync=False), danger])
    assert await settle(await session.submit("go")) == "from the other"
    assert [part.content for part in results(session)] == ["changed", "ran"]
    assert {request.model for request in other.requests} == {"other-model"}


@pytest.mark.parametrize("name", ["on", "once"])
async def test_an_async_listener_may_shut_the_session_down_and_goes_on(make_session, name: str) -> None:
    session = make_session("one")
    after = asyncio.Event()

    async def leave(_event: Any) -> None:
        await session.shutdown()
        after.set()

    getattr(session, name)("complete", leave)
    await session.submit("go")
    async with asyncio.timeout(WAIT_S):
        began = asyncio.get_running_loop().time()
        await after.wait()
    assert asyncio.get_running_loop().time() - began < 0.9


async def test_two_sessions_share_tools_and_provider_and_nothing_else(tmp_path: Path) -> None:
    meeting = asyncio.Barrier(2)

    @tool(risk="inspect")
    async def meet(context: ToolContext) -> str:
        """Waits for the other session."""
        async with asyncio.timeout(WAIT_S):
            await meeting.wait()
        return context.session_id

    def answer(request: ModelRequest) -> Any:
        return "done" if isinstance(request.messages[-1], ToolMessage) else say(call("meet"), call("meet"))

    provider = ScriptedProvider(*[answer] * 4)
    sessions = [InteractiveSession(cwd=tmp_path, provider=provider, default_tools=[meet]) for _ in range(2)]
    sessions[0].set_permission_mode("plan")
    handles = [session.submit_nowait("go") for session in sessions]
    assert [await settle(handle) for handle in handles] == ["done", "done"]
    for session in sessions:
        assert {part.content for part in results(session)} == {session.session_id}
    assert [session.permission_mode for session in sessions] == ["plan", "default"]
    sessions[0].abort()
    await sessions[0].shutdown()
    provider.add("still here")
    assert await settle(await sessions[1].submit("and?")) == "still here"
    await sessions[1].shutdown()


# --- listeners ----------------------------------------------------------------------------------------------

TURN_EVENTS = (
    "session_started", "turn_started", "user_message", "thinking", "iteration_started", "text_delta",
    "model_completed", "tool_calls_detected", "permission_decision", "tool_start", "tool_end", "tool_results",
    "complete", "context_update",
)  # fmt: skip
BEFORE_THE_END = TURN_EVENTS[: TURN_EVENTS.index("complete")]


@pytest.mark.parametrize("name", TURN_EVENTS)
async def test_a_prompt_submitted_while_any_event_is_told_runs_once(make_session, name: str) -> None:
    session = make_session(say("a", call("look")), "first", "second", default_tools=[look])
    handles: list[Any] = []
    session.once(name, lambda _event: handles.append(session.submit_nowait("from the listener")))
    assert await settle(await session.submit("go")) == "first"
    assert [await settle(handle) for handle in handles] == ["second"]


@pytest.mark.parametrize("name", BEFORE_THE_END)
async def test_an_abort_while_any_event_is_told_interrupts_the_turn(make_session, name: str) -> None:
    provider = ScriptedProvider(say("a", call("look")), "first")
    session = make_session(provider=provider, default_tools=[look])
    session.once(name, lambda _event: session.abort())
    handle = session.submit_nowait("go")
    waiting = session.submit_nowait("waits", driver_id="other")
    assert (await settle(handle), await settle(waiting)) == ("interrupted", "cancelled")
    provider._steps[:] = ["next"]
    assert await settle(await session.submit("again")) == "next"
    assert len(results(session)) == sum(len(m.tool_calls) for m in session.get_messages() if hasattr(m, "tool_calls"))


async def test_an_abort_with_the_last_word_of_the_model_is_an_interruption(make_session) -> None:
    session = make_session(say("all ", "of it"))
    ended: list[str] = []
    for name in ("complete", "interrupted"):
        session.on(name, lambda event: ended.append(event.type))
    session.once("model_completed", lambda _event: session.abort())
    result = await (await session.submit("go")).completed
    assert (result.interrupted, result.response, ended) == (True, "all of it", ["interrupted"])


async def test_an_abort_when_the_turn_is_complete_comes_too_late(make_session) -> None:
    session = make_session("answer")
    session.once("complete", lambda _event: session.abort())
    result = await (await session.submit("go")).completed
    assert (result.interrupted, result.response) == (False, "answer")


@pytest.mark.parametrize("name", [*TURN_EVENTS, "error", "interrupted"])
@pytest.mark.parametrize("error", [Panic, asyncio.CancelledError, GeneratorExit, RuntimeError])
async def test_nothing_a_listener_raises_leaves_a_handle_open_or_a_call_unanswered(
    make_session, name: str, error: type[BaseException]
) -> None:
    asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
    provider = ScriptedProvider(say("a", call("look"), call("look")), "first")
    session = make_session(provider=provider, default_tools=[look])

    def fail(_event: Any) -> None:
        raise error("from a listener")

    session.on(name, fail)
    handle = session.submit_nowait("go")
    outcome = await settle(handle)
    assert outcome in ("first", error.__name__, "interrupted") or outcome.endswith("ExceptionGroup")
    if issubclass(error, Exception | asyncio.CancelledError):
        assert outcome == "first"
    session.off(name, fail)
    provider._steps[:] = ["next"]
    assert await settle(await session.submit("again")) == "next"
    sent = provider.requests[-1].messages
    asked = [made.id for m in sent if isinstance(m, AssistantMessage) for made in m.tool_calls]
    answered = [part.tool_use_id for m in sent if isinstance(m, ToolMessage) for part in m.content]
    assert asked == answered


async def test_an_async_listener_that_cancels_itself_is_reported_and_goes_on(make_session) -> None:
    session = make_session("one", "two")
    heard: list[str] = []
    warnings: list[str] = []
    session.on("warning", lambda event: warnings.append(event.message))

    async def gives_up(event: Any) -> None:
        heard.append(event.result.response)
        raise asyncio.CancelledError

    session.on("complete", gives_up)
    await session.submit("a")
    await session.submit("b")
    await session.shutdown()
    assert heard == ["one", "two"]
    assert len(warnings) == 1
    assert "gives_up" in warnings[0]


async def test_a_question_whose_async_listener_gives_up_is_denied_at_once(make_session) -> None:
    ran: list[str] = []
    danger = Tool("danger", "", {"type": "object"}, lambda _arguments, _context: ran.append("ran"))
    session = make_session(say(call("danger")), "done", default_tools=[danger])

    async def gives_up(_event: Any) -> None:
        raise asyncio.CancelledError

    session.on("permission_request", gives_up)
    assert await settle(await session.submit("go")) == "done"
    assert ran == []


async def test_the_fault_of_a_listener_without_text_is_reported_all_the_same(make_session) -> None:
    class Strange(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    def fail(_event: Any) -> None:
        raise Strange

    session = make_session("fine")
    warnings: list[str] = []
    session.on("warning", lambda event: warnings.append(event.message))
    session.on("turn_started", fail)
    assert await settle(await session.submit("go")) == "fine"
    assert len(warnings) == 1
    assert "Strange" in warnings[0]


async def test_a_faulty_callback_of_a_tool_does_not_keep_the_abort_from_others(make_session) -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context["exception"]))
    begun = asyncio.Barrier(3)

    def fail() -> None:
        raise RuntimeError("in a callback")

    @tool(risk="inspect")
    async def wait(context: ToolContext) -> None:
        """Waits for ever."""
        context.abort.on_abort(fail)
        await begun.wait()
        await asyncio.Event().wait()

    session = make_session(say(call("wait"), call("wait")), default_tools=[wait])
    handle = session.submit_nowait("go")
    async with asyncio.timeout(WAIT_S):
        await begun.wait()
    session.abort()
    assert await settle(handle) == "interrupted"
    assert [str(error) for error in complaints] == ["in a callback", "in a callback"]


# --- queue --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drivers", [1, QUEUE_CAPACITY, 1_000])
async def test_a_thousand_prompts_at_once_are_each_settled(make_session, drivers: int) -> None:
    gate = asyncio.Event()
    runs = 1 + min(drivers, QUEUE_CAPACITY)
    session = make_session(say(gate, "answer"), *["answer"] * (runs - 1))
    handles = [session.submit_nowait(f"{number}", driver_id=f"d{number % drivers}") for number in range(1_000)]
    gate.set()
    outcomes = [await settle(handle) for handle in handles]
    counts = {outcome: outcomes.count(outcome) for outcome in set(outcomes)}
    if drivers == 1_000:
        assert counts == {"answer": runs, "dropped": 1_000 - runs}
    else:
        assert counts == {"answer": runs, "coalesced": 1_000 - runs}
        assert outcomes[-drivers:] == ["answer"] * drivers
    assert session.get_pending_count() == 0


# --- event loops and the end of the process -----------------------------------------------------------------


def test_a_session_may_be_used_from_one_loop_after_the_other(tmp_path: Path) -> None:
    session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider("one", "two", "three"), default_tools=[])
    heard: list[str] = []
    told: list[asyncio.Event] = []

    async def listener(event: Any) -> None:
        heard.append(event.result.response)
        told[-1].set()

    session.on("complete", listener)

    async def ask(text: str) -> str:
        told.append(asyncio.Event())
        async with asyncio.timeout(WAIT_S):
            answer = (await (await session.submit(text)).completed).response
            await told[-1].wait()
        return answer

    assert [asyncio.run(ask(text)) for text in "abc"] == ["one", "two", "three"]
    assert heard == ["one", "two", "three"]
    asyncio.run(session.shutdown())


def test_a_turn_that_ended_with_its_loop_leaves_the_session_usable(tmp_path: Path) -> None:
    provider = ScriptedProvider(say("half", call("wait")), "next")
    began: list[asyncio.Event] = []

    @tool(risk="inspect")
    async def wait() -> None:
        """Waits for ever."""
        began[0].set()
        await asyncio.Event().wait()

    session = InteractiveSession(cwd=tmp_path, provider=provider, default_tools=[wait, look])
    handles: list[Any] = []

    async def leave() -> None:
        began.append(asyncio.Event())
        handles.append(session.submit_nowait("go"))
        handles.append(session.submit_nowait("waits", driver_id="other"))
        async with asyncio.timeout(WAIT_S):
            await began[0].wait()

    async def use() -> list[str]:
        return [await settle(await session.submit("again")), *[await settle(handle) for handle in handles]]

    asyncio.run(leave())
    assert not session.is_executing()
    assert asyncio.run(use()) == ["next", "interrupted", "cancelled"]
    assert results(session)[0].is_error
    asyncio.run(session.shutdown())


async def test_a_prompt_from_another_loop_while_a_turn_runs_is_refused(make_session) -> None:
    gate = asyncio.Event()
    session = make_session(say(gate, "done"))
    handle = session.submit_nowait("go")
    caught: list[AgentFrameworkError] = []

    async def ask() -> None:
        try:
            session.submit_nowait("from elsewhere")
        except SessionBusyError as error:
            caught.append(error)

    thread = threading.Thread(target=lambda: asyncio.run(ask()))
    thread.start()
    await asyncio.to_thread(thread.join, WAIT_S)
    gate.set()
    assert await settle(handle) == "done"
    assert [error.code for error in caught] == ["SESSION_ALREADY_RUNNING"]
    assert "one loop" in str(caught[0])


PREAMBLE = """
import asyncio, gc, sys, threading
from agentframework import InteractiveSession, tool
from agentframework.testing import ScriptedProvider, call, say

def make(*steps, **options):
    options.setdefault("default_tools", [])
    return InteractiveSession(cwd=".", provider=ScriptedProvider(*steps), **options)

async def heard(event):
    pass
"""


def run_quietly(script: str, folder: Path) -> str:
    """What a program prints that must not complain of anything."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PREAMBLE + textwrap.dedent(script)],
        cwd=folder, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_session_may_be_dropped_without_being_shut_down(tmp_path: Path) -> None:
    script = """
    async def main():
        for _ in range(3):
            session = make("a", "b")
            session.on("text_delta", heard)
            session.once("complete", heard)
            stream = session.events()
            await (await session.submit("x")).completed
            session.submit_nowait("y")
            del session, stream
            gc.collect()
            await asyncio.sleep(0.01)
            gc.collect()
        await asyncio.sleep(0)
        print(len(asyncio.all_tasks()), sum(isinstance(o, InteractiveSession) for o in gc.get_objects()))
    asyncio.run(main())
    """
    assert run_quietly(script, tmp_path) == "1 0\n"


def test_a_session_that_nobody_shut_down_is_given_back(tmp_path: Path) -> None:
    async def use() -> None:
        session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider("a"), default_tools=[])
        session.on("complete", lambda _event: None)
        await session.submit("x")

    asyncio.run(use())
    gc.collect()
    left = [found for found in gc.get_objects() if isinstance(found, InteractiveSession)]
    assert [session for session in left if session.cwd == str(tmp_path.resolve())] == []


@pytest.mark.parametrize("kind", ["model", "async tool", "sync tool", "question", "queue", "listener"])
def test_a_program_may_end_in_the_middle_of_a_turn(tmp_path: Path, kind: str) -> None:
    script = f"""
    kind = {kind!r}
    began = threading.Event()

    @tool(risk="inspect")
    async def wait() -> str:
        "Waits."
        began.set()
        await asyncio.Event().wait()

    @tool(risk="inspect")
    def poll(context: __import__("agentframework").ToolContext) -> str:
        "Polls."
        began.set()
        while not context.abort.aborted:
            threading.Event().wait(0.01)
        return "stopped"

    @tool
    async def danger() -> str:
        "Needs a yes."

    async def slow(event):
        began.set()
        await asyncio.Event().wait()

    async def main():
        forever = asyncio.Event()
        steps = {{
            "model": say("x", forever), "async tool": say(call("wait")), "sync tool": say(call("poll")),
            "question": say(call("danger")), "queue": say("x", forever), "listener": say("x", forever),
        }}
        session = make(steps[kind], "never", default_tools=[wait, poll, danger])
        session.on("text_delta", slow if kind == "listener" else lambda event: began.set())
        session.on("permission_request", lambda event: began.set())
        session.on("interrupted", lambda event: print("interrupted"))
        session.submit_nowait("go")
        if kind == "queue":
            session.submit_nowait("waits", driver_id="other")
        while not began.is_set():
            await asyncio.sleep(0.01)

    asyncio.run(main())
    print("end")
    """
    assert run_quietly(script, tmp_path) == "interrupted\nend\n"


def test_a_keyboard_interrupt_of_a_listener_ends_the_program_and_not_the_transcript(tmp_path: Path) -> None:
    session = InteractiveSession(
        cwd=tmp_path,
        provider=ScriptedProvider(say(call("look"), call("look")), "after"),
        default_tools=[look],
    )

    def interrupt(_event: Any) -> None:
        raise KeyboardInterrupt

    async def go() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        session.on("tool_start", interrupt)
        await session.submit("go")

    async def again() -> str:
        session.off("tool_start", interrupt)
        outcome = await settle(await session.submit("again"))
        await session.shutdown()
        return outcome

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(go())
    gc.collect()
    assert asyncio.run(again()) == "after"
    assert len(results(session)) == 2
