"""What tools may ask of the background tasks of their session, and what a task tells about itself.

The registry behind the port is an ability, which tools know nothing of; a tool that can start tasks gets the port from
the assembly, through `CanGoToBackground`.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from agentframework.tools.tool import Tool

TaskStatus = Literal["running", "completed", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundTask:
    """A task as it is at one moment.

    ``kind`` says what works (``process`` for shell commands), ``label`` names it for people; times are seconds since
    the epoch, ``output_characters`` is how much it has written so far, ``message`` how it ended, and ``details`` what
    else is to be known of its kind.
    """

    id: str
    kind: str
    label: str
    status: TaskStatus
    started_at: float
    ended_at: float | None
    output_characters: int
    message: str | None
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TaskOutput:
    """A piece of a task's output: characters ``offset`` to ``next_offset`` of ``total`` written so far.

    ``offset`` is later than what was asked for if the beginning is not kept any more.
    """

    text: str
    offset: int
    next_offset: int
    total: int


@dataclass(frozen=True, slots=True)
class TaskEnd:
    """How the work of a task ended; ``details`` are added to those of the task."""

    status: Literal["completed", "failed"]
    message: str
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])


class TaskWriter(Protocol):
    """Where the work of a task puts its output."""

    def write(self, text: str) -> None:
        """Append ``text`` to the output."""
        ...

    def before_read(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` before somebody reads, so that what is held back can be written."""
        ...


TaskWork = Callable[[TaskWriter], Coroutine[Any, Any, TaskEnd]]


class BackgroundTasks(Protocol):
    """The tasks of one session. Ids are given once. Raises `InvalidInputError` for an id that is not known."""

    def start(
        self, kind: str, label: str, work: TaskWork, *, details: Mapping[str, Any] | None = None
    ) -> BackgroundTask:
        """Begin ``work``, which is cancelled to end it. Raises `LimitExceededError` if too many run already."""
        ...

    def get(self, task_id: str) -> BackgroundTask:
        """The task as it is now."""
        ...

    def read(self, task_id: str, offset: int, limit: int) -> TaskOutput:
        """At most ``limit`` characters of its output from ``offset`` on; a negative one counts from the end."""
        ...

    async def cancel(self, task_id: str, reason: str) -> BackgroundTask:
        """End a task and wait for its end; one that has ended stays as it is."""
        ...

    def seen(self, task_id: str) -> None:
        """The model knows that the task has ended; it need not be told again."""
        ...


@runtime_checkable
class CanGoToBackground(Protocol):
    """A tool that can be made to start background tasks."""

    def with_background(self, tasks: BackgroundTasks) -> Tool:
        """The same tool, able to."""
        ...
