"""Takes one page of lines out of a file of any size, fed piece by piece, and counts the rest."""

from dataclasses import dataclass

from ._lines import LINE_CHARACTERS, PAGE_CHARACTERS, show_line

NUMBER_WIDTH = 6


@dataclass(frozen=True, slots=True)
class Page:
    """Numbered ``lines`` from ``first`` to ``last`` (``last < first`` if there are none) of ``total``.

    ``full`` means that the page ended for lack of room, before the number of lines asked for. ``escaped``
    and ``cut`` count lines that are not shown as they are; ``alone``: a single line was asked for.
    """

    lines: tuple[str, ...]
    first: int
    last: int
    total: int
    full: bool
    escaped: int
    cut: int
    alone: bool
    line_endings: str


class Pager:
    """Lines ``first`` to ``first + count - 1``, as far as they fit into `PAGE_CHARACTERS`.

    A page of a single line shows as much of that line as fits; otherwise lines are cut at `LINE_CHARACTERS`.
    """

    def __init__(self, first: int, count: int) -> None:
        self._first = first
        self._beyond = first + count
        self._line_limit = PAGE_CHARACTERS - 100 if count == 1 else LINE_CHARACTERS
        self._number = 1
        self._begun = False
        self._line = bytearray()
        self._line_size = 0
        self._shown: list[str] = []
        self._room = PAGE_CHARACTERS
        self._full = False
        self._escaped = 0
        self._cut = 0
        self._crlf = 0
        self._after_cr = False

    def feed(self, data: bytes) -> None:
        """The next piece of the file, in UTF-8 or what stands for it."""
        if not data:
            return
        self._crlf += data.count(b"\r\n") + (self._after_cr and data.startswith(b"\n"))
        self._after_cr = data.endswith(b"\r")
        at = 0
        while at < len(data):
            wanted = self._first <= self._number < self._beyond and not self._full
            at = self._take(data, at) if wanted else self._skip(data, at)

    def finish(self) -> Page:
        """The page, after the last piece."""
        if self._begun:
            if self._line_size:
                self._show()
            self._number += 1
        total = self._number - 1
        return Page(
            tuple(self._shown),
            self._first,
            self._first + len(self._shown) - 1,
            total,
            self._full,
            self._escaped,
            self._cut,
            self._beyond - self._first == 1,
            self._line_endings(total - self._begun),
        )

    def _skip(self, data: bytes, at: int) -> int:
        rest = data.count(b"\n", at)
        ahead = self._first - self._number
        if ahead <= 0 or rest < ahead:
            self._number += rest
            self._begun = not data.endswith(b"\n")
            return len(data)
        for _ in range(ahead):
            at = data.index(b"\n", at) + 1
        self._number = self._first
        self._begun = False
        return at

    def _take(self, data: bytes, at: int) -> int:
        end = data.find(b"\n", at)
        stop = len(data) if end < 0 else end
        # Four bytes a character at most, and one that only the cut has split.
        keep = min(stop, at + max(0, 4 * self._line_limit + 8 - len(self._line)))
        self._line += data[at:keep]
        self._line_size += stop - at
        self._begun = end < 0
        if self._begun:
            return stop
        self._show()
        self._number += 1
        return stop + 1

    def _show(self) -> None:
        line = show_line(bytes(self._line), self._line_limit, self._line_size)
        self._line.clear()
        self._line_size = 0
        text = f"{self._number:>{NUMBER_WIDTH}}\t{line.text}"
        if self._shown and len(text) + 1 > self._room:
            self._full = True
            return
        self._room -= len(text) + 1
        self._shown.append(text)
        self._escaped += line.escaped
        self._cut += line.cut

    def _line_endings(self, terminated: int) -> str:
        if self._crlf == 0:
            return "LF"
        return "CRLF" if self._crlf == terminated else "mixed"
