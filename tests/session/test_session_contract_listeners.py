import asyncio
from typing import Any

import pytest
from sessionkit import WAIT_S, Panic, look, results, settle

from agentframework import Tool, ToolContext, tool
from agentframework.messages import AssistantMessage, ToolMessage
from agentframework.session.queue import QUEUE_CAPACITY
from agentframework.testing import ScriptedProvider, call, say

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
