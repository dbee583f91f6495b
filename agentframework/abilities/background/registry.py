"""The background tasks of one session: started, watched, ended, and told about.

Each task is an asyncio task of this registry and ends with it at the latest. Whoever asks gets snapshots; whoever
listens gets one event for the start, live output now and then, and exactly one event for the end. The model is told of
each end once, with the next request, unless it has seen it already.
"""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from agentframework._base.clock import now
from agentframework._base.owner import TaskOwner
from agentframework.abilities.background.entry import Entry
from agentframework.errors import InvalidInputError, LimitExceededError, SessionClosedError
from agentframework.tools.background import BackgroundTask, TaskEnd, TaskOutput, TaskStatus, TaskWork

MAX_RUNNING = 16
# Of those that have ended, the newest are kept with their output.
MAX_ENDED = 64
CANCEL_WAIT_S = 5.0

Emit = Callable[[str, Mapping[str, Any]], None]
Receive = Callable[[str], None]


class BackgroundRegistry:
    """Implements `agentframework.tools.background.BackgroundTasks`. ``emit`` gets what happened and to what."""

    __slots__ = ("_closed", "_count", "_emit", "_entries", "_owner")

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._entries: dict[str, Entry] = {}
        self._owner = TaskOwner()
        self._count = 0
        self._closed = False

    # --- life of a task ---------------------------------------------------------------------------------

    def start(
        self,
        kind: str,
        label: str,
        work: TaskWork,
        *,
        details: Mapping[str, Any] | None = None,
        receive: Receive | None = None,
    ) -> BackgroundTask:
        """Begin ``work``; it is cancelled to end it. ``receive`` takes what is sent to the task.

        Raises `LimitExceededError` if `MAX_RUNNING` tasks run already, `SessionClosedError` after `close`.
        """
        if self._closed:
            raise SessionClosedError("the session is shut down; nothing can be started in it")
        if len(self.tasks(status="running")) >= MAX_RUNNING:
            raise LimitExceededError(
                f"{MAX_RUNNING} background tasks run already; end one of them first",
                details={"limit": "background_tasks", "value": MAX_RUNNING},
            )
        self._count += 1
        entry = Entry(f"task_{self._count}", kind, label, dict(details or {}), now(), self._emit, receive)
        self._entries[entry.id] = entry
        self._emit("created", entry.event_data())
        entry.task = self._owner.start(_settled(work, entry), f"background {entry.id}")
        # Whatever way it ends, also one that was cancelled before its first step.
        entry.task.add_done_callback(partial(self._ended, entry))
        self._emit("started", entry.event_data())
        return entry.snapshot()

    def _ended(self, entry: Entry, task: "asyncio.Task[TaskEnd]") -> None:
        if task.cancelled():
            entry.end("cancelled", entry.cancel_reason or "cancelled", {})
        else:
            end = task.result()
            entry.end(end.status, end.message, end.details)
        ended = [other.id for other in self._entries.values() if other.status != "running"]
        for task_id in ended[:-MAX_ENDED]:
            self._forget(task_id)

    async def cancel(self, task_id: str, reason: str = "cancelled") -> BackgroundTask:
        """End a task and wait until it is over; one that has ended stays as it is."""
        entry = self._entry(task_id)
        await self._put_down([entry], reason)
        return entry.snapshot()

    async def _put_down(self, entries: list[Entry], reason: str) -> None:
        tasks = {entry.task for entry in entries if entry.task is not None and not entry.task.done()}
        for entry in entries:
            if entry.task in tasks and entry.cancel_reason is None:
                entry.cancel_reason = reason
                entry.task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CANCEL_WAIT_S)

    def close_task(self, task_id: str) -> None:
        """Forget a task that has ended. Raises `InvalidInputError` if it runs."""
        entry = self._entry(task_id)
        if entry.status == "running":
            raise InvalidInputError(f"{task_id} is running; cancel it first", details={"task_id": task_id})
        self._forget(task_id)

    def _forget(self, task_id: str) -> None:
        entry = self._entries.pop(task_id)
        entry.log.close()
        self._emit("closed", {"id": task_id})

    async def close(self) -> None:
        """End every task, all at once, and forget their output. Nothing can be started any more."""
        self._closed = True
        entries = list(self._entries.values())
        await self._put_down(entries, "the session ended")
        await self._owner.close()
        for entry in entries:
            entry.log.close()

    # --- what is known of them --------------------------------------------------------------------------

    def get(self, task_id: str) -> BackgroundTask:
        """The task as it is now."""
        return self._entry(task_id).snapshot()

    def tasks(self, *, kind: str | None = None, status: TaskStatus | None = None) -> list[BackgroundTask]:
        """The tasks in the order of their start, of one kind or status if asked for."""
        return [
            entry.snapshot()
            for entry in self._entries.values()
            if kind in (None, entry.kind) and status in (None, entry.status)
        ]

    def read(self, task_id: str, offset: int = 0, limit: int = 30_000) -> TaskOutput:
        """See `BackgroundTasks.read`."""
        entry = self._entry(task_id)
        entry.bring_up_to_date()
        return entry.log.read(offset, limit)

    def send(self, task_id: str, text: str) -> None:
        """Give a running task something to work on. Raises `InvalidInputError` if it takes nothing."""
        entry = self._entry(task_id)
        if entry.status != "running" or entry.receive is None:
            why = "has ended" if entry.status != "running" else "takes no input"
            raise InvalidInputError(f"{task_id} {why}", details={"task_id": task_id})
        entry.receive(text)

    # --- what the model is told -------------------------------------------------------------------------

    def seen(self, task_id: str) -> None:
        """The model knows how this task ended."""
        entry = self._entry(task_id)
        entry.told = entry.told or entry.status != "running"

    def take_news(self) -> list[str]:
        """One line for each task that has ended since the last call and that the model has not seen end."""
        fresh = [entry for entry in self._entries.values() if entry.status != "running" and not entry.told]
        for entry in fresh:
            entry.told = True
        return [entry.news() for entry in fresh]

    def _entry(self, task_id: str) -> Entry:
        entry = self._entries.get(task_id)
        if entry is None:
            known = ", ".join(self._entries) or "there are none"
            raise InvalidInputError(
                f"no background task {task_id!r}; known are: {known}", details={"task_id": task_id}
            )
        return entry


async def _settled(work: TaskWork, entry: Entry) -> TaskEnd:
    try:
        return await work(entry)
    except Exception as error:
        return TaskEnd("failed", f"{type(error).__name__}: {error}")
