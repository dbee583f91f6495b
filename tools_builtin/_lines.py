"""How a line of a file is shown to a model: decoded, without NUL, and never too long without saying so."""

import codecs
import re
from dataclasses import dataclass

from agentframework.tools.executor import MAX_RESULT_CHARACTERS

LINE_CHARACTERS = 2_000
# What a tool fills with lines; the rest is for what it says about them.
PAGE_CHARACTERS = MAX_RESULT_CHARACTERS - 2_000

_ESCAPED = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class ShownLine:
    """``text`` is what is shown; ``escaped``: some bytes are written as ``\\xNN``; ``cut``: not all of it."""

    text: str
    escaped: bool
    cut: bool


def counted(number: int, noun: str) -> str:
    """``1 line``, ``2 lines``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def show_line(data: bytes, limit: int = LINE_CHARACTERS, size: int | None = None) -> ShownLine:
    """A line of a file, its line ending taken off, in at most ``limit`` characters and a note.

    ``size`` is the length of the line in bytes if ``data`` is only its beginning.
    """
    cut = size is not None and size > len(data)
    if not cut:
        data = data.removesuffix(b"\n").removesuffix(b"\r")
    # final=False: a character that only the cut has split is not reported as broken.
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(data, not cut)
    shown, escapes = _ESCAPED.subn(_escape, text)
    cut = cut or len(shown) > limit
    if cut:
        shown = f"{shown[:limit]} [... cut; the line has {size or len(data)} bytes]"
    return ShownLine(shown, escapes > 0, cut)


def _escape(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\x{code:02x}"
