"""Walks a directory tree for files that match: without recursion, links or surprises.

Directories are entered by descriptor, so a link put in a directory's place during the walk is an error there,
not a way out.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from ._atomic import TEMPORARY_SUFFIX
from ._paths import open_directory
from ._patterns import PathPattern, States

SKIPPED_DIRECTORIES = (".git", "node_modules")
_NAMED = 5


@dataclass(slots=True)
class Unreadable:
    """Directories that could not be read: how many, and the first of them."""

    count: int = 0
    names: list[str] = field(default_factory=list[str])

    def add(self, name: str) -> None:
        self.count += 1
        if len(self.names) < _NAMED:
            self.names.append(name)


def walk(
    root: str, patterns: Sequence[PathPattern], check: Callable[[], None], unreadable: Unreadable
) -> Iterator[tuple[int, str]]:
    """Modification time (ns) and path below ``root`` of each match that is no directory, nor a link to one.

    ``check`` is called again and again and may raise to end the walk.
    """
    waiting: list[tuple[str, list[States]]] = [("", [pattern.start for pattern in patterns])]
    while waiting:
        below, states = waiting.pop()
        check()
        try:
            fd = open_directory(os.path.join(root, below) if below else root)
        except FileNotFoundError:
            if not below:
                unreadable.add(".")
            continue
        except OSError:
            unreadable.add(below or ".")
            continue
        try:
            with os.scandir(fd) as entries:
                yield from _entries(entries, below, (patterns, states), waiting, check)
        except OSError:
            unreadable.add(below or ".")
        finally:
            os.close(fd)


def _entries(
    entries: "Iterator[os.DirEntry[str]]",
    below: str,
    search: tuple[Sequence[PathPattern], list[States]],
    waiting: list[tuple[str, list[States]]],
    check: Callable[[], None],
) -> Iterator[tuple[int, str]]:
    patterns, states = search
    parts = [pattern.last_part(state) for pattern, state in zip(patterns, states, strict=True)]
    matchers = [part.fullmatch for part in parts if part is not None]
    for number, entry in enumerate(entries):
        if number % 1_000 == 999:
            check()
        name = entry.name
        if entry.is_dir(follow_symlinks=False):
            if name not in SKIPPED_DIRECTORIES:
                entered = [p.enter(s, name) if s else s for p, s in zip(patterns, states, strict=True)]
                if any(entered):
                    waiting.append((_join(below, name), entered))
            continue
        for matcher in matchers:
            if matcher(name) is not None:
                modified = _modified(entry)
                if modified is not None and not name.endswith(TEMPORARY_SUFFIX):
                    yield modified, _join(below, name)
                break


def _join(below: str, name: str) -> str:
    return f"{below}/{name}" if below else name


def _modified(entry: "os.DirEntry[str]") -> int | None:
    """None if it is gone already, or a link to a directory."""
    try:
        if entry.is_symlink() and entry.is_dir():
            return None
        return entry.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return None
