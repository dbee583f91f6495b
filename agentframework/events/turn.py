"""The course of a turn."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from agentframework.errors import ErrorInfo
from agentframework.events.base import BaseEvent
from agentframework.messages import ExecutionResult, RunResult

TurnSource = Literal["user", "agent-wakeup", "peer"]


@dataclass(frozen=True, slots=True)
class TurnStarted(BaseEvent):
    """A turn has begun, for which driver and on whose account."""

    type: ClassVar[str] = "turn_started"
    driver_id: str
    source: TurnSource


@dataclass(frozen=True, slots=True)
class IterationStarted(BaseEvent):
    """A model request is about to be made; counted from 1 in each turn."""

    type: ClassVar[str] = "iteration_started"
    iteration: int


@dataclass(frozen=True, slots=True)
class UserMessageEvent(BaseEvent):
    """What was said, as it is displayed; also notices about the queue."""

    type: ClassVar[str] = "user_message"
    content: str


@dataclass(frozen=True, slots=True)
class Thinking(BaseEvent):
    """True while a turn holds the session."""

    type: ClassVar[str] = "thinking"
    active: bool


@dataclass(frozen=True, slots=True)
class Complete(BaseEvent):
    """The turn ended with an answer."""

    type: ClassVar[str] = "complete"
    result: ExecutionResult | RunResult


@dataclass(frozen=True, slots=True)
class Interrupted(BaseEvent):
    """The turn was stopped; what had been said is kept."""

    type: ClassVar[str] = "interrupted"
    result: ExecutionResult | RunResult


@dataclass(frozen=True, slots=True)
class ErrorEvent(BaseEvent):
    """The turn, or work beside it, failed."""

    type: ClassVar[str] = "error"
    error: ErrorInfo


@dataclass(frozen=True, slots=True)
class MaxIterationsReached(BaseEvent):
    """The turn used up its model rounds."""

    type: ClassVar[str] = "max_iterations_reached"
    iterations: int


@dataclass(frozen=True, slots=True)
class Retry(BaseEvent):
    """A model request failed and will be made again after ``delay_s`` seconds."""

    type: ClassVar[str] = "retry"
    attempt: int
    delay_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class SteerResult(BaseEvent):
    """What became of a message meant for the running turn."""

    type: ClassVar[str] = "steer_result"
    status: Literal["applied", "queued", "dropped"]
    steer_id: str


@dataclass(frozen=True, slots=True)
class LoopDetected(BaseEvent):
    """The model repeats the same call with the same result."""

    type: ClassVar[str] = "loop_detected"
    tool_name: str
    count: int
