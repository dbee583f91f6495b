"""Messages of a conversation, in the form that every provider adapter translates from.

A conversation is a sequence of `UserMessage`, `AssistantMessage` and `ToolMessage`; the system prompt is not
part of it. Messages are immutable, so each is translated to a provider's wire bytes once and the bytes are
kept beside it (`wire`): a request is then a join of fragments, however long the conversation is.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from agentframework._base.clock import now
from agentframework._base.ids import new_id
from agentframework.messages.content import (
    AssistantPart,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResultPart,
    UserPart,
)
from agentframework.messages.usage import Usage


def _message_id() -> str:
    return new_id("msg")


@dataclass(frozen=True, slots=True)
class _WireCache:
    _wire: dict[str, bytes] = field(default_factory=dict[str, bytes], init=False, repr=False, compare=False)

    def has_wire(self, key: str) -> bool:
        """Whether this message's bytes for the API named ``key`` are made."""
        return key in self._wire

    def wire(self, key: str, encode: Callable[[Any], bytes]) -> bytes:
        """Bytes of this message for the API named ``key``, made by ``encode`` at first use."""
        cached = self._wire.get(key)
        if cached is None:
            cached = self._wire[key] = encode(self)
        return cached


@dataclass(frozen=True, slots=True)
class UserMessage(_WireCache):
    """What a person (or a wake-up) said. ``state`` ``interrupted``: it failed for good and is not sent again, nor is
    what its turn had come to by then."""

    content: tuple[UserPart, ...]
    id: str = field(default_factory=_message_id)
    timestamp: float = field(default_factory=now)
    state: Literal["complete", "interrupted"] = "complete"
    role: Literal["user"] = "user"

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return _text(self.content)


@dataclass(frozen=True, slots=True)
class AssistantMessage(_WireCache):
    """One reply of the model. ``origin`` names the API that produced it (thinking is only valid there)."""

    content: tuple[AssistantPart, ...]
    model: str = ""
    origin: str = ""
    stop_reason: str | None = None
    usage: Usage | None = None
    id: str = field(default_factory=_message_id)
    timestamp: float = field(default_factory=now)
    state: Literal["complete", "interrupted"] = "complete"
    role: Literal["assistant"] = "assistant"

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return _text(self.content)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls, in order."""
        return tuple(part for part in self.content if isinstance(part, ToolCall))

    @property
    def thinking(self) -> str:
        """The readable reasoning, joined."""
        return "".join(part.text for part in self.content if isinstance(part, ThinkingPart))

    @property
    def is_empty(self) -> bool:
        """True if there is nothing an API would take: no text, no call, no block of the provider."""
        return not any(
            isinstance(part, ToolCall | OpaquePart) or (isinstance(part, TextPart) and part.text.strip())
            for part in self.content
        )


@dataclass(frozen=True, slots=True)
class ToolMessage(_WireCache):
    """The results of all calls of one assistant message, in the order of the calls."""

    content: tuple[ToolResultPart, ...]
    id: str = field(default_factory=_message_id)
    timestamp: float = field(default_factory=now)
    state: Literal["complete", "interrupted"] = "complete"
    role: Literal["tool"] = "tool"

    @property
    def text(self) -> str:
        """The result texts, one a line."""
        return "\n".join(part.content for part in self.content)


Message = UserMessage | AssistantMessage | ToolMessage


def user_text(text: str) -> UserMessage:
    """A user message of plain text."""
    return UserMessage((TextPart(text),))


def _text(parts: Iterable[object]) -> str:
    return "".join(part.text for part in parts if isinstance(part, TextPart))
