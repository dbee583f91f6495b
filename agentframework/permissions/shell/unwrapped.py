"""What unwrapping a command gives: inner commands, inner command lines, and doubts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentframework.permissions.shell.model import Assignment, Word

_ASSIGNMENT = re.compile(r"([A-Za-z_][^=]*)=(.*)", re.DOTALL)

ADDED = Word(None, "...", splits=True)  # arguments that are not on the line
UNKNOWN_WORDS = "$_"  # the same inside a line of code: a parameter whose value is never known


@dataclass(frozen=True, slots=True)
class Inner:
    """A command given as words. `directory` is where it runs when that is named; `moved`: somewhere else."""

    argv: tuple[Word, ...]
    assignments: tuple[Assignment, ...] = ()
    in_shell: bool = False
    directory: Word | None = None
    moved: bool = False


@dataclass(frozen=True, slots=True)
class Code:
    """A command line given as text to the shell named `shell` ("" when it is the shell that reads this one).

    `later`: it runs at some other time (a trap), so nothing is known about its scope.
    """

    text: str
    shell: str
    moved: bool = False
    later: bool = False


@dataclass(slots=True)
class Unwrapped:
    """`problems` are reasons why the inner command may be another than the ones found."""

    inner: list[Inner | Code] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add_code(self, word: Word, code: Code) -> None:
        """Add `code` if `word`, which holds its text, is known to the letter."""
        if not word.exact:
            self.problems.append(f"the command line {word.text} is known only at run time")
        else:
            self.inner.append(code)


def joined(words: Sequence[Word]) -> str | None:
    """The words as one line, None when one of them is not known."""
    values = [word.value for word in words if word.value is not None and not word.glob]
    return " ".join(values) if len(values) == len(words) else None


def leading_assignments(words: Sequence[Word]) -> tuple[tuple[Assignment, ...], int]:
    """The NAME=value words at the start, and the index of the first other word."""
    found: list[Assignment] = []
    for index, word in enumerate(words):
        match = _ASSIGNMENT.fullmatch(word.value or word.text)
        if match is None or (word.value is None and word.splits):
            return tuple(found), index
        value = Word(match[2] if word.value is not None else None, word.text, word.glob, False)
        found.append(Assignment(match[1], value))
    return tuple(found), len(words)
