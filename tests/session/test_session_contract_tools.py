import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from anyio import from_thread
from sessionkit import WAIT_S, look, results, settle

from agentframework import InteractiveSession, Tool, ToolContext, tool
from agentframework.messages import ToolMessage
from agentframework.providers.protocol import ModelRequest
from agentframework.testing import ScriptedProvider, call, say
from agentframework.tools.tool import ToolFunction


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
        await after.wait()


async def test_a_sync_tool_may_ask_from_its_thread(make_session) -> None:
    def ask(context: ToolContext) -> str:
        return str(from_thread.run(context.ask, [{"question": "Which?"}]))

    session = make_session(say(call("act")), "done", default_tools=[acting(ask, sync=True)])
    session.on("ask_request", lambda event: session.resolve_ask(event.id, ["this one"]))
    assert await settle(await session.submit("go", driver_id="alice")) == "done"
    assert results(session)[0].content == "['this one']"


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
