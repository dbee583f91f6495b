"""A session's side of background tasks: which there are, what they wrote, and how they are ended."""

from agentframework.assembly import Parts
from agentframework.tools.background import BackgroundTask, TaskOutput, TaskStatus


class SessionBackground:
    """Part of `InteractiveSession`; works on its ``_parts``. Unknown task ids raise `InvalidInputError`."""

    _parts: Parts

    def list_background_tasks(
        self, *, kind: str | None = None, status: TaskStatus | None = None
    ) -> list[BackgroundTask]:
        """The background tasks in the order of their start, all or of one kind or status."""
        return self._parts.background.tasks(kind=kind, status=status)

    def get_background_task(self, task_id: str) -> BackgroundTask:
        """The task as it is now."""
        return self._parts.background.get(task_id)

    async def cancel_background_task(self, task_id: str, reason: str = "cancelled by the user") -> BackgroundTask:
        """End a task and wait for its end; one that has ended stays as it is."""
        return await self._parts.background.cancel(task_id, reason)

    def close_background_task(self, task_id: str) -> None:
        """Forget a task that has ended, with its output. Raises `InvalidInputError` if it still runs."""
        self._parts.background.close_task(task_id)

    def send_background_task(self, task_id: str, text: str) -> None:
        """Give a running task something to work on. Raises `InvalidInputError` if it takes nothing: shell commands
        have no input."""
        self._parts.background.send(task_id, text)

    def read_background_task_log(self, task_id: str, cursor: int = 0, *, limit: int = 30_000) -> TaskOutput:
        """At most ``limit`` characters of a task's output from character ``cursor`` on; ``next_offset`` of the answer
        is the next cursor. A negative one counts from the end."""
        return self._parts.background.read(task_id, cursor, limit)
