"""Scripts of sed that only print, told by a strict reading of a part of the language (POSIX sed, GNU sed).

What is not understood is taken to do more: `w`, `W`, `r`, `R`, `e`, `F`, `a`, `i`, `c` and the flags `w` and `e`
of `s` among it.
"""

import re

_ADDRESS = re.compile(r"\d+(~\d+)?|\$|[+~]\d+")
_PLAIN_COMMANDS = frozenset("pPdDnNgGhHx=zl")
_ENDS = frozenset(";\n}")


def sed_only_prints(script: str) -> bool:
    """True if every command of ``script`` is understood and writes nothing but its output."""
    at = 0
    while at < len(script):
        if script[at] in " \t;\n{}":
            at += 1
            continue
        if script[at] == "#":
            at = _to_line_end(script, at)
            continue
        found = _command(script, at)
        if found is None:
            return False
        at = found
    return True


def _to_line_end(script: str, at: int) -> int:
    end = script.find("\n", at)
    return len(script) if end < 0 else end


def _command(script: str, at: int) -> int | None:
    """The place behind the command at ``at``; None if it is not understood."""
    place: int | None = _addresses(script, at)
    if place is None:
        return None
    place = _skip(script, place, " \t!")
    letter = script[place : place + 1]
    if letter == "{":
        return place + 1
    if letter in _PLAIN_COMMANDS and letter:
        return _end(script, place + 1)
    if letter in ("q", "Q"):
        place += 1
        place = _skip(script, place, " \t0123456789")
        return _end(script, place)
    if letter in ("b", "t", "T"):
        match = re.compile(r"[ \t]*[\w.-]*").match(script, place + 1)
        return _end(script, match.end() if match else place + 1)
    if letter == ":":
        match = re.compile(r"[ \t]*[\w.-]+[ \t]*(?=\n|;|$)").match(script, place + 1)
        return match.end() if match else None
    if letter == "s":
        return _substitution(script, place + 1)
    return _transliteration(script, place + 1) if letter == "y" else None


def _skip(script: str, at: int, characters: str) -> int:
    while at < len(script) and script[at] in characters:
        at += 1
    return at


def _end(script: str, at: int) -> int | None:
    at = _skip(script, at, " \t")
    return at if at >= len(script) or script[at] in _ENDS or script[at] == "#" else None


def _addresses(script: str, at: int) -> int | None:
    first = _address(script, at)
    if first is None or first == at:
        return first
    place = _skip(script, first, " \t")
    if script[place : place + 1] != ",":
        return place
    place = _skip(script, place + 1, " \t")
    second = _address(script, place)
    return None if second is None or second == place else second


def _address(script: str, at: int) -> int | None:
    """The place behind an address; ``at`` itself if there is none."""
    match = _ADDRESS.match(script, at)
    if match:
        return match.end()
    if script[at : at + 1] == "/":
        delimiter, start = "/", at + 1
    elif script[at : at + 1] == "\\" and len(script) > at + 1:
        delimiter, start = script[at + 1], at + 2
    else:
        return at
    end = _delimited(script, start, delimiter)
    return None if end is None else _skip(script, end, "IM")


def _delimited(script: str, at: int, delimiter: str) -> int | None:
    """The place behind the next ``delimiter``. Brackets do not hide it: where they would, it is not understood."""
    if delimiter in "\\\n":
        return None
    bracket = False
    while at < len(script):
        character = script[at]
        if character == "\\":
            at += 2
            continue
        if character == "\n":
            return None
        if character == "[":
            bracket = True
        elif character == "]":
            bracket = False
        elif character == delimiter:
            return None if bracket else at + 1
        at += 1
    return None


def _substitution(script: str, at: int) -> int | None:
    delimiter = script[at : at + 1]
    place = _delimited(script, at + 1, delimiter) if delimiter else None
    place = None if place is None else _replacement(script, place, delimiter)
    if place is None:
        return None
    return _end(script, _skip(script, place, "gpiIMm0123456789"))


def _replacement(script: str, at: int, delimiter: str) -> int | None:
    while at < len(script):
        if script[at] == "\\":
            at += 2
        elif script[at] == delimiter:
            return at + 1
        else:
            at += 1
    return None


def _transliteration(script: str, at: int) -> int | None:
    delimiter = script[at : at + 1]
    if not delimiter or delimiter in "\\\n":
        return None
    place = _replacement(script, at + 1, delimiter)
    place = None if place is None else _replacement(script, place, delimiter)
    return None if place is None else _end(script, place)
