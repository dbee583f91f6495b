"""What the three renderings of a script have in common.

A wire turns parts into SSE events and remembers them, so that the same code also gives the whole answer for a
request without streaming. Below: `script`, `issued`, `json_text`. Above: `playback`, which writes the events.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .issued import Issued
from .json_text import dump
from .script import Auto, Call, Content, Reply, StreamError, Text, Thinking, Usage

__all__ = ["Exchange", "OpenText", "Wire", "chosen_index", "named_event", "optional"]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request with its answer. `key` makes ids that are unique across servers and requests."""

    body: dict[str, Any]
    request_bytes: int
    key: str
    reply: Reply
    issued: Issued

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))


@dataclass(slots=True)
class OpenText:
    """A text block under way."""

    position: int
    pieces: list[str] = field(default_factory=list[str])


def named_event(value: Mapping[str, Any]) -> bytes:
    """An SSE event whose name is the object's type, as Messages and Responses send them."""
    name = str(value.get("type", "message")).encode()
    return b"event: " + name + b"\ndata: " + dump(value) + b"\n\n"


class Wire(ABC):
    """Renders one answer. Call `start`, `part` for each content part, `finish` (or `whole`)."""

    call_prefix = "call_"

    def __init__(self, exchange: Exchange) -> None:
        self.exchange = exchange
        self.issued = exchange.issued
        self.calls = 0
        self._characters = 0

    @abstractmethod
    def start(self) -> Iterator[bytes]:
        """The events before the first content."""

    @abstractmethod
    def finish(self) -> Iterator[bytes]:
        """The events after the last content, the terminal one included."""

    @abstractmethod
    def stream_error(self, part: StreamError) -> bytes:
        """An error event inside the stream."""

    @abstractmethod
    def frame(self, value: Mapping[str, Any]) -> bytes:
        """An event object of a script in this API's framing."""

    @abstractmethod
    def whole(self) -> dict[str, Any]:
        """The answer as one JSON object, once the parts were rendered."""

    @abstractmethod
    def _text(self, part: Text) -> Iterator[bytes]: ...

    @abstractmethod
    def _thinking(self, part: Thinking) -> Iterator[bytes]: ...

    @abstractmethod
    def _call(self, part: Call, call_id: str | None) -> Iterator[bytes]: ...

    def part(self, part: Content) -> Iterator[bytes]:
        """The events of one content part."""
        if isinstance(part, Text):
            return self._text(part)
        if isinstance(part, Thinking):
            return self._thinking(part)
        self.calls += 1
        return self._call(part, self.call_id(part))

    def call_id(self, part: Call) -> str | None:
        """The id of the newest call: the script's, or a generated one."""
        return f"{self.call_prefix}{self.exchange.key}{self.calls:03d}" if isinstance(part.id, Auto) else part.id

    def count(self, text: str) -> str:
        """Note produced text for the usage estimate."""
        self._characters += len(text)
        return text

    def usage(self) -> Usage:
        """The scripted counts, or an estimate of four bytes to a token."""
        scripted = self.exchange.reply.usage
        if isinstance(scripted, Usage):
            return scripted
        return Usage(max(1, self.exchange.request_bytes // 4), max(1, self._characters // 4))

    def usage_override(self) -> Mapping[str, Any] | None:
        """A scripted usage object that goes out as it is."""
        scripted = self.exchange.reply.usage
        return None if scripted is None or isinstance(scripted, Usage) else scripted


def chosen_index(part: Call, running: int) -> int | None:
    """The index to send for a call: the script's, or the running one."""
    return running if isinstance(part.index, Auto) else part.index


def optional(name: Literal["id", "index"], value: str | int | None) -> dict[str, Any]:
    """A field that is left out when the script says None."""
    return {} if value is None else {name: value}
