import asyncio

import pytest

from agentframework._base.owner import TaskOwner


async def test_close_cancels_every_task_and_names_those_that_do_not_stop() -> None:
    owner, release = TaskOwner(), asyncio.Event()

    async def stubborn() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    obedient = owner.start(asyncio.Event().wait(), "obedient")
    left = owner.start(stubborn(), "stubborn")
    await asyncio.sleep(0)
    assert await owner.close(grace_s=0.05) == ["stubborn"]
    assert obedient.cancelled()
    release.set()
    await left


async def test_a_failing_task_is_reported_with_its_name() -> None:
    faults: list[tuple[str, str]] = []
    owner = TaskOwner(on_fault=lambda name, error: faults.append((name, str(error))))

    async def fail() -> None:
        raise ValueError("why")

    task = owner.start(fail(), "the task")
    await asyncio.wait([task])
    assert faults == [("the task", "why")]
    assert len(owner) == 0


async def test_nothing_starts_after_close() -> None:
    owner = TaskOwner()
    await owner.close()
    with pytest.raises(RuntimeError, match="cannot start late"):
        owner.start(asyncio.sleep(0), "late")
