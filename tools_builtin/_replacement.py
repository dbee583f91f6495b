"""Replaces literal text in a text: exactly what was named, nothing else, and only where it is certain.

Line endings belong to the file: ``\\n`` in the arguments stands for whichever ending a line has there, and a
line that is put in takes the ending of the one it stands for, else of its neighbours.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

from ._hints import why_not_found
from ._paths import RefusalError

MAX_LINES_NAMED = 20
_MAX_COUNTED = 1_000
_ENDING = re.compile("\r?\n")


@dataclass(frozen=True, slots=True)
class Replacement:
    """The new text, how many places changed, and the lines (of the old text) of the first ones."""

    text: str
    count: int
    lines: tuple[int, ...]


def replace_text(text: str, old: str, new: str, every: bool) -> Replacement:
    """``text`` with ``new`` for ``old``, which must occur exactly once unless ``every``.

    Places are taken from left to right without overlap; for being unique, overlapping ones count. Raises
    `RefusalError` with what is wrong and where to look.
    """
    if not old:
        raise RefusalError("old_string is empty; name the text to replace (Write makes or replaces a whole file)")
    if old == new:
        raise RefusalError("old_string and new_string are identical, so there is nothing to change")
    crlf = _crlf_places(text)
    plain = text.replace("\r\n", "\n") if crlf else text
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if old == new:
        raise RefusalError("old_string and new_string differ in line endings only; Edit keeps those of the file")
    if old not in plain:
        raise RefusalError(f"old_string was not found{why_not_found(plain, old)}")
    if not every:
        _refuse_unless_unique(plain, old)
    lines = _line_numbers(plain, _places(plain, old, len(old)))
    if not crlf:
        count = plain.count(old) if every else 1
        return Replacement(plain.replace(old, new), count, lines)
    pieces: list[str] = []
    done = 0
    for place in _places(plain, old, len(old)):
        start, end = (at + bisect_left(crlf, at) for at in (place, place + len(old)))
        pieces += (text[done:start], _with_endings(new, text, start, end))
        done = end
    pieces.append(text[done:])
    return Replacement("".join(pieces), len(pieces) // 2, lines)


def named_lines(lines: tuple[int, ...], count: int) -> str:
    """``line 3`` or ``lines 3, 9 and 12``, with how many more there are."""
    named = ", ".join(map(str, lines))
    more = f" and {count - len(lines)} more" if count > len(lines) else ""
    return f"line {named}" if count == 1 else f"lines {named}{more}"


def _crlf_places(text: str) -> list[int]:
    """Where each CRLF is once all of them are LF, in order."""
    return [match.start() - index for index, match in enumerate(re.finditer("\r\n", text))]


def _places(text: str, part: str, step: int) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + step)


def _refuse_unless_unique(text: str, old: str) -> None:
    lines: list[int] = []
    count = 0
    for at in _places(text, old, 1):
        count += 1
        if len(lines) < MAX_LINES_NAMED:
            lines.append(text.count("\n", 0, at) + 1)
        if count == _MAX_COUNTED:
            break
    if count > 1:
        many = f"at least {count}" if count == _MAX_COUNTED else str(count)
        raise RefusalError(
            f"old_string is not unique: {many} matches, in {named_lines(tuple(lines), count)}; add surrounding "
            "lines to it, or set replace_all"
        )


def _line_numbers(text: str, places: Iterator[int]) -> tuple[int, ...]:
    numbers: list[int] = []
    line, done = 1, 0
    for place in places:
        if len(numbers) == MAX_LINES_NAMED:
            break
        line += text.count("\n", done, place)
        done = place
        numbers.append(line)
    return tuple(numbers)


def _with_endings(new: str, text: str, start: int, end: int) -> str:
    if "\n" not in new:
        return new
    endings = _ENDING.findall(text, start, end) or [_neighbour_ending(text, start, end)]
    first, *rest = new.split("\n")
    pieces = [first]
    for index, line in enumerate(rest):
        pieces += (endings[min(index, len(endings) - 1)], line)
    return "".join(pieces)


def _neighbour_ending(text: str, start: int, end: int) -> str:
    following = _ENDING.search(text, end)
    if following is not None:
        return following.group()
    before = text.rfind("\n", 0, start)
    return "\r\n" if before > 0 and text[before - 1] == "\r" else "\n"
