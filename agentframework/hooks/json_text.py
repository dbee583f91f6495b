"""JSON objects in what a program prints, alone or among other text.

Above: `agentframework.hooks.output`, which knows what they mean. Text is scanned once, whatever it holds: an attempt
that fails is not tried again from inside without end.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_FAILURES = 1_000
_OPENING = re.compile(r'\{(?=\s*["}])')


@dataclass(frozen=True, slots=True)
class Found:
    """``whole`` is the object that the text is, if it is one; else ``objects`` are those in it.

    ``readable``: nothing in the text looks like an object without being one.
    """

    whole: Mapping[str, Any] | None
    objects: Sequence[Mapping[str, Any]]
    readable: bool


def find_objects(text: str) -> Found:
    """The JSON objects in ``text``. One that names a field twice is there once for each way to read it, and never
    whole: which of the two was meant nobody can say."""
    reader = _Reader()
    objects: list[Mapping[str, Any]] = []
    failures = 0
    opening = _OPENING.search(text)
    while opening is not None and failures < MAX_FAILURES:
        start = opening.start()
        readings, end = reader.read(text, start)
        if start == 0 and end == len(text) and len(readings) == 1:
            return Found(readings[0], readings, True)
        objects += readings
        failures += not readings or len(readings) > 1
        opening = _OPENING.search(text, end)
    return Found(None, objects, failures == 0)


class _Reader:
    def __init__(self) -> None:
        self._repeated = False
        self._last = json.JSONDecoder(object_pairs_hook=self._keep_last, parse_constant=_refuse)
        self._first = json.JSONDecoder(object_pairs_hook=_keep_first, parse_constant=_refuse)

    def read(self, text: str, start: int) -> tuple[list[Mapping[str, Any]], int]:
        """The readings of the object at ``start`` (none if it is not one), and where to go on."""
        self._repeated = False
        try:
            value, end = self._last.raw_decode(text, start)
            if not self._repeated:
                return [value], end
            return [value, self._first.raw_decode(text, start)[0]], end
        except (ValueError, RecursionError):
            return [], start + 1

    def _keep_last(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields = dict(pairs)
        self._repeated = self._repeated or len(fields) != len(pairs)
        return fields


def _keep_first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return dict(reversed(pairs))


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no JSON")
