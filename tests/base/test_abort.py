import asyncio
import contextlib

import pytest

from agentframework._base.abort import AbortedError, AbortSignal, run_abortable


async def forever() -> None:
    await asyncio.Event().wait()


async def test_work_that_ends_gives_its_result() -> None:
    async def work() -> int:
        return 7

    assert await run_abortable(work(), AbortSignal()) == 7


async def test_abort_cancels_the_work_and_raises() -> None:
    abort, cancelled = AbortSignal(), asyncio.Event()

    async def work() -> None:
        try:
            await forever()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    running = asyncio.ensure_future(run_abortable(work(), abort))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    abort.abort("stop")
    with pytest.raises(AbortedError, match="stop"):
        await running
    assert cancelled.is_set()


async def test_work_that_swallows_its_cancellation_is_still_interrupted() -> None:
    abort, began = AbortSignal(), asyncio.Event()

    async def work() -> str:
        began.set()
        with contextlib.suppress(asyncio.CancelledError):
            await forever()
        return "finished anyway"

    running = asyncio.ensure_future(run_abortable(work(), abort))
    await began.wait()
    abort.abort()
    with pytest.raises(AbortedError):
        await running


async def test_stubborn_work_is_handed_to_its_owner_after_the_grace() -> None:
    abort, began, release = AbortSignal(), asyncio.Event(), asyncio.Event()
    abandoned: list[asyncio.Task[None]] = []

    async def work() -> None:
        began.set()
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    running = asyncio.ensure_future(run_abortable(work(), abort, grace_s=0.05, abandon=abandoned.append))
    await began.wait()
    abort.abort()
    with pytest.raises(AbortedError):
        await running
    assert len(abandoned) == 1
    assert not abandoned[0].done()
    release.set()
    await abandoned[0]


async def test_cancelling_the_caller_cancels_the_work() -> None:
    began, cancelled = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        try:
            await forever()
        finally:
            cancelled.set()

    running = asyncio.ensure_future(run_abortable(work(), AbortSignal()))
    await began.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert cancelled.is_set()


async def test_an_aborted_signal_never_starts_the_work() -> None:
    abort = AbortSignal()
    abort.abort()
    started = False

    async def work() -> None:
        nonlocal started
        started = True

    with pytest.raises(AbortedError):
        await run_abortable(work(), abort)
    assert not started


async def test_callbacks_run_once_and_can_be_taken_back() -> None:
    abort = AbortSignal()
    calls: list[str] = []
    abort.on_abort(lambda: calls.append("kept"))
    abort.on_abort(lambda: calls.append("taken back"))()
    abort.abort("first")
    abort.abort("second")
    abort.on_abort(lambda: calls.append("late"))
    assert calls == ["kept", "late"]
    assert abort.reason == "first"
    await abort.wait()
