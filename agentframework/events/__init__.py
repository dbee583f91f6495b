"""The event vocabulary: one frozen dataclass per event, joined here and nowhere else.

Families live in small files of their own. `Event` is the plain union (``get_args`` gives the classes) and
`EVENT_TYPES` maps each ``type`` to its class. Events are data: `to_dict` and `from_dict` convert to JSON
objects and back.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, get_args

from agentframework.events.base import BaseEvent
from agentframework.events.codec import event_from_dict, event_to_dict
from agentframework.events.mcp import (
    McpServerConfigurationChanged,
    McpServerStatus,
    McpStatus,
    McpToolCatalogUpdated,
    McpToolDiscovered,
)
from agentframework.events.session import (
    Compact,
    ContextFileRefreshed,
    ContextUpdate,
    HistoryCleared,
    HookError,
    SessionRenamed,
    SessionStarted,
    SkillActivation,
    UiIntent,
    WarningEvent,
)
from agentframework.events.stream import (
    ModelCompleted,
    RawModelEvent,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agentframework.events.tool import (
    AskRequest,
    Diff,
    DiffLine,
    Outcome,
    PermissionDecision,
    PermissionRequest,
    PromptResolved,
    ToolApprovalResult,
    ToolCallsDetected,
    ToolEnd,
    ToolProgress,
    ToolResults,
    ToolStart,
)
from agentframework.events.turn import (
    Complete,
    ErrorEvent,
    Interrupted,
    IterationStarted,
    LoopDetected,
    MaxIterationsReached,
    Retry,
    SteerResult,
    Thinking,
    TurnSource,
    TurnStarted,
    UserMessageEvent,
)
from agentframework.events.work import (
    BackgroundJobGroupEvent,
    BackgroundTaskEvent,
    BranchEvent,
    ExecutionWorkspaceEvent,
    GoalEvent,
    MemoryEvent,
    PlanEvent,
)

Event = (
    TextDelta
    | ThinkingDelta
    | ToolCallDelta
    | RawModelEvent
    | ModelCompleted
    | TurnStarted
    | IterationStarted
    | UserMessageEvent
    | Thinking
    | Complete
    | Interrupted
    | ErrorEvent
    | MaxIterationsReached
    | Retry
    | SteerResult
    | LoopDetected
    | ToolCallsDetected
    | ToolStart
    | ToolProgress
    | ToolEnd
    | ToolResults
    | PermissionRequest
    | AskRequest
    | PromptResolved
    | ToolApprovalResult
    | PermissionDecision
    | SessionStarted
    | ContextUpdate
    | Compact
    | SkillActivation
    | ContextFileRefreshed
    | SessionRenamed
    | HistoryCleared
    | HookError
    | WarningEvent
    | UiIntent
    | McpServerStatus
    | McpToolDiscovered
    | McpToolCatalogUpdated
    | McpServerConfigurationChanged
    | BackgroundTaskEvent
    | BackgroundJobGroupEvent
    | ExecutionWorkspaceEvent
    | GoalEvent
    | PlanEvent
    | BranchEvent
    | MemoryEvent
)

EVENT_TYPES: Mapping[str, type[BaseEvent]] = MappingProxyType({cls.type: cls for cls in get_args(Event)})

to_dict = event_to_dict


def from_dict(value: Mapping[str, Any]) -> BaseEvent | None:
    """The event of a JSON object, or None for a type this version does not know.

    Raises `agentframework.errors.InvalidInputError` naming a field that does not fit.
    """
    return event_from_dict(value, EVENT_TYPES)


def merge_deltas(first: BaseEvent, second: BaseEvent) -> BaseEvent | None:
    """One event for two neighbouring text or thinking deltas of one turn, or None."""
    if isinstance(first, TextDelta | ThinkingDelta) and type(first) is type(second):
        joined = first.text + getattr(second, "text", "")
        if first.turn_id == second.turn_id:
            return type(first)(first.session_id, first.turn_id, second.seq, second.time, joined)
    return None


__all__ = [
    "AskRequest",
    "BackgroundJobGroupEvent",
    "BackgroundTaskEvent",
    "BaseEvent",
    "BranchEvent",
    "Compact",
    "Complete",
    "ContextFileRefreshed",
    "ContextUpdate",
    "Diff",
    "DiffLine",
    "EVENT_TYPES",
    "ErrorEvent",
    "Event",
    "ExecutionWorkspaceEvent",
    "GoalEvent",
    "HistoryCleared",
    "HookError",
    "Interrupted",
    "IterationStarted",
    "LoopDetected",
    "MaxIterationsReached",
    "McpServerConfigurationChanged",
    "McpServerStatus",
    "McpStatus",
    "McpToolCatalogUpdated",
    "McpToolDiscovered",
    "MemoryEvent",
    "ModelCompleted",
    "Outcome",
    "PermissionDecision",
    "PermissionRequest",
    "PlanEvent",
    "PromptResolved",
    "RawModelEvent",
    "Retry",
    "SessionRenamed",
    "SessionStarted",
    "SkillActivation",
    "SteerResult",
    "TextDelta",
    "Thinking",
    "ThinkingDelta",
    "ToolApprovalResult",
    "ToolCallDelta",
    "ToolCallsDetected",
    "ToolEnd",
    "ToolProgress",
    "ToolResults",
    "ToolStart",
    "TurnSource",
    "TurnStarted",
    "UiIntent",
    "UserMessageEvent",
    "WarningEvent",
    "from_dict",
    "merge_deltas",
    "to_dict",
]
