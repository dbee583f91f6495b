"""Tool calls: detected, decided, run, answered."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from agentframework.events.base import BaseEvent
from agentframework.messages import ToolCall, ToolResultPart

Outcome = Literal["success", "error", "denied", "blocked", "interrupted"]
AnswerScope = Literal["once", "session", "project"]
DecidedBy = Literal["rule", "mode", "read-only", "hook", "classifier", "handler", "person", "nobody"]


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of an edit's diff: ``kind`` is hunk, context, remove or add; ``line`` counts from 1."""

    kind: Literal["hunk", "context", "remove", "add"]
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Diff:
    """What an edit changed in ``path``."""

    path: str
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class ToolCallsDetected(BaseEvent):
    """The model's reply asks for these calls."""

    type: ClassVar[str] = "tool_calls_detected"
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class ToolStart(BaseEvent):
    """A call passed the gate and begins to run. ``first_arg`` is one line for display."""

    type: ClassVar[str] = "tool_start"
    tool_use_id: str
    tool_name: str
    tool_input: Mapping[str, Any]
    first_arg: str


@dataclass(frozen=True, slots=True)
class ToolProgress(BaseEvent):
    """Live output or a progress report of a running call."""

    type: ClassVar[str] = "tool_progress"
    tool_use_id: str
    tool_name: str
    text: str
    progress: float | None = None
    total: float | None = None


@dataclass(frozen=True, slots=True)
class ToolEnd(BaseEvent):
    """A call has its result. Always emitted; `ToolStart` came before unless it was denied or blocked."""

    type: ClassVar[str] = "tool_end"
    tool_use_id: str
    tool_name: str
    tool_input: Mapping[str, Any]
    first_arg: str
    outcome: Outcome
    result: str
    duration_ms: float
    diff: Diff | None = None


@dataclass(frozen=True, slots=True)
class ToolResults(BaseEvent):
    """The results of one round, in the order of the calls."""

    type: ClassVar[str] = "tool_results"
    results: tuple[ToolResultPart, ...]


@dataclass(frozen=True, slots=True)
class PermissionRequest(BaseEvent):
    """A call waits for an answer: ``session.resolve_permission(event.id, answer)``.

    ``reason`` says why it is asked; ``suggestions`` are narrow rules that would cover it. ``scopes`` are those that a
    yes may have: only ``"once"`` for what is asked about every time.
    """

    type: ClassVar[str] = "permission_request"
    id: str
    tool_name: str
    tool_args: Mapping[str, Any]
    tool_use_id: str
    reason: str
    suggestions: tuple[str, ...]
    requester_driver_id: str | None
    scopes: tuple[AnswerScope, ...] = ("once", "session", "project")


@dataclass(frozen=True, slots=True)
class AskRequest(BaseEvent):
    """Questions for a person: ``session.resolve_ask(event.id, response)``."""

    type: ClassVar[str] = "ask_request"
    id: str
    questions: tuple[Mapping[str, Any], ...]
    requester_driver_id: str | None


@dataclass(frozen=True, slots=True)
class PromptResolved(BaseEvent):
    """A permission request or question is settled, by whom."""

    type: ClassVar[str] = "prompt_resolved"
    id: str
    answerer_driver_id: str | None


@dataclass(frozen=True, slots=True)
class ToolApprovalResult(BaseEvent):
    """The answers of a batch approval, in the order of the calls it was asked about."""

    type: ClassVar[str] = "tool_approval_result"
    approvals: tuple[Mapping[str, Any], ...]
    stop_after_execution: bool


@dataclass(frozen=True, slots=True)
class PermissionDecision(BaseEvent):
    """How the gate decided a call, which stage decided, and whose word that was; carries no arguments.

    ``decided_by``: a rule or an earlier answer, the mode, the read-only set, a hook, the classifier, the handler of
    the host, the person who answered the request, or nobody (unusable arguments, no listener, an abort, a fault).
    """

    type: ClassVar[str] = "permission_decision"
    tool_use_id: str
    tool_name: str
    decision: Literal["allow", "deny", "redirect"]
    reason: str
    stage: str
    rule: str | None
    decided_by: DecidedBy
