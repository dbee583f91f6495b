"""File name patterns: ``*``, ``?``, ``[...]``, ``**`` and nested ``{a,b}``, compiled for a walk.

A pattern is matched segment by segment while walking down, so that directories in which nothing can match are
never opened. Names beginning with a dot are names like any other. ``\\`` takes a character literally.
"""

import re
from collections.abc import Iterable

from ._paths import RefusalError

MAX_ALTERNATIVES = 500
_MAGIC = re.compile(r"[*?\[\\]")

States = frozenset[int]
_Part = re.Pattern[str] | None  # None is **


def expand_braces(pattern: str) -> list[str]:
    """``a{b,c{d,e}}`` → ``ab``, ``acd``, ``ace``. A brace without its partner is an ordinary character.

    Raises `RefusalError` for more than `MAX_ALTERNATIVES`.
    """
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        current = waiting.pop()
        group = _first_group(current)
        if group is None:
            done.append(current)
        else:
            start, commas, end = group
            bounds = [start, *commas, end]
            parts = [current[a + 1 : b] for a, b in zip(bounds, bounds[1:], strict=False)]
            waiting += [current[:start] + part + current[end + 1 :] for part in reversed(parts)]
        if len(done) + len(waiting) > MAX_ALTERNATIVES:
            raise RefusalError(f"the pattern stands for more than {MAX_ALTERNATIVES} alternatives; narrow it")
    return list(dict.fromkeys(done))


def _first_group(pattern: str) -> tuple[int, list[int], int] | None:
    """Opening brace, commas and closing brace of the first complete group."""
    open_braces: list[tuple[int, list[int]]] = []
    found: tuple[int, list[int], int] | None = None
    index = 0
    while index < len(pattern):
        character = pattern[index]
        if character == "\\":
            index += 1
        elif character == "{":
            open_braces.append((index, []))
        elif character == "," and open_braces:
            open_braces[-1][1].append(index)
        elif character == "}" and open_braces:
            start, commas = open_braces.pop()
            # The outermost of groups within each other begins first.
            if found is None or start < found[0]:
                found = (start, commas, index)
            if not open_braces:
                return found
        index += 1
    return found


def is_literal(segment: str) -> bool:
    """True if ``segment`` names exactly itself."""
    return segment != "**" and _MAGIC.search(segment) is None


class PathPattern:
    """One pattern without braces, relative to the directory where the walk begins.

    A walk carries a set of states: `start` for its root, `enter` for each directory below; `last_part` is what
    the names of files in it must match. An empty set of states means that nothing below can match.
    """

    def __init__(self, segments: Iterable[str]) -> None:
        parts: list[_Part] = []
        for segment in segments:
            if segment != "**":
                parts.append(re.compile(_segment_regex(segment), re.DOTALL))
            elif not parts or parts[-1] is not None:
                parts.append(None)
        if parts and parts[-1] is None:
            parts.append(re.compile(".*", re.DOTALL))  # at the end ** is every file below
        self._parts = tuple(parts)
        self.start: States = self._closed({0})

    def enter(self, states: States, name: str) -> States:
        """The states in the directory ``name``."""
        following = self._step(states, name)
        return self._closed(state for state in following if state < len(self._parts))

    def last_part(self, states: States) -> re.Pattern[str] | None:
        """What the whole name of a file in this directory must match; None if none can."""
        last = len(self._parts) - 1
        return self._parts[last] if last in states else None

    def _step(self, states: States, name: str) -> Iterable[int]:
        for state in states:
            part = self._parts[state]
            if part is None:
                yield state
            elif part.fullmatch(name):
                yield state + 1

    def _closed(self, states: Iterable[int]) -> States:
        closed = set(states)
        closed |= {state + 1 for state in closed if self._parts and self._parts[state] is None}
        return frozenset(closed)


def _segment_regex(segment: str) -> str:
    """``*`` becomes a lazy atomic group up to what follows it, so that no name takes exponential time."""
    pieces: list[str] = [""]
    index = 0
    while index < len(segment):
        if segment[index] == "*":
            if len(pieces) == 1 or pieces[-1]:
                pieces.append("")
            index += 1
            continue
        piece, index = _one_character(segment, index)
        pieces[-1] += piece
    first, *rest = pieces
    if not rest:
        return first
    return first + "".join(f"(?>.*?{piece})" for piece in rest[:-1]) + f".*{rest[-1]}"


def _one_character(segment: str, index: int) -> tuple[str, int]:
    character = segment[index]
    if character == "\\" and index + 1 < len(segment):
        return re.escape(segment[index + 1]), index + 2
    if character == "?":
        return ".", index + 1
    if character == "[":
        found = re.compile(r"\[([!^]?)(\]?[^\]]*)\]").match(segment, index)
        if found is not None and found.group(2):
            negated, members = found.groups()
            return _character_class(bool(negated), members), found.end()
    return re.escape(character), index + 1


def _character_class(negated: bool, members: str) -> str:
    pieces: list[str] = []
    index = 0
    while index < len(members):
        if index + 2 < len(members) and members[index + 1] == "-":
            low, high = members[index], members[index + 2]
            if low <= high:
                pieces.append(f"{re.escape(low)}-{re.escape(high)}")
            index += 3
        else:
            pieces.append(re.escape(members[index]))
            index += 1
    if not pieces:  # only ranges that run backwards: no character is in them
        return "." if negated else "(?!)"
    return f"[{'^' if negated else ''}{''.join(pieces)}]"
