import asyncio
from typing import Any

import pytest
from sessionkit import WAIT_S, look, settle

from agentframework import InteractiveSession, tool
from agentframework.testing import ScriptedProvider, call, say


def acknowledged(session: InteractiveSession) -> list[tuple[str, str]]:
    seen: list[tuple[str, str]] = []
    session.on("steer_result", lambda event: seen.append((event.status, event.steer_id)))
    return seen


def on_first(session: InteractiveSession, name: str, do: Any) -> None:
    session.once(name, lambda _event: do())


async def test_a_message_joins_the_running_turn_after_the_round_of_tools(make_session) -> None:
    provider = ScriptedProvider(say("Looking. ", call("look", path="a")), say(call("look", path="b")), "I stopped.")
    session = make_session(provider=provider, default_tools=[look])
    seen = acknowledged(session)
    steered: list[Any] = []
    on_first(
        session, "tool_start",
        lambda: steered.append(session.submit_nowait("Only b, please.", driver_id="bob", steer=True)),
    )  # fmt: skip
    handle = await session.submit("Look at everything.")
    result = await handle.completed
    assert seen == [("applied", steered[0].turn_id)]
    assert await steered[0].completed is result
    second = provider.requests[1].messages
    assert [m.role for m in second] == ["user", "assistant", "tool", "user"]
    assert second[-1].text == "Only b, please."
    shown = [m.text for m in session.get_messages() if m.role == "user"]
    assert shown == ["Look at everything.", "Only b, please."]
    assert session.get_pending_count() == 0


async def test_what_comes_too_late_becomes_a_turn_of_its_own_ahead_of_the_queue(make_session) -> None:
    provider = ScriptedProvider("one", "two", "three", "four")
    session = make_session(provider=provider)
    seen = acknowledged(session)
    handles: list[Any] = []

    def submit() -> None:
        handles.append(session.submit_nowait("waiting"))
        handles.append(session.submit_nowait("late", steer=True))
        handles.append(session.submit_nowait("later", steer=True))

    on_first(session, "text_delta", submit)
    await session.submit("go")
    assert [await settle(handle) for handle in handles] == ["four", "two", "three"]
    assert seen == [("queued", handles[1].turn_id), ("queued", handles[2].turn_id)]


async def test_a_queued_message_is_not_replaced_by_a_newer_prompt_of_its_driver(make_session) -> None:
    session = make_session("one", "two", "three")
    late: list[Any] = []
    on_first(session, "complete", lambda: late.append(session.submit_nowait("late", steer=True)))
    session.once("thinking", lambda _event: None)

    def on_end(event: Any) -> None:
        if not event.active and len(late) == 1:
            late.append(session.submit_nowait("newer"))

    session.on("thinking", on_end)
    await session.submit("go")
    assert [await settle(handle) for handle in late] == ["two", "three"]


async def test_on_an_idle_session_it_is_a_prompt_like_any_other(make_session) -> None:
    session = make_session("hello")
    seen = acknowledged(session)
    handle = await session.submit("hi", steer=True)
    assert (await handle).response == "hello"
    assert seen == [("queued", handle.turn_id)]


@pytest.mark.parametrize("how", ["abort", "cancel_queue", "shutdown"])
async def test_what_waits_is_cancelled_with_the_queue(make_session, how: str) -> None:
    began, go_on = asyncio.Event(), asyncio.Event()

    @tool(risk="inspect")
    async def wait() -> str:
        """Waits."""
        began.set()
        await go_on.wait()
        return "done"

    session = make_session(say(call("wait")), "end", default_tools=[wait])
    seen = acknowledged(session)
    handle = session.submit_nowait("go")
    async with asyncio.timeout(WAIT_S):
        await began.wait()
        late = session.submit_nowait("stop that", steer=True)
        if how == "shutdown":
            await session.shutdown()
        else:
            getattr(session, how)()
        go_on.set()
        assert await settle(late) == "cancelled"
        assert await settle(handle) == ("end" if how == "cancel_queue" else "interrupted")
    assert seen == [("dropped", late.turn_id)]


@pytest.mark.parametrize("end", ["RuntimeError", "interrupted"])
async def test_one_that_joined_settles_with_a_turn_that_fails_or_is_stopped(make_session, end: str) -> None:
    def last(_request: Any) -> Any:
        if end == "interrupted":
            session.abort()
            return "x"
        return RuntimeError("kaputt")

    late: list[Any] = []
    session = make_session(say(call("look")), last, default_tools=[look])
    on_first(session, "tool_end", lambda: late.append(session.submit_nowait("more", steer=True)))
    handle = await session.submit("go")
    assert [await settle(handle), await settle(late[0])] == [end, end]


async def test_a_turn_that_fails_leaves_what_it_did_not_take_to_the_next(make_session) -> None:
    session = make_session(RuntimeError("kaputt"), "yes")
    late: list[Any] = []
    on_first(session, "iteration_started", lambda: late.append(session.submit_nowait("more", steer=True)))
    await session.submit("go")
    assert await settle(late[0]) == "yes"


async def test_hooks_hear_of_it_and_may_block_it(make_session) -> None:
    def refuse(event: dict[str, Any]) -> Any:
        return {"decision": "block", "reason": "not now"} if event["prompt"] == "psst" else None

    hooks = {"UserPromptSubmit": [{"hooks": [{"type": "callable", "callable": refuse}]}]}
    provider = ScriptedProvider(say(call("look")), "end")
    session = make_session(provider=provider, default_tools=[look], hooks=hooks)
    seen, late = acknowledged(session), []
    on_first(session, "tool_end", lambda: late.append(session.submit_nowait("psst", steer=True)))
    handle = await session.submit("go")
    assert (await handle.completed).response == "end"
    assert await settle(late[0]) == "PromptBlockedError"
    assert seen == [("dropped", late[0].turn_id)]
    assert [m.role for m in provider.requests[1].messages] == ["user", "assistant", "tool"]


async def test_no_more_wait_for_one_turn_than_the_queue_holds(make_session) -> None:
    session = make_session(say(call("look")), "end", default_tools=[look])
    late: list[Any] = []
    on_first(
        session, "tool_start",
        lambda: late.extend(session.submit_nowait(f"m{n}", steer=True) for n in range(33)),
    )  # fmt: skip
    handle = await session.submit("go")
    assert await settle(late[32]) == "dropped"
    assert await settle(late[0]) == await settle(handle) == "end"


async def test_waiting_for_it_from_inside_the_turn_is_refused(make_session) -> None:
    said: list[str] = []

    @tool(risk="inspect")
    async def impatient() -> str:
        """Waits for what comes after it."""
        try:
            await session.submit_nowait("more", steer=True).completed
        except Exception as error:
            said.append(type(error).__name__)
        return "done"

    session = make_session(say(call("impatient")), "end", default_tools=[impatient])
    async with asyncio.timeout(WAIT_S):
        await session.submit("go")
    assert said == ["WouldDeadlockError"]
