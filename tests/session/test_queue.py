import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework import TurnNotRunError, is_turn_not_run_error
from agentframework.messages import user_text
from agentframework.session.queue import QUEUE_CAPACITY, Prompt, PromptQueue
from agentframework.session.turn_handle import TurnHandle
from agentframework.testing import say

WAIT_S = 10


async def outcome(handle: TurnHandle) -> str:
    """The response, or the reason why the turn did not run."""
    async with asyncio.timeout(WAIT_S):
        await handle.wait_settled()
    try:
        return (await handle.completed).response
    except TurnNotRunError as error:
        return error.reason if is_turn_not_run_error(error) and error.turn_id == handle.turn_id else "a wrong error"


async def test_a_newer_prompt_of_a_driver_replaces_the_waiting_one_in_place(make_session) -> None:
    gate = asyncio.Event()
    session = make_session(say("1", gate), "to p3", "to q1")
    p1 = session.submit_nowait("p1")
    p2 = session.submit_nowait("p2", driver_id="owner")
    q1 = session.submit_nowait("q1", driver_id="other")
    p3 = session.submit_nowait("p3", driver_id="owner")
    assert (session.get_pending_count(), session.get_pending_prompt()) == (2, "p3")
    gate.set()
    assert [await outcome(handle) for handle in (p1, p2, p3, q1)] == ["1", "coalesced", "to p3", "to q1"]


async def test_the_driver_of_the_running_turn_is_known(make_session) -> None:
    gate = asyncio.Event()
    session = make_session(say(gate, "1"))
    handle = session.submit_nowait("x", driver_id="alice")
    assert (session.get_active_driver_id(), session.is_executing()) == ("alice", True)
    gate.set()
    await handle.completed
    assert session.get_active_driver_id() is None


async def test_a_full_queue_drops_the_newcomer_with_a_notice_but_takes_a_replacement(make_session) -> None:
    gate = asyncio.Event()
    session = make_session(say(gate, "1"))
    notices: list[str] = []
    session.on("user_message", lambda event: notices.append(event.content))
    running = session.submit_nowait("running")
    waiting = [session.submit_nowait("w", driver_id=f"d{number}") for number in range(QUEUE_CAPACITY)]
    late = session.submit_nowait("late", driver_id="one too many")
    replacement = session.submit_nowait("w2", driver_id="d0")
    assert await outcome(late) == "dropped"
    assert await outcome(waiting[0]) == "coalesced"
    assert any("one too many was dropped" in notice for notice in notices)
    session.cancel_queue()
    assert {await outcome(handle) for handle in [*waiting[1:], replacement]} == {"cancelled"}
    assert session.is_executing()
    gate.set()
    assert await outcome(running) == "1"


async def test_abort_clears_the_queue(make_session) -> None:
    session = make_session(say("1", asyncio.Event()))
    running = session.submit_nowait("a")
    waiting = session.submit_nowait("b", driver_id="bob")
    session.abort()
    assert await outcome(waiting) == "cancelled"
    assert (await running.completed).interrupted


@pytest.mark.parametrize("moment", ["turn_started", "iteration_started", "text_delta", "complete", "context_update"])
async def test_prompts_that_arrive_at_any_moment_of_a_turn_are_run(make_session, moment: str) -> None:
    session = make_session("1", "to p3", "to q1")
    late: list[TurnHandle] = []

    def arrive(_event: Any) -> None:
        late.append(session.submit_nowait("p2"))
        late.append(session.submit_nowait("p3"))
        late.append(session.submit_nowait("q1", driver_id="other"))

    session.once(moment, arrive)
    await session.submit("p1")
    assert [await outcome(handle) for handle in late] == ["coalesced", "to p3", "to q1"]
    assert session.get_pending_count() == 0


async def test_a_prompt_right_after_the_end_is_not_overtaken(make_session) -> None:
    session = make_session("1", "2")
    first = session.submit_nowait("a")
    await first.completed
    assert await outcome(session.submit_nowait("b")) == "2"


async def test_two_prompts_in_one_tick_never_run_at_once(make_session) -> None:
    session = make_session(*[str(number) for number in range(10)])
    active = 0
    most = 0

    def begin(_event: Any) -> None:
        nonlocal active, most
        active += 1
        most = max(most, active)

    def end(_event: Any) -> None:
        nonlocal active
        active -= 1

    session.on("turn_started", begin)
    session.on("complete", end)
    handles = [session.submit_nowait("x", driver_id=str(number)) for number in range(10)]
    assert [await outcome(handle) for handle in handles] == [str(number) for number in range(10)]
    assert most == 1


actions = st.lists(
    st.one_of(
        st.tuples(st.just("offer"), st.sampled_from("abcd")), st.just(("take", "")), st.just(("clear", ""))
    ),
    max_size=40,
)


@given(actions, st.integers(1, 3))
def test_every_prompt_leaves_the_queue_exactly_once(steps: list[tuple[str, str]], capacity: int) -> None:
    async def play() -> None:
        queue = PromptQueue(capacity)
        offered: list[Prompt] = []
        taken: list[Prompt] = []
        for kind, driver in steps:
            if kind == "offer":
                handle = TurnHandle(str(len(offered)), lambda _handle: False)
                prompt = Prompt(handle, user_text("x"), "x", "x", driver)
                offered.append(prompt)
                queue.offer(prompt)
            elif kind == "take":
                prompt = queue.take()
                if prompt is not None:
                    assert not prompt.handle.settled
                    taken.append(prompt)
            else:
                queue.clear()
            drivers = [prompt.driver_id for prompt in queue._waiting]
            assert len(drivers) == len(set(drivers)) <= capacity
        for prompt in offered:
            places = (prompt in taken) + (prompt in queue._waiting) + prompt.handle.settled
            assert places == 1

    asyncio.run(play())
