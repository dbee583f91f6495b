"""Output of a task, readable from any character on, in bounded memory and on bounded disk.

The newest characters are in memory; full segments go into one unnamed temporary file, whose slots are used again, so
that the newest 64 million characters are kept. An unnamed file is gone with its descriptor, however this process ends.
"""

import contextlib
import os
import tempfile
from typing import IO

from agentframework.tools.background import TaskOutput

SEGMENT_CHARACTERS = 1 << 18
MAX_SEGMENTS = 256
_MAX_BYTES_PER_CHARACTER = 4


class TaskLog:
    """Append-only text. Offsets count characters from the very beginning, also when that is not kept any more."""

    __slots__ = ("_base", "_file", "_filled", "_filling", "_first", "_segment", "_segments", "_sizes")

    def __init__(self, segment: int = SEGMENT_CHARACTERS, segments: int = MAX_SEGMENTS) -> None:
        self._segment = segment
        self._segments = segments
        self._filling: list[str] = []
        self._filled = 0
        self._base = 0
        self._first = 0
        self._sizes: dict[int, int] = {}
        self._file: IO[bytes] | None = None

    @property
    def total(self) -> int:
        """How many characters were written."""
        return self._base + self._filled

    def write(self, text: str) -> None:
        """Append ``text``. A full disk costs the oldest output, never the task."""
        while text:
            piece = text[: self._segment - self._filled]
            self._filling.append(piece)
            self._filled += len(piece)
            text = text[len(piece) :]
            if self._filled == self._segment:
                self._put_away()

    def _put_away(self) -> None:
        number = self._base // self._segment
        data = "".join(self._filling).encode("utf-8", "replace")
        self._base += self._segment
        self._filling, self._filled = [], 0
        if self._stored(number, data):
            self._sizes[number] = len(data)
            if self._sizes.pop(number - self._segments, None) is not None:
                self._first = (number - self._segments + 1) * self._segment
        else:
            self._sizes.clear()
            self._first = self._base

    def _stored(self, number: int, data: bytes) -> bool:
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - `close` closes it
            return os.pwrite(self._file.fileno(), data, self._place(number)) == len(data)
        except OSError:
            return False

    def _place(self, number: int) -> int:
        return number % self._segments * self._segment * _MAX_BYTES_PER_CHARACTER

    def read(self, offset: int, limit: int) -> TaskOutput:
        """At most ``limit`` characters from ``offset`` on; a negative one counts from the end."""
        if offset < 0:
            offset += self.total
        start = at = min(max(offset, self._first), self.total)
        pieces: list[str] = []
        while at < self.total and at - start < limit:
            number, within = divmod(at, self._segment)
            piece = self._text(number)[within : within + limit - (at - start)]
            if not piece:
                break
            pieces.append(piece)
            at += len(piece)
        return TaskOutput("".join(pieces), start, at, self.total)

    def _text(self, number: int) -> str:
        if number * self._segment >= self._base:
            self._filling = ["".join(self._filling)]
            return self._filling[0]
        assert self._file is not None
        with contextlib.suppress(OSError):
            return os.pread(self._file.fileno(), self._sizes[number], self._place(number)).decode("utf-8", "replace")
        return ""

    def close(self) -> None:
        """Forget everything and give the disk back."""
        self._filling, self._filled, self._base, self._first = [], 0, 0, 0
        self._sizes.clear()
        if self._file is not None:
            self._file.close()
            self._file = None
