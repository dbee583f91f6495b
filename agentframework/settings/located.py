"""JSON whose every value knows its line, so that a rule or a fault can be shown where it was written.

`json.loads` decides what is JSON and words the faults; the second pass only walks a text that is known to be good.
A key that stands twice in an object is not lost, as it would be there: lists and objects are put together, because the
one that goes missing may be the one that forbids something.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

Key = tuple[str | int, ...]

_BLANK = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"[^\s,\]}]+")
_MAX_DEPTH = 64
_DECODER = json.JSONDecoder()


class LocatedError(ValueError):
    """The text is no JSON that can be used; ``line`` and ``column`` count from 1."""

    def __init__(self, problem: str, line: int, column: int) -> None:
        super().__init__(problem)
        self.line = line
        self.column = column


@dataclass(frozen=True, slots=True)
class Located:
    """A value, the line and column of each part of it by its keys, and the keys that stood twice."""

    value: Any
    places: Mapping[Key, tuple[int, int]]
    doubled: tuple[Key, ...] = ()


def parse_located(text: str) -> Located:
    """Raises `LocatedError`."""
    try:
        json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise LocatedError(error.msg, error.lineno, error.colno) from None
    except RecursionError:
        raise LocatedError("it is nested too deeply", 1, 1) from None
    except ValueError as error:
        raise LocatedError(str(error), 1, 1) from None
    walk = _Walk(text)
    value = walk.value((), 0)
    return Located(value, walk.places, tuple(walk.doubled))


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


@dataclass(slots=True)
class _Walk:
    text: str
    at: int = 0
    places: dict[Key, tuple[int, int]] = field(default_factory=dict[Key, tuple[int, int]])
    doubled: list[Key] = field(default_factory=list[Key])
    _line: int = 1
    _begin: int = 0
    _seen: int = 0

    def _skip(self) -> str:
        self.at = cast("re.Match[str]", _BLANK.match(self.text, self.at)).end()
        return self.text[self.at : self.at + 1]

    def _place(self) -> tuple[int, int]:
        """Line and column of the current position; positions are asked for in order."""
        lines = self.text.count("\n", self._seen, self.at)
        if lines:
            self._line += lines
            self._begin = self.text.rfind("\n", self._seen, self.at) + 1
        self._seen = self.at
        return self._line, self.at - self._begin + 1

    def value(self, key: Key, depth: int) -> Any:
        mark = self._skip()
        self.places.setdefault(key, self._place())
        if depth > _MAX_DEPTH:
            raise LocatedError("it is nested too deeply", *self._place())
        if mark == "{":
            return self._object(key, depth)
        if mark == "[":
            return self._list(key, 0, depth)
        if mark == '"':
            found, self.at = _DECODER.raw_decode(self.text, self.at)
            return found
        scalar = cast("re.Match[str]", _SCALAR.match(self.text, self.at))
        self.at = scalar.end()
        return json.loads(scalar[0])

    def _object(self, key: Key, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.at += 1
        while self._skip() != "}":
            if self.text[self.at] == ",":
                self.at += 1
                self._skip()
            here = self._place()
            name, self.at = _DECODER.raw_decode(self.text, self.at)
            self._skip()
            self.at += 1
            inner = (*key, name)
            if name in found:
                self.doubled.append(inner)
                self._again(found, name, inner, depth)
                continue
            self.places[inner] = here
            found[name] = self.value(inner, depth + 1)
        self.at += 1
        return found

    def _again(self, found: dict[str, Any], name: str, key: Key, depth: int) -> None:
        """The second value of a key: joined to the first if both are lists or objects, else in its place."""
        earlier, mark = found[name], self._skip()
        if isinstance(earlier, list) and mark == "[":
            entries = cast("list[Any]", earlier)
            entries += self._list(key, len(entries), depth + 1)
        elif isinstance(earlier, dict) and mark == "{":
            _join(cast("dict[str, Any]", earlier), self._object(key, depth + 1))
        else:
            found[name] = self.value(key, depth + 1)

    def _list(self, key: Key, first: int, depth: int) -> list[Any]:
        found: list[Any] = []
        self.at += 1
        while self._skip() != "]":
            if self.text[self.at] == ",":
                self.at += 1
            found.append(self.value((*key, first + len(found)), depth + 1))
        self.at += 1
        return found


def _join(earlier: dict[str, Any], later: dict[str, Any]) -> None:
    for name, value in later.items():
        before = earlier.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            _join(cast("dict[str, Any]", before), cast("dict[str, Any]", value))
        elif isinstance(before, list) and isinstance(value, list):
            earlier[name] = [*cast("list[Any]", before), *cast("list[Any]", value)]
        else:
            earlier[name] = value
