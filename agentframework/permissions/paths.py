"""Path patterns of file rules, and the forms a path is judged in.

Four anchors: ``//x`` is absolute, ``/x`` belongs to the project, ``~/x`` to the home directory, ``./x`` and
bare ``x`` to the working directory. ``*`` stays inside one component, ``**`` spans any number. Everything is
compared component by component.

A pattern that restricts is read widely: it also covers what lies below a match, a bare name fits at any depth,
a single leading slash may as well have been meant as absolute, ``?`` and ``[...]`` may be wildcards. A pattern
that permits is read narrowly: only what it says, and only where the path really leads.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agentframework.permissions.patterns import Gap, Match, Piece, glob_pieces, intersect
from agentframework.sandbox import OutsideWorkspaceError, Sandbox, is_within

_DEEP = "**"
_MOST_ALTERNATIVES = 100
_FLAGS = re.DOTALL
_CASE = re.IGNORECASE if sys.platform == "darwin" else 0


@dataclass(frozen=True, slots=True)
class PathForms:
    """A path as a call names it: absolute ``spellings``, the ``real`` place, and whether that is in a root."""

    spellings: tuple[str, ...]
    real: str
    inside: bool


def absolute(path: str, directory: str) -> str:
    """``path`` seen from ``directory``, with ``.``, ``..`` and doubled slashes taken out of the text."""
    # normpath keeps two leading slashes, which POSIX leaves open and Linux treats as one.
    return "/" + os.path.normpath(os.path.join(directory, path)).lstrip("/")


def path_forms(sandbox: Sandbox, path: str, directory: str, home: str | None = None) -> PathForms:
    """The forms of ``path`` seen from ``directory``; a leading ``~/`` may mean the home directory or a name."""
    joined = os.path.join(directory, path)
    spellings = [absolute(path, directory)]
    if home is not None and (path == "~" or path.startswith("~/")):
        spellings.append(absolute("." + path[1:], home))
    try:
        real, inside = sandbox.resolve(joined).path, True
    except OutsideWorkspaceError:
        real, inside = real_path(joined), False
    return PathForms((*spellings, *(real_path(place) for place in spellings[1:])), real, inside)


def real_path(path: str) -> str:
    """``path`` with every link followed; one that cannot be followed stays as it is."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return absolute(path, "/")


@dataclass(frozen=True, slots=True)
class _Component:
    """One component of a pattern; a ``literal`` one comes from the root, and no wildcard in it counts."""

    text: str
    literal: bool = False

    @property
    def deep(self) -> bool:
        return self.text == _DEEP and not self.literal


_Fits = Callable[[_Component, str, bool], bool]


@dataclass(frozen=True)
class PathPattern:
    """One compiled pattern: components below ``root``. ``wide`` as said at the top of this module.

    Paths at or below ``apart`` do not count.
    """

    root: str
    components: tuple[str, ...]
    wide: bool
    apart: str | None = None

    def matches(self, path: str) -> bool:
        """True if the absolute, normalised ``path`` fits (for a wide pattern: or lies below what fits)."""
        return self.matches_any((path,))

    def matches_any(self, paths: Iterable[str]) -> bool:
        """True if one of ``paths`` `matches`."""
        texts = [path.rstrip("/") for path in paths if self.apart is None or not is_within(path, self.apart)]
        if not texts:
            return False
        return any(_whole(pattern, self.wide).fullmatch(text) for pattern in self._patterns for text in texts)

    def could_match(self, path: str) -> bool:
        """The same for a path that holds shell wildcards: True if it may become one that fits."""
        parts = _split(path)
        if _DEEP in parts:
            parts = parts[: parts.index(_DEEP)]
            return self._walk(parts, _segment_could_match) is not Match.NO
        return self._walk(parts, _segment_could_match) is Match.YES

    def reaches_below(self, directory: str) -> bool:
        """True if something under ``directory`` may fit."""
        return self._walk(_split(directory), _segment_matches) is not Match.NO

    def _walk(self, path: tuple[str, ...], fits: _Fits) -> Match:
        """YES: the path fits. MAYBE: something below it may. NO: neither."""
        best = Match.NO
        if self.apart is not None and is_within("/" + "/".join(path), self.apart):
            return best
        for pattern in self._patterns:
            found = _walk(pattern, path, self.wide, fits)
            if found is Match.YES:
                return found
            best = max(best, found)
        return best

    @property
    def _patterns(self) -> Iterable[tuple[_Component, ...]]:
        yield self._full
        if self.wide and self._literal:
            # The rule may name a link: then it also holds for the place the link leads to, as of now.
            literal = os.path.join(self.root, *self._literal)
            real = real_path(literal)
            if real != literal:
                yield (*_literals(real), *map(_Component, self.components[len(self._literal) :]))

    @cached_property
    def _full(self) -> tuple[_Component, ...]:
        return (*_literals(self.root), *map(_Component, self.components))

    @cached_property
    def _literal(self) -> tuple[str, ...]:
        """The leading components without wildcards."""
        for number, component in enumerate(self.components):
            if any(character in component for character in "*?["):
                return self.components[:number]
        return self.components


def _literals(path: str) -> Iterable[_Component]:
    return (_Component(part, literal=True) for part in _split(path))


def _split(path: str) -> tuple[str, ...]:
    return tuple(part for part in path.split("/") if part)


def _walk(pattern: tuple[_Component, ...], path: tuple[str, ...], wide: bool, fits: _Fits) -> Match:
    end = len(pattern)
    positions = _closure({0}, pattern)
    for component in path:
        if wide and end in positions:
            return Match.YES
        positions = _closure(
            {at for at in positions if at < end and pattern[at].deep}
            | {at + 1 for at in positions if at < end and not pattern[at].deep and fits(pattern[at], component, wide)},
            pattern,
        )
        if not positions:
            return Match.NO
    return Match.YES if end in positions else Match.MAYBE


def _closure(positions: set[int], pattern: tuple[_Component, ...]) -> set[int]:
    """``**`` may take nothing."""
    reached = set(positions)
    for at in positions:
        while at < len(pattern) and pattern[at].deep:
            at += 1
            reached.add(at)
    return reached


def _segment_matches(pattern: _Component, component: str, wide: bool) -> bool:
    return re.fullmatch(_regex(pattern, wide), component, _FLAGS | (_CASE if wide else 0)) is not None


def _segment_could_match(pattern: _Component, component: str, wide: bool) -> bool:
    pieces: Sequence[Piece] = list(pattern.text)
    if not pattern.literal:
        pieces = glob_pieces(pattern.text) if wide else [Gap.ANY if mark == "*" else mark for mark in pattern.text]
    return intersect(pieces, glob_pieces(component))


@lru_cache(maxsize=4096)
def _whole(pattern: tuple[_Component, ...], wide: bool) -> re.Pattern[str]:
    """The regular expression of a whole path, which has a slash before each component and none at the end."""
    parts = ["(?:/[^/]+)*" if part.deep else f"/{_regex(part, wide)}" for part in pattern]
    return re.compile("".join(parts) + ("(?:/.*)?" if wide else ""), _FLAGS | (_CASE if wide else 0))


@lru_cache(maxsize=4096)
def _regex(pattern: _Component, wide: bool) -> str:
    """The regular expression of one component."""
    if pattern.literal:
        return re.escape(pattern.text)
    literal = "[^/]*".join(re.escape(part) for part in re.split(r"\*+", pattern.text))
    if not wide:
        return literal
    shell = "".join(map(_regex_of, re.findall(r"\[[^\]]+\]|\*+|.", pattern.text, re.DOTALL)))
    try:
        re.compile(shell)
    except re.error:
        return literal
    return f"(?:{literal}|{shell})"


def _regex_of(part: str) -> str:
    """The regular expression of one element of a shell wildcard."""
    if part.startswith("*") or part == "?":
        return "[^/]*" if part.startswith("*") else "[^/]"
    if len(part) < 3:
        return re.escape(part)
    negated = part[1] in "!^" and len(part) > 3
    members = part[2 if negated else 1 : -1]
    found: list[str] = []
    at = 0
    while at < len(members):
        last = members[at + 2] if members[at + 1 : at + 2] == "-" and at + 2 < len(members) else None
        found.append(re.escape(members[at]) + (f"-{re.escape(last)}" if last is not None else ""))
        at += 1 if last is None else 3
    return f"(?!/)[{'^' if negated else ''}{''.join(found)}]"


def compile_paths(text: str, *, base: str, home: str | None, wide: bool) -> tuple[PathPattern, ...]:
    """The patterns that ``text`` stands for. ``base`` is the project and the working directory of the rule, absolute
    and without links in it.

    Raises ``ValueError`` with what is wrong with it.
    """
    texts = _alternatives(text) if wide else [text]
    return tuple(pattern for one in texts for pattern in _compile(one, base, home, wide))


def _alternatives(text: str) -> list[str]:
    """``a{b,c}`` itself, ``ab`` and ``ac``: a restriction written with braces must not be without effect."""
    found = [text]
    for one in found:
        braces = re.search(r"\{([^{}]*,[^{}]*)\}", one)
        if braces is not None and len(found) < _MOST_ALTERNATIVES:
            found += [one[: braces.start()] + part + one[braces.end() :] for part in braces[1].split(",")]
    return found


def _compile(text: str, base: str, home: str | None, wide: bool) -> tuple[PathPattern, ...]:
    if "\0" in text:
        raise ValueError("holds a NUL character")
    if text in ("*", _DEEP) and (wide or text == "*"):
        return (PathPattern("/", (_DEEP,), wide),)
    if text.startswith("//"):
        anchors = [("/", text[2:])]
    elif text.startswith("/"):
        anchors = [(base, text[1:])] + ([("/", text[1:])] if wide else [])
    elif text == "~" or text.startswith("~/"):
        if home is None:
            raise ValueError("starts in the home directory, and no home directory is known")
        anchors = [(place, text[2:]) for place in dict.fromkeys((home, real_path(home)))]
    elif text.startswith("~"):
        raise ValueError("names another user's home directory; write it with // from the root")
    else:
        anchors = [(base, text)]
        if wide and _floats(text):
            deep = f"{_DEEP}/{text}"
            # Elsewhere too (other roots), but what stands above the project must not make all of it match.
            return (_anchored(base, deep, wide), _anchored("/", deep, wide, apart=base))
    return tuple(_anchored(root, rest, wide) for root, rest in anchors)


def _floats(text: str) -> bool:
    """True for a pattern that fits at any depth: a bare name, or one that says so."""
    return text.startswith(f"{_DEEP}/") or ("/" not in text.rstrip("/") and text.strip("./") != "")


def _anchored(root: str, rest: str, wide: bool, apart: str | None = None) -> PathPattern:
    components: list[str] = []
    for part in _split(rest):
        if part == "..":
            if components:
                components.pop()
            else:
                root = os.path.dirname(root)
        elif part != ".":
            components.append(_DEEP if re.fullmatch(r"\*{2,}", part) else part)
    if (not components or rest.endswith("/")) and not wide:
        components.append(_DEEP)
    return PathPattern(root, tuple(components), wide, apart)
