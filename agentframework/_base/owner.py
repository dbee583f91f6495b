"""Owner of background tasks: each task has one, and none outlives it."""

import asyncio
from collections.abc import Callable, Collection, Coroutine
from contextvars import Context
from typing import Any


class TaskOwner:
    """Keeps tasks alive, reports their faults, and ends them all in `close`.

    ``on_fault`` gets the name of a task and the exception it died of; without it faults go to the event
    loop's exception handler. A task that ignores its cancellation for ``grace_s`` seconds is left to the
    loop and named in the result of `close`.
    """

    __slots__ = ("_closed", "_on_fault", "_tasks")

    def __init__(self, on_fault: Callable[[str, BaseException], None] | None = None) -> None:
        # In order of their start. Most owners own nothing, and there are several of them in each idle session.
        self._tasks: dict[asyncio.Task[Any], None] | None = None
        self._on_fault = on_fault
        self._closed = False

    def __len__(self) -> int:
        return len(self._tasks or ())

    def start(
        self, work: Coroutine[Any, Any, Any], name: str, *, context: Context | None = None
    ) -> asyncio.Task[Any]:
        """Run ``work`` as a task of this owner, in ``context`` or a copy of the caller's.

        Raises ``RuntimeError`` after `close`.
        """
        if self._closed:
            work.close()
            raise RuntimeError(f"cannot start {name}: its owner is closed")
        return self.adopt(asyncio.get_running_loop().create_task(work, name=name, context=context))

    def adopt(self, task: asyncio.Task[Any]) -> asyncio.Task[Any]:
        """Take over a running task."""
        if self._tasks is None:
            self._tasks = {}
        self._tasks[task] = None
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        if self._tasks is not None:
            self._tasks.pop(task, None)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            return
        if self._on_fault is not None:
            self._on_fault(task.get_name(), error)
        else:
            task.get_loop().call_exception_handler(
                {"message": f"task {task.get_name()} failed", "exception": error, "task": task}
            )

    async def close(self, grace_s: float = 2.0, *, spare: Collection[asyncio.Task[Any]] = ()) -> list[str]:
        """Cancel every task but the calling one and those in ``spare``, and wait.

        Returns the names of those that did not stop.
        """
        self._closed = True
        current = asyncio.current_task()
        others = {task for task in self._tasks or () if task is not current and task not in spare}
        waiting = {task for task in others if not task.done()}
        for task in waiting:
            task.cancel()
        if waiting:
            await asyncio.wait(waiting, timeout=grace_s)
        return sorted(task.get_name() for task in waiting if not task.done())
