"""JSON lines: one object a line, UTF-8, readable whatever a crash left at the end."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agentframework._base.bounded import printable

_compact = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is no JSON object: its number (from 1) and why."""

    number: int
    reason: str


def dump_line(record: dict[str, Any]) -> bytes:
    """``record`` as one line with its newline.

    Line separators that some readers take for a line end (U+2028, U+2029, U+0085) are escaped; lone
    surrogates become U+FFFD. Raises ``ValueError`` for NaN and infinities, ``TypeError`` for objects.
    """
    text = printable(_compact.encode(record))
    for raw, escaped in (("\u2028", "\\u2028"), ("\u2029", "\\u2029"), ("\x85", "\\u0085")):
        text = text.replace(raw, escaped)
    return text.encode() + b"\n"


def read_lines(data: bytes) -> Iterator[dict[str, Any] | BadLine]:
    """Each line of ``data`` as an object, or a `BadLine`; blank lines are skipped."""
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield BadLine(number, str(error))
            continue
        yield value if isinstance(value, dict) else BadLine(number, "not a JSON object")
