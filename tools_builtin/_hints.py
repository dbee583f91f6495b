"""Says where the text that an edit did not find probably is, and what differs."""

import re
from difflib import get_close_matches

from agentframework._base.bounded import cut_end

_MAX_LINES = 5_000
_MAX_LINE = 500
_MAX_TEXT = 4_000_000
_SHOWN = 200
_NUMBERED = re.compile(r"^ *\d+\t", re.MULTILINE)
_BLANKS = re.compile(r"\s+")


def why_not_found(text: str, old: str) -> str:
    """The rest of the sentence ``old_string was not found``; lines end in LF in both texts."""
    if not text:
        return ": the file is empty"
    if len(text) > _MAX_TEXT:
        return "; search for a part of it"
    unnumbered, numbers = _NUMBERED.subn("", old)
    if numbers == len(old.splitlines()) and unnumbered in text:
        return ": leave out the line numbers and tabs that Read puts before each line"
    lines = text.split("\n")
    wanted = old.strip("\n").split("\n")
    line = _other_blanks(lines, wanted)
    if line is not None:
        return f": line {line} has the same text, but white space differs (tabs, blanks or the end of a line)"
    return _nearest(lines, wanted)


def _other_blanks(lines: list[str], wanted: list[str]) -> int | None:
    """The line where ``wanted`` is found if white space does not count."""
    target = _squeezed("\n".join(wanted))
    if not target:
        return None
    starts: list[int] = []
    pieces: list[str] = []
    length = 0
    for line in lines:
        starts.append(length)
        piece = _squeezed(line)
        pieces.append(piece)
        length += len(piece)
    at = "".join(pieces).find(target)
    if at < 0:
        return None
    return max(index for index, start in enumerate(starts) if start <= at and pieces[index]) + 1


def _squeezed(text: str) -> str:
    return _BLANKS.sub("", text)


def _nearest(lines: list[str], wanted: list[str]) -> str:
    first = next((line.strip() for line in wanted if line.strip()), "")[:_MAX_LINE]
    if not first:
        return ""
    stripped = [line.strip()[:_MAX_LINE] for line in lines[:_MAX_LINES]]
    if first in stripped:
        index = stripped.index(first)
        return f": line {index + 1} is like its beginning, but the text after it differs"
    close = get_close_matches(first, stripped, n=1, cutoff=0.6)
    if not close:
        return " and no line resembles it; read the file again"
    return f"; the nearest line is {stripped.index(close[0]) + 1}: {cut_end(close[0], _SHOWN)}"
