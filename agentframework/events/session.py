"""The session around its turns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from agentframework.events.base import BaseEvent
from agentframework.messages import ContextState


@dataclass(frozen=True, slots=True)
class SessionStarted(BaseEvent):
    """The session is ready."""

    type: ClassVar[str] = "session_started"
    cwd: str
    model: str
    permission_mode: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ContextUpdate(BaseEvent):
    """The window's state changed."""

    type: ClassVar[str] = "context_update"
    state: ContextState


@dataclass(frozen=True, slots=True)
class Compact(BaseEvent):
    """The conversation was shortened."""

    type: ClassVar[str] = "compact"
    trigger: Literal["manual", "auto"]
    before: ContextState
    after: ContextState


@dataclass(frozen=True, slots=True)
class SkillActivation(BaseEvent):
    """A skill is started, completed or failed."""

    type: ClassVar[str] = "skill_activation"
    skill_name: str
    source: Literal["skill", "plugin"]
    invocation: Literal["user-slash", "model-tool"]
    mode: Literal["inject", "fork"]
    status: Literal["started", "completed", "failed"]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class ContextFileRefreshed(BaseEvent):
    """An instruction file was read again because it changed."""

    type: ClassVar[str] = "context_file_refreshed"
    file_path: str


@dataclass(frozen=True, slots=True)
class SessionRenamed(BaseEvent):
    """The display name changed."""

    type: ClassVar[str] = "session_renamed"
    name: str


@dataclass(frozen=True, slots=True)
class HistoryCleared(BaseEvent):
    """The conversation starts anew."""

    type: ClassVar[str] = "history_cleared"


@dataclass(frozen=True, slots=True)
class HookError(BaseEvent):
    """A hook failed: which, at which event, why."""

    type: ClassVar[str] = "hook_error"
    hook: str
    hook_event: str
    message: str


@dataclass(frozen=True, slots=True)
class WarningEvent(BaseEvent):
    """Something is wrong that harms nothing yet."""

    type: ClassVar[str] = "warning"
    message: str
    source: str


@dataclass(frozen=True, slots=True)
class UiIntent(BaseEvent):
    """A command asks the requesting surface to show something."""

    type: ClassVar[str] = "ui_intent"
    intent: str
    requester_driver_id: str | None
    data: Mapping[str, Any] | None = None
