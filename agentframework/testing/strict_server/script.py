"""The vocabulary of replies: what a scripted model says, and where it breaks.

One script serves all three APIs; the wire modules render it. Parts are plain frozen values, so scripts can be
built once and reused, except for `hold`, whose event is set once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal

__all__ = [
    "AUTO",
    "Call",
    "Content",
    "Cut",
    "EndEarly",
    "ErrorReply",
    "Hold",
    "Part",
    "RawSse",
    "Reply",
    "StreamError",
    "Text",
    "Thinking",
    "Usage",
    "call",
    "cut",
    "end_early",
    "error",
    "hold",
    "raw_sse",
    "redacted_thinking",
    "reply",
    "stall",
    "stream_error",
    "text",
    "thinking",
    "usage",
]


class Auto(Enum):
    """Stands for "the server chooses", where None means "leave it out"."""

    AUTO = "auto"


AUTO: Literal[Auto.AUTO] = Auto.AUTO


@dataclass(frozen=True, slots=True)
class Text:
    pieces: tuple[str, ...]
    gap: float


@dataclass(frozen=True, slots=True)
class Thinking:
    pieces: tuple[str, ...]
    signature: str | None
    redacted: bool
    done: bool


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: str
    pieces: tuple[str, ...]
    """Empty when the arguments travel inside the opening event."""
    id: str | None | Literal[Auto.AUTO]
    index: int | None | Literal[Auto.AUTO]
    done: bool


@dataclass(frozen=True, slots=True)
class RawSse:
    items: tuple[bytes | Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Hold:
    event: asyncio.Event
    reached: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class Cut:
    pass


@dataclass(frozen=True, slots=True)
class EndEarly:
    pass


@dataclass(frozen=True, slots=True)
class StreamError:
    type: str
    message: str


@dataclass(frozen=True, slots=True)
class ErrorReply:
    status: int
    message: str
    type: str | None
    code: str | None
    headers: Mapping[str, str]
    raw_body: bytes | None


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts in one convention: `input_tokens` excludes what the cache served or stored."""

    input_tokens: int
    output_tokens: int
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


Content = Text | Thinking | Call
Part = Content | RawSse | Hold | Cut | EndEarly | StreamError | ErrorReply


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `usage` as a mapping is sent as it is; an empty mapping sends none."""

    parts: tuple[Part, ...]
    usage: Usage | Mapping[str, Any] | None = None
    finish_reason: str | None = None

    def __post_init__(self) -> None:
        for number, part in enumerate(self.parts):
            if isinstance(part, ErrorReply) and not all(isinstance(before, Hold) for before in self.parts[:number]):
                raise ValueError("error() answers the whole request: only hold() may stand before it")

    @property
    def is_raw(self) -> bool:
        """Whether the script writes the whole body itself: then the server adds no event of its own."""
        return any(isinstance(part, RawSse) for part in self.parts) and not any(
            isinstance(part, Content) for part in self.parts
        )


def reply(*parts: Part, usage: Usage | Mapping[str, Any] | None = None, finish_reason: str | None = None) -> Reply:
    """A whole answer, for responders.

    `finish_reason` is "stop", "tool_calls", "length", "content_filter" or "failed", translated to the API at
    hand ("failed" exists only in Responses); any other word goes out as it is. By default it follows from the
    parts.
    """
    return Reply(parts, usage, finish_reason)


def usage(
    input_tokens: int, output_tokens: int, *, cache_read: int = 0, cache_write: int = 0, reasoning: int = 0
) -> Usage:
    """Token counts to report; without them the server reports a quarter of the bytes."""
    return Usage(input_tokens, output_tokens, cache_read, cache_write, reasoning)


def _split(value: str, chunks: int | Sequence[str]) -> tuple[str, ...]:
    if not isinstance(chunks, int):
        if "".join(chunks) != value:
            raise ValueError("the chunks of a part must add up to its text")
        return tuple(chunks)
    if chunks < 1:
        raise ValueError("chunks must be at least 1")
    size, longer = divmod(len(value), chunks)
    ends = [index * size + min(index, longer) for index in range(chunks + 1)]
    return tuple(value[start:end] for start, end in zip(ends, ends[1:], strict=False) if start != end)


def text(value: str, *, chunks: int | Sequence[str] = 1, gap: float = 0.0) -> Text:
    """Visible text in `chunks` deltas (a number, or the exact pieces), `gap` seconds apart.

    Neighbouring texts form one block, as they do for a model that pauses; `text("")` is a block without a
    delta.
    """
    return Text(_split(value, chunks), gap)


def thinking(
    value: str, *, chunks: int | Sequence[str] = 1, signature: str | None = None, done: bool = True
) -> Thinking:
    """A thinking block (Anthropic), reasoning summary (Responses) or `reasoning_content` (Chat).

    `done=False` leaves it open: no signature, no end (what an interrupted client has seen).
    """
    return Thinking(_split(value, chunks), signature, redacted=False, done=done)


def redacted_thinking(data: str | None = None) -> Thinking:
    """Thinking the client cannot read: opaque `data`, an empty summary on Responses, nothing on Chat."""
    return Thinking((), data, redacted=True, done=True)


def call(
    name: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    id: str | None | Literal[Auto.AUTO] = AUTO,
    index: int | None | Literal[Auto.AUTO] = AUTO,
    split: int = 1,
    arguments_raw: str | None = None,
    done: bool = True,
) -> Call:
    """A tool call.

    `split` is the number of argument deltas; 0 puts the arguments into the opening event, as some servers do.
    `arguments_raw` replaces the JSON, to send broken text. `id=None` and `index=None` leave the field out.
    `done=False` ends without the closing events (nothing differs on Chat, which has none).
    """
    raw = json.dumps(dict(arguments or {}), ensure_ascii=False) if arguments_raw is None else arguments_raw
    return Call(name, raw, _split(raw, split) if split else (), id, index, done)


def raw_sse(items: Sequence[bytes | Mapping[str, Any]] = ()) -> RawSse:
    """Exact bytes, each written (and chunked) on its own, or event objects framed as the API frames them.

    A reply of raw parts only (faults and holds aside) gets no event from the server: write the end yourself.
    Beside other parts, raw events are spliced in. `raw_sse()` sends the response head and nothing else.
    """
    return RawSse(tuple(items))


def hold(event: asyncio.Event) -> Hold:
    """Wait until the test sets `event`; the part's own `.reached` event is set when the reply gets there."""
    return Hold(event)


def stall() -> Hold:
    """Say nothing more until the client goes away."""
    return Hold(asyncio.Event())


def cut() -> Cut:
    """Break the connection; as the first part, before any byte of the response."""
    return Cut()


def end_early() -> EndEarly:
    """End the body properly but without the API's final event."""
    return EndEarly()


def stream_error(type: str = "overloaded_error", message: str = "Overloaded") -> StreamError:
    """An error event inside a stream that began with status 200, then the end."""
    return StreamError(type, message)


def error(
    status: int,
    message: str = "",
    *,
    type: str | None = None,
    code: str | None = None,
    retry_after: float | str | None = None,
    headers: Mapping[str, str] | None = None,
    raw_body: bytes | None = None,
) -> ErrorReply:
    """An HTTP error in the API's error JSON, or with `raw_body` (a gateway's page) instead.

    `retry_after` is seconds or an HTTP date; `type` and `code` default to what the API uses for that status.
    """
    extra = dict(headers or {})
    if retry_after is not None:
        extra["retry-after"] = str(retry_after)
    return ErrorReply(status, message or f"Scripted error {status}", type, code, extra, raw_body)
