"""Text on its way to a terminal: made harmless, and wrapped while it streams.

What a model or a tool says must not move the cursor, change colours or hide what a person is about to allow. Above:
``view``. Below: nothing of ours.
"""

import re
from collections.abc import Callable

# Controls without tab and newline (C0, DEL, C1), and what reorders or hides text: Unicode 16 section 23.2, UAX #9.
_HARMFUL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
_PIECES = re.compile(r"\n|[ \t]+|[^\s]+|\s")
TAB = "    "


def visible(text: str) -> str:
    """``text`` with every control character written out (``\\x1b``); tabs are four spaces, CRLF is a newline."""
    return _HARMFUL.sub(_written_out, text.replace("\r\n", "\n").replace("\t", TAB))


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def one_line(text: str) -> str:
    """``text`` as a single visible line: white space runs become one space."""
    return " ".join(visible(text).split())


class WordFlow:
    """Breaks streamed text between words. A word is held back until it is known to be whole.

    ``measure`` gives the columns a piece takes (wide characters take two); ``width`` is asked at each piece,
    since a window may be resized.
    """

    __slots__ = ("_column", "_gap", "_measure", "_width", "_word")

    def __init__(self, width: Callable[[], int], measure: Callable[[str], int] = len) -> None:
        self._width = width
        self._measure = measure
        self._column = 0
        self._gap = ""
        self._word = ""

    @property
    def started(self) -> bool:
        """True if something stands in the current line or waits to."""
        return bool(self._column or self._gap or self._word)

    def feed(self, text: str) -> str:
        """What can be written now."""
        written: list[str] = []
        for piece in _PIECES.findall(text):
            if piece == "\n":
                written.append(self._take_word() + "\n")
                self._column, self._gap = 0, ""
            elif piece.isspace():
                written.append(self._take_word())
                self._gap += piece
            else:
                self._word += piece
        return "".join(written)

    def finish(self) -> str:
        """The rest. The next text begins a new line."""
        rest = self._take_word()
        self._column, self._gap = 0, ""
        return rest

    def _take_word(self) -> str:
        if not self._word:
            return ""
        gap, word = self._gap, self._word
        self._gap = self._word = ""
        width = max(1, self._width())
        size = self._measure(word)
        if self._column and self._column + len(gap) + size > width:
            self._column = size
            return "\n" + word
        self._column += len(gap) + size
        # A word longer than the line is broken by the terminal.
        if self._column > width:
            self._column %= width
        return gap + word
