"""Lines from a stream of bytes, with a limit that costs only the line that breaks it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_KEPT = 4096
_AHEAD = re.compile(rb'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+|"[^"\\]*")\s*[,}]')
_BEHIND = re.compile(rb'[,{]\s*"id"\s*:\s*(\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line that was not kept: how it began and ended, and its size in bytes."""

    head: bytes
    tail: bytes
    size: int

    @property
    def request_id(self) -> int | str | None:
        """The id of the JSON-RPC message that the line was, if it stands where programs put it."""
        found = _AHEAD.search(self.head) or _BEHIND.search(self.tail)
        if found is None:
            return None
        text = found[1].decode("utf-8", "replace")
        return text[1:-1] if text.startswith('"') else int(text)


class Lines:
    """Cuts chunks into lines. A line of more than ``limit`` bytes comes out as `TooLong`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0
        self._tail = b""

    def feed(self, data: bytes) -> Iterator[bytes | TooLong]:
        """The lines that ``data`` completes, without their ends."""
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._keep(data[start:end])
            yield self._take()
            start = end + 1
        if start < len(data):
            self._keep(data[start:])

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size <= self._limit:
            self._parts.append(piece)
            return
        joined = b"".join(self._parts)
        self._tail = (self._tail + joined[_KEPT:] + piece)[-_KEPT:]
        self._parts = [(joined + piece)[:_KEPT]] if len(joined) < _KEPT else [joined[:_KEPT]]

    def _take(self) -> bytes | TooLong:
        line = b"".join(self._parts)
        size, tail = self._size, self._tail
        self._parts, self._size, self._tail = [], 0, b""
        return line if size <= self._limit else TooLong(line, tail, size)
