"""What arrives from the model while it speaks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from agentframework.events.base import BaseEvent
from agentframework.messages import AssistantMessage, Usage


@dataclass(frozen=True, slots=True)
class TextDelta(BaseEvent):
    """A piece of the reply's text."""

    type: ClassVar[str] = "text_delta"
    text: str


@dataclass(frozen=True, slots=True)
class ThinkingDelta(BaseEvent):
    """A piece of the model's reasoning."""

    type: ClassVar[str] = "thinking_delta"
    text: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta(BaseEvent):
    """A piece of a tool call's arguments, as JSON text."""

    type: ClassVar[str] = "tool_call_delta"
    tool_use_id: str
    name: str
    partial_json: str


@dataclass(frozen=True, slots=True)
class RawModelEvent(BaseEvent):
    """An event of the provider's stream as it came, if asked for."""

    type: ClassVar[str] = "raw_model_event"
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ModelCompleted(BaseEvent):
    """The model's reply is whole."""

    type: ClassVar[str] = "model_completed"
    message: AssistantMessage
    stop_reason: str | None
    usage: Usage
