r"""Decoding of `$'...'` strings, as the section "ANSI-C Quoting" of the bash manual describes them."""

from __future__ import annotations

import re

_ESCAPE = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|x\{(?P<braced>[0-9A-Fa-f]*)\}?"
    r"|u(?P<short>[0-9A-Fa-f]{1,4})|U(?P<long>[0-9A-Fa-f]{1,8})|c(?P<control>\\\\|.)|(?P<letter>.))",
    re.DOTALL,
)
_LETTERS = {
    "a": 7, "b": 8, "e": 27, "E": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11,
    "\\": 92, "'": 39, '"': 34, "?": 63,
}  # fmt: skip


def decode(text: str) -> str | None:
    """The value of the inside of `$'...'`; None when it holds an escape whose result depends on the locale."""
    pieces: list[str] = []
    pending = bytearray()  # bytes of neighbouring escapes may form one UTF-8 character together
    last = 0
    for match in _ESCAPE.finditer(text):
        between = text[last : match.start()]
        last = match.end()
        if between:
            _flush(pending, pieces)
            pieces.append(between)
        if match["letter"] and match["letter"] not in _LETTERS:
            _flush(pending, pieces)
            pieces.append(match[0])
            continue
        byte = _byte(match)
        if byte is None:
            return None
        if byte == 0:  # a NUL ends the string: bash keeps strings the way C does
            last = len(text)
            break
        pending.append(byte)
    _flush(pending, pieces)
    pieces.append(text[last:])
    return "".join(pieces)


def _flush(pending: bytearray, pieces: list[str]) -> None:
    if pending:
        pieces.append(pending.decode("utf-8", "surrogateescape"))
        pending.clear()


def _byte(match: re.Match[str]) -> int | None:
    group = match.lastgroup or "letter"
    value = match[group]
    if group == "letter":
        return _LETTERS[value]
    if group == "octal":
        return int(value, 8) & 0xFF
    if group == "hex":
        return int(value, 16)
    if group == "control":
        return _control(value[0])
    if group in ("short", "long") and int(value, 16) < 0x80:
        return int(value, 16)
    return None


def _control(char: str) -> int | None:
    if ord(char) >= 0x80:
        return None
    return 0x7F if char == "?" else ord(char.upper()) & 0x1F
