"""Work beside the main thread: background tasks, groups, goals, plans, branches, memory.

Each carries a ``kind`` (what happened) and ``data`` (the state of the thing it happened to).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from agentframework.events.base import BaseEvent


@dataclass(frozen=True, slots=True)
class WorkEvent(BaseEvent):
    """Base of this family."""

    type: ClassVar[str]
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class BackgroundTaskEvent(WorkEvent):
    """A background task was created, started, wrote, or ended."""

    type: ClassVar[str] = "background_task_event"


@dataclass(frozen=True, slots=True)
class BackgroundJobGroupEvent(WorkEvent):
    """A group of tasks was created, changed, or is complete."""

    type: ClassVar[str] = "background_job_group_event"


@dataclass(frozen=True, slots=True)
class ExecutionWorkspaceEvent(WorkEvent):
    """The combined view of main thread, tasks and groups changed."""

    type: ClassVar[str] = "execution_workspace_event"


@dataclass(frozen=True, slots=True)
class GoalEvent(WorkEvent):
    """A goal was started, made progress, or stopped."""

    type: ClassVar[str] = "goal_event"


@dataclass(frozen=True, slots=True)
class PlanEvent(WorkEvent):
    """A plan was created, approved, changed, or reverted."""

    type: ClassVar[str] = "plan_event"


@dataclass(frozen=True, slots=True)
class BranchEvent(WorkEvent):
    """A checkpoint was created or restored, or a branch forked or switched."""

    type: ClassVar[str] = "branch_event"


@dataclass(frozen=True, slots=True)
class MemoryEvent(WorkEvent):
    """A memory candidate was found, saved, skipped, or recalled."""

    type: ClassVar[str] = "memory_event"
