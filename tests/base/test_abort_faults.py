import asyncio
from typing import Any

import pytest

from agentframework._base.abort import AbortSignal, WorkCancelledError, run_abortable
from agentframework._base.owner import TaskOwner

WAIT_S = 10


async def test_work_that_cancels_itself_does_not_pass_for_a_cancellation_of_its_caller() -> None:
    async def work() -> None:
        raise asyncio.CancelledError("its own")

    with pytest.raises(WorkCancelledError, match="from within"):
        await run_abortable(work(), AbortSignal())


async def test_a_caller_that_is_cancelled_again_while_it_waits_loses_no_task() -> None:
    began, cancelled, release = asyncio.Event(), asyncio.Event(), asyncio.Event()
    kept: list[asyncio.Task[Any]] = []

    async def stubborn() -> str:
        began.set()
        while True:
            try:
                await release.wait()
                return "ended"
            except asyncio.CancelledError:
                cancelled.set()

    running = asyncio.ensure_future(run_abortable(stubborn(), AbortSignal(), grace_s=WAIT_S, abandon=kept.append))
    async with asyncio.timeout(WAIT_S):
        await began.wait()
        running.cancel()
        await cancelled.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        release.set()
        assert await kept[0] == "ended"


async def test_every_callback_is_told_of_an_abort_whatever_another_raises() -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
    signal, told = AbortSignal(), []

    def fail() -> None:
        raise ValueError("broken")

    signal.on_abort(lambda: told.append(1))
    signal.on_abort(fail)
    signal.on_abort(lambda: told.append(2))
    signal.abort("why")
    signal.abort("again")
    assert (told, signal.reason) == ([1, 2], "why")
    assert [str(context["exception"]) for context in complaints] == ["broken"]
    assert "fail" in complaints[0]["message"]


def test_an_abort_without_an_event_loop_tells_everybody_too() -> None:
    signal, told = AbortSignal(), []

    def fail() -> None:
        raise ValueError("broken")

    signal.on_abort(fail)
    signal.on_abort(lambda: told.append(1))
    signal.abort()
    assert told == [1]


async def test_an_owner_spares_whoever_waits_for_its_end() -> None:
    owner, closed = TaskOwner(), asyncio.Event()
    order: list[str] = []

    async def leave() -> None:
        await closed.wait()
        order.append("left")

    leaving = owner.start(leave(), "leaving")
    other = owner.start(asyncio.Event().wait(), "other")
    async with asyncio.timeout(WAIT_S):
        assert await owner.close(spare=[leaving]) == []
        assert (other.cancelled(), leaving.done()) == (True, False)
        closed.set()
        await leaving
    assert order == ["left"]
