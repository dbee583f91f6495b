"""The pieces of a streamed reply, folded into one message.

Shared by the adapters, which translate events into calls of `ReplyBuilder`. Nothing is copied or parsed while
pieces arrive: they are kept in lists and joined once, in `ReplyBuilder.message`. A part belongs to the key (an
index, an item id) under which it was opened, and parts keep the order of their opening.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from agentframework._base.bounded import printable
from agentframework._base.ids import short_id
from agentframework.messages import (
    AssistantMessage,
    AssistantPart,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    Usage,
)
from agentframework.providers.pairing import unused_id
from agentframework.providers.wire_json import parse_arguments

_HIGH_SURROGATES = ("\ud800", "\udbff")
_CUT = "cut off by the output limit before the arguments were complete"


@dataclass(slots=True)
class TextSlot:
    """Text or thinking under way. ``add`` returns what may be shown."""

    pieces: list[str] = field(default_factory=list)
    held: str = ""

    def add(self, piece: str) -> str:
        """Keep ``piece``. A surrogate pair cut in two by the server is held back until its other half is here."""
        if not piece.isascii() or self.held:
            piece = self.held + piece
            self.held = ""
            if piece and _HIGH_SURROGATES[0] <= piece[-1] <= _HIGH_SURROGATES[1]:
                self.held, piece = piece[-1], piece[:-1]
            piece = printable(piece)
        if piece:
            self.pieces.append(piece)
        return piece

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.pieces) + printable(self.held)

    def part(self) -> AssistantPart | None:
        """The finished part, or None for an empty one."""
        text = self.text
        return TextPart(text) if text else None


@dataclass(slots=True)
class ThinkingSlot(TextSlot):
    """Thinking; ``data`` once set is the provider's own block, kept whole."""

    signature: str | None = None
    data: dict[str, Any] | None = None

    def part(self) -> AssistantPart | None:
        """The finished part, or None for an empty one."""
        if not self.pieces and self.signature is None and self.data is None:
            return None
        return ThinkingPart(self.text, self.signature, self.data)


@dataclass(slots=True)
class CallSlot:
    """A tool call under way. ``id`` is final from the start, because pieces are shown under it."""

    id: str
    name: str
    pieces: list[str] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    vendor_id: str | None = None

    @property
    def arguments(self) -> str:
        """The arguments' text so far."""
        return "".join(self.pieces)

    def part(self) -> ToolCall | None:
        """The finished call, or None for one without a name and arguments."""
        text, name = printable(self.arguments), printable(self.name.strip())
        if not name and not text.strip():
            return None
        arguments, problem = parse_arguments(text)
        return ToolCall(self.id, name, arguments, text, problem, self.extra)


@dataclass(slots=True)
class OpaqueSlot:
    """A block that we do not know; ``pieces`` is JSON text that arrives for its ``input``."""

    data: dict[str, Any]
    pieces: list[str] = field(default_factory=list)

    def merge(self, delta: Mapping[str, Any]) -> None:
        """Apply a delta: JSON pieces are collected, text and lists grow, anything else is replaced."""
        for name, value in delta.items():
            old = self.data.get(name)
            if name == "partial_json":
                self.pieces.append(value)
            elif name != "type":
                grows = type(old) is type(value) and isinstance(value, str | list)
                self.data[name] = old + value if grows else value  # pyright: ignore[reportOperatorIssue]

    def part(self) -> OpaquePart | None:
        """The finished part, or None while nothing was put in."""
        if self.pieces:
            return OpaquePart({**self.data, "input": parse_arguments("".join(self.pieces))[0] or {}})
        return OpaquePart(self.data) if self.data else None


Slot = TextSlot | CallSlot | OpaqueSlot
S = TypeVar("S", TextSlot, ThinkingSlot, CallSlot, OpaqueSlot)


class ReplyBuilder:
    """One reply under way. ``taken`` gives the call ids of the conversation so far, asked at the first call."""

    __slots__ = ("_slots", "_taken", "_used", "slots")

    def __init__(self, taken: Callable[[], set[str]]) -> None:
        self.slots: dict[Hashable, Slot] = {}
        self._slots: list[Slot] = []
        self._taken = taken
        self._used: set[str] | None = None

    def open(self, key: Hashable, slot: S) -> S:
        """Begin a part; what ``key`` meant before is finished."""
        self.slots[key] = slot
        self._slots.append(slot)
        return slot

    def text(self, key: Hashable) -> TextSlot:
        """The text under ``key``, begun if need be."""
        slot = self.slots.get(key)
        return slot if type(slot) is TextSlot else self.open(key, TextSlot())

    def thinking(self, key: Hashable) -> ThinkingSlot:
        """The thinking under ``key``, begun if need be."""
        slot = self.slots.get(key)
        return slot if isinstance(slot, ThinkingSlot) else self.open(key, ThinkingSlot())

    def call(self, key: Hashable, identity: str | None, name: str) -> CallSlot:
        """Begin a call under an id that the conversation does not have yet: ``identity`` or a new one."""
        if self._used is None:
            self._used = self._taken()
        own = unused_id(printable(identity) if identity else short_id("call"), self._used)
        self._used.add(own)
        return self.open(key, CallSlot(own, name, vendor_id=identity))

    @property
    def characters(self) -> int:
        """Length of what was received, for estimates."""
        return sum(len(piece) for slot in self._slots for piece in slot.pieces)

    def message(self, origin: str, model: str, stop_reason: str, usage: Usage) -> AssistantMessage:
        """The whole reply. Whether it asks for tools is decided by the calls in it, not by ``stop_reason``."""
        parts = [part for slot in self._slots if (part := slot.part()) is not None]
        last = parts[-1] if parts else None
        if stop_reason == "max_tokens" and isinstance(last, ToolCall):
            cut = last.problem is not None or not last.arguments_json.strip()
            parts[-1] = replace(last, arguments=None, problem=_CUT) if cut else last
        calls = any(type(part) is ToolCall for part in parts)
        if calls and stop_reason == "end_turn":
            stop_reason = "tool_use"
        elif not calls and stop_reason == "tool_use":
            stop_reason = "end_turn"
        return AssistantMessage(tuple(parts), model, origin, stop_reason, usage)


def estimated_usage(request_bytes: int, message_characters: int) -> Usage:
    """A guess of four bytes to a token, for servers that send no usage."""
    return Usage(max(1, request_bytes // 4), max(1, message_characters // 4), estimated=True)
