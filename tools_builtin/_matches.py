"""Reads what ripgrep prints: paths, counts, or matching lines as JSON. Each reader keeps a bounded amount.

Source of the formats: the ripgrep manual (``--null``, ``--count``) and the grep-printer crate's JSON format.
"""

import base64
import json
import os
from dataclasses import dataclass
from typing import Any

from ._lines import show_line

MAX_PATHS = 100_000
MAX_ROWS = 5_000
MAX_ROW_CHARACTERS = 500
_MAX_ROW_BYTES = 4 * MAX_ROW_CHARACTERS  # four bytes a character at most
_MAX_RECORD = 16 << 20
_WINDOW_BEFORE = 150


class PathReader:
    """Paths, each ended by NUL."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self._rest = b""

    def take(self, piece: bytes) -> bool:
        *paths, self._rest = (self._rest + piece).split(b"\0")
        self.paths += (_relative(os.fsdecode(path)) for path in paths)
        return len(self.paths) <= MAX_PATHS


class CountReader:
    """A path, NUL, a number and a newline each. A path may hold newlines."""

    def __init__(self) -> None:
        self.counts: list[tuple[str, int]] = []
        self._rest = b""

    def take(self, piece: bytes) -> bool:
        data = self._rest + piece
        at = 0
        while (nul := data.find(b"\0", at)) >= 0 and (end := data.find(b"\n", nul)) >= 0:
            self.counts.append((_relative(os.fsdecode(data[at:nul])), int(data[nul + 1 : end])))
            at = end + 1
        self._rest = data[at:]
        return len(self.counts) <= MAX_PATHS


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a file that matches, or (``match`` false) surrounds a match.

    ``data`` is all of its ``size`` bytes, or of a long line the part where the match begins; ``beginning`` is
    false if that part does not begin the line.
    """

    path: str
    number: int
    data: bytes
    match: bool
    size: int
    beginning: bool

    @property
    def text(self) -> str:
        """The line as it is shown."""
        text = show_line(self.data, MAX_ROW_CHARACTERS, self.size).text
        return text if self.beginning else f"[...] {text}"


class RowReader:
    """JSON records, one a line. A record larger than `_MAX_RECORD` is passed over and counted."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.oversized = 0
        self._rest = bytearray()
        self._skipping = False

    def take(self, piece: bytes) -> bool:
        *records, rest = piece.split(b"\n")
        for record in records:
            self._rest += record
            if self._skipping:
                self._skipping = False
            else:
                self._record(bytes(self._rest))
            self._rest.clear()
            if len(self.rows) > MAX_ROWS:
                return False
        if not self._skipping:
            self._rest += rest
        if len(self._rest) > _MAX_RECORD:
            self._skipping = True
            self.oversized += 1
            self._rest.clear()
        return True

    def _record(self, record: bytes) -> None:
        match = record.startswith(b'{"type":"match"')
        if not match and not record.startswith(b'{"type":"context"'):
            return
        data: dict[str, Any] = json.loads(record.decode())["data"]
        path = _relative(os.fsdecode(_bytes(data["path"])))
        first: int = data["line_number"]
        lines = _bytes(data["lines"]).removesuffix(b"\n").split(b"\n")
        begins: list[int] = [submatch["start"] for submatch in data["submatches"]]
        offset = 0
        for index, line in enumerate(lines):
            begin = next((at - offset for at in begins if offset <= at <= offset + len(line)), 0)
            start = _window(line, begin)
            part = line[start : start + _MAX_ROW_BYTES]
            self.rows.append(Row(path, first + index, part, match, len(line), start == 0))
            offset += len(line) + 1


def _window(line: bytes, begin: int) -> int:
    """Where the part of ``line`` begins that is shown."""
    start = begin - _WINDOW_BEFORE
    if len(line) <= MAX_ROW_CHARACTERS or start <= 0:
        return 0
    while line[start] & 0xC0 == 0x80 and start < begin:  # not in the middle of a UTF-8 sequence
        start += 1
    return start


def _bytes(value: dict[str, str]) -> bytes:
    return value["text"].encode() if "text" in value else base64.b64decode(value["bytes"])


def _relative(path: str) -> str:
    return path.removeprefix("./")
