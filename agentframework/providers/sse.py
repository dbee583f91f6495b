"""Server-sent events: bytes of a response body in, the data of whole events out.

A push parser for the format of https://html.spec.whatwg.org/multipage/server-sent-events.html with a fast path
for what model APIs send (one event a chunk, one ``data:`` line an event). Event names are not looked at: every
API that has them repeats them inside the data.
"""

import re
from collections.abc import Sequence

MAX_EVENT_BYTES = 64 * 1024 * 1024

_ALONE = re.compile(rb"(?:event: [^\r\n]*\n)?data: ([^\r\n]*)\n\n").fullmatch  # one whole event with one line of data


class EventTooLargeError(ValueError):
    """More than `MAX_EVENT_BYTES` arrived without the end of an event."""


class SseReader:
    """Cuts a byte stream into event data. Feed it pieces of any size; call `finish` at the end of the body."""

    __slots__ = ("_after_cr", "_at_start", "_plain", "_waiting", "_waiting_bytes")

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self._after_cr = False
        self._at_start = True
        self._plain = False  # nothing is pending: the next piece can be judged by itself

    def feed(self, data: bytes) -> Sequence[bytes]:
        """Data of the events that ``data`` completes. Raises `EventTooLargeError`."""
        if self._plain and (alone := _ALONE(data)) is not None:
            return (alone[1],)
        events = self._split(data)
        self._plain = not (self._waiting or self._after_cr or self._at_start)
        return events

    def _split(self, data: bytes) -> Sequence[bytes]:
        if self._at_start and data:
            self._at_start = False
            data = data.removeprefix(b"\xef\xbb\xbf")
        if self._after_cr or b"\r" in data:
            data = self._with_plain_line_ends(data)
        if self._waiting:
            if b"\n" not in data:
                return self._wait(data)
            data = b"".join((*self._waiting, data))
            self._waiting.clear()
            self._waiting_bytes = 0
        events = data.split(b"\n\n")
        rest = events.pop()
        if rest:
            self._wait(rest)
        return [found for event in events if (found := _data_of(event)) is not None]

    def finish(self) -> Sequence[bytes]:
        """Data of a last event whose blank line is missing: some servers end on ``data: [DONE]`` without one."""
        rest = b"".join(self._waiting)
        self._waiting.clear()
        self._waiting_bytes = 0
        found = _data_of(rest.removesuffix(b"\n"))
        return () if found is None else (found,)

    def _wait(self, data: bytes) -> Sequence[bytes]:
        self._waiting.append(data)
        self._waiting_bytes += len(data)
        if self._waiting_bytes > MAX_EVENT_BYTES:
            raise EventTooLargeError(f"an event of more than {MAX_EVENT_BYTES} bytes")
        return ()

    def _with_plain_line_ends(self, data: bytes) -> bytes:
        """CR and CRLF become LF; a CR at the end of a piece counts at once, the LF that may follow does not."""
        if self._after_cr:
            data = data.removeprefix(b"\n")
        self._after_cr = data.endswith(b"\r")
        return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _data_of(event: bytes) -> bytes | None:
    """Data of one event without its blank line, or None if it has none."""
    last_line = event.rfind(b"\n") + 1
    named = event.startswith(b"event: ") and event.find(b"\n") == last_line - 1
    if event.startswith(b"data: ", last_line) and (last_line == 0 or named):
        return event[last_line + 6 :]
    lines: list[bytes] = []
    for line in event.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            lines.append(value.removeprefix(b" "))
    return b"\n".join(lines) if lines else None
