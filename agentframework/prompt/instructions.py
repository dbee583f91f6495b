"""Instruction files of a trusted project: ``AGENTS.md`` and ``CLAUDE.md``, from its root down to the working directory.

A line may import another file of the project with ``@path``. Each file counts once, whatever links and imports lead to
it. Nothing outside the root is opened, and all together stay within a size.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

NAMES = ("AGENTS.md", "CLAUDE.md")
MAX_DEPTH = 5
MAX_FILE_BYTES = 4 * 1024 * 1024
MAX_CHARACTERS = 200_000
_FENCE = re.compile(r"^\s*(```|~~~)")
_CODE = re.compile(r"`[^`]*`")
_IMPORT = re.compile(r"(?:^|(?<=\s))@([^\s`@]+)")

Stamp = tuple[int, ...] | None


class InstructionFiles(Protocol):
    """The files of a project."""

    @property
    def root(self) -> str:
        """Absolute and canonical."""
        ...

    def real(self, path: str) -> str | None:
        """Where a path leads; None if that is outside."""
        ...

    def read(self, path: str, limit: int) -> bytes | None:
        """The content; None without such a file. Raises if it must not or cannot be read."""
        ...

    def stamp(self, path: str) -> Stamp:
        """What changes when the file does."""
        ...


@dataclass(slots=True)
class _Reading:
    """One pass over all files. ``texts`` by the path from the root, in order; ``stamps`` of all that was looked for."""

    texts: dict[str, str] = field(default_factory=dict[str, str])
    stamps: dict[str, Stamp] = field(default_factory=dict[str, Stamp])
    problems: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    seen: set[str] = field(default_factory=set[str])
    left: int = MAX_CHARACTERS


class Instructions:
    """The instructions for ``cwd``, which lies in the project. Nothing is read before `refresh`."""

    def __init__(self, files: InstructionFiles, cwd: str) -> None:
        self._files = files
        self._cwd = cwd
        self._now = _Reading()

    @property
    def text(self) -> str:
        """All of them, each under its path; empty without any."""
        return "\n\n".join(f"Instructions from {path}:\n\n{text}" for path, text in self._now.texts.items())

    @property
    def problems(self) -> list[tuple[str, str]]:
        """Files that could not be used, as path and reason."""
        return self._now.problems

    def refresh(self) -> tuple[str, ...]:
        """Read again what has changed; gives the paths whose text is another now than before, or gone."""
        before = self._now
        if before.stamps and all(self._files.stamp(path) == stamp for path, stamp in before.stamps.items()):
            return ()
        self._now = _Reading()
        for path in self._candidates():
            self._include(path, 0)
        paths = dict.fromkeys((*before.texts, *self._now.texts))
        return tuple(path for path in paths if before.texts.get(path) != self._now.texts.get(path))

    def _candidates(self) -> Iterator[str]:
        """Both names in each folder from the root down, relative to the root."""
        below = os.path.relpath(self._cwd, self._files.root)
        parts = [] if below == os.curdir else below.split(os.sep)
        for depth in range(len(parts) + 1):
            for name in NAMES:
                yield os.path.join(*parts[:depth], name)

    def _include(self, path: str, depth: int) -> None:
        now = self._now
        now.stamps[path] = self._files.stamp(path)
        real = self._files.real(path)
        if real is None:
            now.problems.append((path, "it leads out of the project and is not read"))
            return
        if real in now.seen or now.stamps[path] is None:
            return
        now.seen.add(real)
        try:
            data = self._files.read(path, MAX_FILE_BYTES)
        except Exception as error:
            now.problems.append((path, str(error)))
            return
        text = "" if data is None else data.decode("utf-8-sig", "replace").strip()
        if not text:
            return
        now.texts[path] = self._bounded(path, text)
        for target in imports(text):
            self._import(path, target, depth + 1)

    def _bounded(self, path: str, text: str) -> str:
        kept, self._now.left = text[: self._now.left], max(0, self._now.left - len(text))
        if len(kept) == len(text):
            return text
        self._now.problems.append((path, f"{len(text) - len(kept)} characters were left out: there are too many"))
        return f"{kept}\n[{len(text) - len(kept)} characters are left out here]"

    def _import(self, path: str, target: str, depth: int) -> None:
        place = os.path.normpath(os.path.join(os.path.dirname(path), target))
        if target.startswith(("/", "~")) or place.startswith(os.pardir):
            self._now.problems.append((path, f"@{target} leads out of the project and is not read"))
        elif self._files.stamp(place) is not None:
            if depth > MAX_DEPTH:
                self._now.problems.append((path, f"@{target} is imported more than {MAX_DEPTH} files deep"))
            else:
                self._include(place, depth)


def imports(text: str) -> list[str]:
    """The paths that ``text`` imports, in order. Names in prose, code and e-mail addresses are none."""
    found: list[str] = []
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            names = (match[1].rstrip(".,;:!?)\"'") for match in _IMPORT.finditer(_CODE.sub("", line)))
            found += [name for name in names if "." in name or "/" in name]
    return list(dict.fromkeys(found))
