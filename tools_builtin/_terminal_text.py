"""What a terminal would show of a program's output, as plain text.

Above is the shell tool, below nothing. Works on a stream: bytes go in as they are read, finished lines come out, and
never more than one bounded line is held back.

Source of the control sequences: ECMA-48 (5th edition) sections 5.3, 5.4 and 5.6, and xterm's ctlseqs page for OSC.
"""

import codecs
import re

# A line longer than this is given out in pieces; what was given out can no longer be overwritten.
MAX_HELD_BACK = 16_384

# Bytes that need more than a copy. 0xC2 leads the UTF-8 form of the C1 controls.
_MARKS = bytes([*range(0x00, 0x09), *range(0x0B, 0x20), 0x7F, 0xC2])
_MARK = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

_SEQUENCE = re.compile(
    r"\x1b\[[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]"  # CSI
    r"|\x9b[\x30-\x3f]*[\x20-\x2f]*[\x40-\x7e]"  # CSI in one character
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[\x20-\x2f]*[\x30-\x7e]"  # the others, and the introducer of a sequence that never ends
    r"|[\x07\x0e\x0f\x1b\x9b]"  # bell, character set shifts, what a cut sequence leaves
)
# No sequence is left by then, so their introducers can stand for "erase to the right" and "erase the line".
_ERASE_RIGHT, _ERASE_LINE = "\x1b", "\x9b"
_ERASES = {"K": _ERASE_RIGHT, "0K": _ERASE_RIGHT, "2K": _ERASE_LINE}
_MOVES = re.compile(r"([\r\b\x1b\x9b])")
# Controls with neither a glyph nor a meaning here; they stay visible.
_ODD = re.compile(r"[\x00-\x06\x0b\x0c\x10-\x1a\x1c-\x1f\x7f-\x9a\x9c-\x9f]")


class TerminalText:
    """Bytes of one stream to text: UTF-8 (bad bytes become U+FFFD), no escape sequences, overwritten parts gone."""

    __slots__ = ("_decoder", "_held", "_marked")

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._marked = False

    def feed(self, data: bytes) -> str:
        """The text that is now certain: whole lines, or pieces of an overlong one."""
        text = self._decoder.decode(data)
        marked = self._marked or len(data.translate(None, _MARKS)) != len(data)
        end = text.rfind("\n") + 1
        ready = self._held + text[:end] if end else ""
        self._held = text[end:] if end else self._held + text
        if len(self._held) > MAX_HELD_BACK:
            cut = _before_open_sequence(self._held)
            ready, self._held = ready + self._held[:cut], self._held[cut:]
        # The first byte of a C1 control is still in the decoder then.
        self._marked = (marked and _MARK.search(self._held) is not None) or data.endswith(b"\xc2")
        return shown(ready) if marked else ready

    def release(self) -> str:
        """What is held back of a line that has not ended; it can no longer be overwritten then."""
        cut = _before_open_sequence(self._held)
        ready, self._held = self._held[:cut], self._held[cut:]
        return shown(ready)

    def finish(self) -> str:
        """The rest, once the stream has ended."""
        rest = shown(self._held + self._decoder.decode(b"", final=True))
        self._held, self._marked = "", False
        return rest


def _before_open_sequence(text: str) -> int:
    """Where to cut so that a sequence which may go on stays whole."""
    escape = text.rfind("\x1b", len(text) - 256)
    return len(text) if escape < 0 else escape


def shown(text: str) -> str:
    """``text`` as a terminal shows it, line by line; other control characters as ``\\xNN``."""
    text = _SEQUENCE.sub(_erase_or_nothing, text)
    if _MOVES.search(text) is not None:
        text = "\n".join(_overwritten(line) for line in text.split("\n"))
    return _ODD.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return f"\\x{ord(match[0]):02x}"


def _erase_or_nothing(match: re.Match[str]) -> str:
    sequence = match[0]
    if not sequence.endswith("K"):
        return ""
    return _ERASES.get(sequence.removeprefix("\x1b[").removeprefix("\x9b"), "")


def _overwritten(line: str) -> str:
    cells: list[str] = []
    cursor = 0
    for token in _MOVES.split(line):
        if token == "\r":
            cursor = 0
        elif token == "\b":
            cursor = max(0, cursor - 1)
        elif token == _ERASE_RIGHT:
            del cells[cursor:]
        elif token == _ERASE_LINE:
            cells.clear()
        elif token:
            cells.extend(" " * (cursor - len(cells)))
            cells[cursor : cursor + len(token)] = token
            cursor += len(token)
    return "".join(cells)
