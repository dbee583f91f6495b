"""The pieces a command line is cut into before its structure is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

PartKind = Literal["literal", "parameter", "command", "process", "arithmetic", "array", "subscript", "unknown"]


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a word.

    literal: `text` is the value, quotes removed. parameter: `text` is what stands between `${` and `}`.
    unknown: a value that depends on the locale. The other kinds have their source in `text`. `parts` holds
    what is nested in a parameter, an arithmetic expression, an array or a subscript; `commands` the command
    line of a substitution.
    """

    kind: PartKind
    text: str
    quoted: bool = False
    parts: tuple[Part, ...] = ()
    commands: Fragment | None = None


@dataclass(slots=True)
class ShellWord:
    """A word as written; `pattern` is set for the patterns of a `case`."""

    start: int
    end: int
    text: str
    parts: tuple[Part, ...]
    pattern: bool = False

    @property
    def plain(self) -> bool:
        """True when nothing in it is quoted or expanded, so it may be a reserved word."""
        return len(self.parts) == 1 and self.parts[0].kind == "literal" and not self.parts[0].quoted

    @property
    def literal(self) -> str | None:
        """The value after quote removal when nothing is expanded, else None."""
        if all(part.kind == "literal" for part in self.parts):
            return "".join(part.text for part in self.parts)
        return None


@dataclass(slots=True)
class Keyword:
    """A reserved word in a place where it is one (or a word that belongs to one, like the name of a coproc)."""

    start: int
    end: int
    text: str


@dataclass(slots=True)
class Operator:
    """A control operator, newline or parenthesis; `pattern` is set inside the pattern list of a `case`."""

    start: int
    end: int
    text: str
    pattern: bool = False


@dataclass(slots=True)
class Redirect:
    """A redirection. `body` holds the parts of a here-document, filled when its lines have been read."""

    start: int
    end: int
    operator: str
    fd: str
    target: ShellWord
    body: tuple[Part, ...] | None = None


@dataclass(slots=True)
class Expression:
    """`(( ... ))` or `[[ ... ]]`; `evaluates` when its operands are read as arithmetic."""

    start: int
    end: int
    parts: tuple[Part, ...]
    evaluates: bool


Token = ShellWord | Keyword | Operator | Redirect | Expression


@dataclass(slots=True)
class Source:
    """Text that tokens point into; line continuations are taken out while it is read."""

    text: str


@dataclass(slots=True)
class Fragment:
    """The tokens of one command line: the whole line, or the inside of one substitution."""

    source: Source
    tokens: list[Token] = field(default_factory=list)


class Stop(Exception):
    """Reading cannot go on; the message says why. Never leaves this package."""


@dataclass(slots=True)
class Notes:
    """What reading found out on the way, shared by all readers of one line."""

    problems: list[str] = field(default_factory=list)
    bash_only: bool = False
    steps: int = 0
    depth: int = 0

    MAX_STEPS = 8_000
    MAX_DEPTH = 40

    def problem(self, text: str) -> None:
        if text not in self.problems:
            self.problems.append(text)

    def step(self, cost: int = 1) -> None:
        self.steps += cost
        if self.steps > self.MAX_STEPS:
            raise Stop("the command line is too large to be read")

    def enter(self) -> None:
        self.depth += 1
        if self.depth > self.MAX_DEPTH:
            raise Stop("the command line is nested too deeply to be read")

    def leave(self) -> None:
        self.depth -= 1
