import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from agentframework.abilities.background import BackgroundRegistry
from agentframework.abilities.background.registry import MAX_ENDED, MAX_RUNNING
from agentframework.errors import InvalidInputError, LimitExceededError, SessionClosedError
from agentframework.tools.background import TaskEnd, TaskWriter

WAIT_S = 10


class Told:
    """What a registry has told, and a way to wait for more of it."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Mapping[str, Any]]] = []
        self._more = asyncio.Event()

    def __call__(self, kind: str, data: Mapping[str, Any]) -> None:
        self.events.append((kind, data))
        self._more.set()

    def kinds(self, task_id: str) -> list[str]:
        return [kind for kind, data in self.events if data["id"] == task_id]

    async def until(self, kind: str, task_id: str) -> Mapping[str, Any]:
        async with asyncio.timeout(WAIT_S):
            while True:
                for had, data in self.events:
                    if had == kind and data["id"] == task_id:
                        return data
                self._more.clear()
                await self._more.wait()


async def forever(writer: TaskWriter) -> TaskEnd:
    await asyncio.Event().wait()
    raise AssertionError("never set")


async def hello(writer: TaskWriter) -> TaskEnd:
    writer.write("hello")
    return TaskEnd("completed", "said hello", {"words": 1})


async def test_a_task_tells_of_its_start_its_output_and_once_of_its_end() -> None:
    told = Told()
    registry = BackgroundRegistry(told)
    task = registry.start("process", "greet", hello, details={"command": "x"})
    assert (task.id, task.kind, task.label, task.status) == ("task_1", "process", "greet", "running")
    data = await told.until("completed", "task_1")
    assert told.kinds("task_1") == ["created", "started", "text_delta", "completed"]
    assert (data["message"], data["details"]) == ("said hello", {"command": "x", "words": 1})
    assert data["ended_at"] >= data["started_at"]
    assert registry.read("task_1").text == "hello"
    await registry.close()


async def test_a_task_that_is_cancelled_before_its_first_step_ends_too() -> None:
    told = Told()
    registry = BackgroundRegistry(told)
    registry.start("process", "x", forever)
    after = await registry.cancel("task_1", "not wanted")
    assert (after.status, after.message) == ("cancelled", "not wanted")
    assert (await registry.cancel("task_1", "again")).message == "not wanted"
    assert told.kinds("task_1") == ["created", "started", "cancelled"]
    await registry.close()


async def test_a_fault_of_the_work_is_a_failed_task() -> None:
    async def broken(writer: TaskWriter) -> TaskEnd:
        raise RuntimeError("kaputt")

    told = Told()
    registry = BackgroundRegistry(told)
    registry.start("agent", "x", broken)
    data = await told.until("failed", "task_1")
    assert data["message"] == "RuntimeError: kaputt"
    await registry.close()


async def test_close_ends_all_tasks_and_nothing_starts_any_more() -> None:
    told = Told()
    registry = BackgroundRegistry(told)
    for _ in range(3):
        registry.start("process", "x", forever)
    await registry.close()
    assert [task.status for task in registry.tasks()] == ["cancelled"] * 3
    with pytest.raises(SessionClosedError):
        registry.start("process", "x", forever)


async def test_the_model_is_told_of_each_end_once_unless_it_has_seen_it() -> None:
    told = Told()
    registry = BackgroundRegistry(told)
    registry.start("process", "npm run\ndev", hello)
    registry.start("process", "seen", hello)
    await told.until("completed", "task_2")
    registry.seen("task_2")
    (line,) = registry.take_news()
    assert line.startswith("Background task task_1 (npm run dev) has ended after 0 s: completed, said hello.")
    assert registry.take_news() == []
    registry.start("process", "x", forever)
    registry.seen("task_3")  # it runs: nothing to have seen
    await registry.cancel("task_3")
    assert len(registry.take_news()) == 1
    await registry.close()


async def test_only_so_many_run_and_only_so_many_that_ended_are_kept() -> None:
    told = Told()
    registry = BackgroundRegistry(told)
    for _ in range(MAX_RUNNING):
        registry.start("process", "x", forever)
    with pytest.raises(LimitExceededError, match="end one of them first"):
        registry.start("process", "x", forever)
    await registry.cancel("task_1")
    for _ in range(MAX_ENDED + 1):
        task = registry.start("process", "x", hello)
        await told.until("completed", task.id)
    assert len(registry.tasks()) == MAX_RUNNING - 1 + MAX_ENDED
    assert [task.status for task in registry.tasks(status="running")] == ["running"] * (MAX_RUNNING - 1)
    with pytest.raises(InvalidInputError, match="no background task 'task_1'"):
        registry.get("task_1")
    await registry.close()


async def test_a_task_that_ended_can_be_forgotten_and_a_running_one_cannot() -> None:
    told = Told()
    registry = BackgroundRegistry(told)
    registry.start("process", "x", forever)
    with pytest.raises(InvalidInputError, match="cancel it first"):
        registry.close_task("task_1")
    await registry.cancel("task_1")
    registry.close_task("task_1")
    assert told.kinds("task_1")[-1] == "closed"
    assert registry.tasks() == []
    with pytest.raises(InvalidInputError):
        registry.read("task_1")
    await registry.close()


async def test_a_task_takes_input_if_its_work_does() -> None:
    got: list[str] = []
    registry = BackgroundRegistry(Told())
    registry.start("agent", "x", forever, receive=got.append)
    registry.start("process", "x", forever)
    registry.send("task_1", "go on")
    assert got == ["go on"]
    with pytest.raises(InvalidInputError, match="takes no input"):
        registry.send("task_2", "y")
    await registry.cancel("task_1")
    with pytest.raises(InvalidInputError, match="has ended"):
        registry.send("task_1", "y")
    await registry.close()
