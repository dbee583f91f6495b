"""One task inside the registry: what changes while it runs, and how that is told to others."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from agentframework._base.bounded import head_and_tail
from agentframework._base.clock import now
from agentframework.abilities.background.log import TaskLog
from agentframework.tools.background import BackgroundTask, TaskEnd, TaskStatus

# Live output in events: not more often than this, and not more at once.
LIVE_INTERVAL_S = 0.1
LIVE_CHARACTERS = 2_000


class Entry:
    """Also the `agentframework.tools.background.TaskWriter` that the work of the task gets."""

    __slots__ = (
        "_before_read",
        "_emit",
        "_live",
        "_timer",
        "cancel_reason",
        "details",
        "ended_at",
        "id",
        "kind",
        "label",
        "log",
        "message",
        "receive",
        "started_at",
        "status",
        "task",
        "told",
    )

    def __init__(
        self,
        id: str,
        kind: str,
        label: str,
        details: dict[str, Any],
        started_at: float,
        emit: Callable[[str, Mapping[str, Any]], None],
        receive: Callable[[str], None] | None,
    ) -> None:
        self.id = id
        self.kind = kind
        self.label = label
        self.details = details
        self.started_at = started_at
        self.receive = receive
        self.ended_at: float | None = None
        self.status: TaskStatus = "running"
        self.message: str | None = None
        self.cancel_reason: str | None = None
        self.task: asyncio.Task[TaskEnd] | None = None
        self.told = False
        self.log = TaskLog()
        self._emit = emit
        self._before_read: Callable[[], None] | None = None
        self._live = ""
        self._timer: asyncio.TimerHandle | None = None

    # --- for the work -----------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Append to the output, and show it live a moment later."""
        if not text:
            return
        self.log.write(text)
        self._live = (self._live + text[-LIVE_CHARACTERS:])[-LIVE_CHARACTERS:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LIVE_INTERVAL_S, self._show)

    def before_read(self, callback: Callable[[], None]) -> None:
        """See `TaskWriter.before_read`."""
        self._before_read = callback

    def _show(self) -> None:
        text, self._live, self._timer = self._live, "", None
        self._emit("text_delta", {"id": self.id, "delta": text})

    # --- for the registry -------------------------------------------------------------------------------

    def bring_up_to_date(self) -> None:
        """Have the work write what it holds back."""
        if self._before_read is not None and self.status == "running":
            self._before_read()

    def end(self, status: TaskStatus, message: str, details: Mapping[str, Any]) -> None:
        """Settle the task, with its last live output before the event of its end."""
        if self._timer is not None:
            self._timer.cancel()
            self._show()
        self.status, self.message, self.ended_at = status, message, now()
        self.details = {**self.details, **details}
        self._emit(status, self.event_data())

    def snapshot(self) -> BackgroundTask:
        """The task as it is now."""
        return BackgroundTask(
            id=self.id,
            kind=self.kind,
            label=self.label,
            status=self.status,
            started_at=self.started_at,
            ended_at=self.ended_at,
            output_characters=self.log.total,
            message=self.message,
            details=dict(self.details),
        )

    def event_data(self) -> dict[str, Any]:
        """The task as events carry it."""
        return asdict(self.snapshot())

    def news(self) -> str:
        """The end of the task in one line, for the model."""
        seconds = (self.ended_at or now()) - self.started_at
        shown = head_and_tail(" ".join(self.label.split()), 120)
        return (
            f"Background task {self.id} ({shown}) has ended after {seconds:.0f} s: {self.status}, {self.message}. "
            f"It wrote {self.log.total:,} characters."
        )
