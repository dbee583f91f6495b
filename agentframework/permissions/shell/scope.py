"""What is known about the shell at one point of a line: variables and working directory.

A scope is a value: every change makes a new one, so branches can be followed apart and joined again. What is
forgotten at a join is only ever turned into "not known", never into a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

_NUMBER = re.compile(r"\s*[-+]?[0-9]*\s*")
COUNTERS = frozenset({
    "#", "?", "$", "!", "-", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "EPOCHSECONDS", "EPOCHREALTIME", "UID", "EUID",
    "PPID", "BASHPID", "OPTIND", "BASH_SUBSHELL", "HISTCMD",
})  # fmt: skip
_SET_BY_THE_SHELL = re.compile(
    r"[0-9]+|[@*_]|BASH.*|COMP_.*|COPROC.*|PIPESTATUS|FUNCNAME|GROUPS|DIRSTACK|PWD|OLDPWD|OPTARG|REPLY|MAPFILE"
    r"|SHELLOPTS|READLINE_.*"
)
_MAX_DIRECTORIES = 8
_MAX_VARIABLES = 300


class Unknown(Enum):
    """A value that is not known.

    Evaluating a number or what comes from the host's environment runs nothing; `ANYTHING` may hold text from
    elsewhere, such as the output of a command.
    """

    NUMBER = "number"
    INERT = "inert"
    ANYTHING = "anything"


class Match(str):
    """A pattern with wildcards that stands for the name of one file; never equal to the text of the pattern."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Match) and str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


@dataclass(frozen=True, slots=True)
class Choice:
    """A value that is one of these; ``kind`` is what is known of all of them together."""

    values: tuple[str, ...]
    kind: Unknown


Value = str | Unknown | Choice


@dataclass(frozen=True, slots=True)
class Scope:
    """`directories` are the possible working directories, empty when not known.

    `opaque`: any variable may have been changed. `volatile`: names that code elsewhere may change at any time.
    `lost`: code elsewhere may change the directory at any time. `fallback` is what a variable holds that has
    not been set. `moved` and `blurred` tell that the directory, or any variable, has been changed since `fresh()`.
    """

    variables: Mapping[str, Value] = field(default_factory=dict)
    directories: tuple[str, ...] = ()
    opaque: bool = False
    volatile: frozenset[str] = frozenset()
    lost: bool = False
    fallback: Unknown = Unknown.INERT
    moved: bool = False
    blurred: bool = False

    def value(self, name: str) -> str | Unknown:
        found = self._held(name)
        return found.kind if isinstance(found, Choice) else found

    def choices(self, name: str) -> tuple[str, ...]:
        """The values of which the variable has one, if it is known to."""
        found = self._held(name)
        return found.values if isinstance(found, Choice) else ()

    def _held(self, name: str) -> Value:
        if name in COUNTERS:
            return Unknown.NUMBER
        if self.opaque or name in self.volatile or _SET_BY_THE_SHELL.fullmatch(name):
            return Unknown.ANYTHING
        return self.variables.get(name, self.fallback)

    def inert(self, name: str) -> bool:
        """True when evaluating the value as arithmetic runs nothing."""
        value = self.value(name)
        return bool(_NUMBER.fullmatch(value)) if isinstance(value, str) else value is not Unknown.ANYTHING

    def number(self, name: str) -> bool:
        """True when the value is a number, known or not."""
        value = self.value(name)
        return value.isdecimal() if isinstance(value, str) else value is Unknown.NUMBER

    @property
    def splits_as_usual(self) -> bool:
        return "IFS" not in self.variables and not self.opaque and "IFS" not in self.volatile

    def assign(self, name: str, value: Value) -> Scope:
        if len(self.variables) > _MAX_VARIABLES:
            return self.blur()
        return replace(self, variables={**self.variables, name: value})

    def with_choice_again(self, before: Scope, name: str, value: str) -> Scope:
        """Where `name` still has the `value` that it was followed with: one of those it has in `before`."""
        if self.variables.get(name) != value:
            return self
        return replace(self, variables={**self.variables, name: before.variables[name]})

    def forget(self, names: Iterable[str]) -> Scope:
        return replace(self, variables={**self.variables, **dict.fromkeys(names, Unknown.ANYTHING)})

    def counted(self, names: Iterable[str]) -> Scope:
        """The names hold numbers that are not known."""
        return replace(self, variables={**self.variables, **dict.fromkeys(names, Unknown.NUMBER)})

    def pin(self, names: Iterable[str]) -> Scope:
        """From here on these names are never known."""
        return replace(self, volatile=self.volatile.union(names))

    def blur(self) -> Scope:
        """From here on no variable is known."""
        return self if self.opaque and self.blurred else replace(self, opaque=True, blurred=True)

    def move(self, directories: tuple[str, ...]) -> Scope:
        return replace(self, directories=() if self.lost else directories, moved=True)

    def lose(self) -> Scope:
        """From here on the directory is never known."""
        return replace(self, directories=(), lost=True, moved=True)

    def fresh(self) -> Scope:
        return replace(self, moved=False, blurred=False)

    def child(self, *, known: bool) -> Scope:
        """The scope of a shell this one starts; with `known`, of a bash, whose own variables can be followed."""
        return Scope(directories=self.directories, opaque=not known, fallback=Unknown.ANYTHING)


class Outcome(NamedTuple):
    """The scope after a command that succeeded, and after one that failed."""

    success: Scope
    failure: Scope

    @property
    def either(self) -> Scope:
        return join(self.success, self.failure)

    def joined(self, success: Scope, failure: Scope) -> Outcome:
        """What holds if either this or the other was the case."""
        return Outcome(join(self.success, success), join(self.failure, failure))


def unchanged(scope: Scope) -> Outcome:
    return Outcome(scope, scope)


def join(first: Scope, second: Scope) -> Scope:
    """What holds whichever of the two was the case."""
    if first is second:
        return first
    return Scope(
        _join_variables(first, second),
        _join_directories(first.directories, second.directories),
        first.opaque or second.opaque,
        first.volatile | second.volatile,
        first.lost or second.lost,
        first.fallback if first.fallback is second.fallback else Unknown.ANYTHING,
        first.moved or second.moved,
        first.blurred or second.blurred,
    )


def _join_variables(first: Scope, second: Scope) -> Mapping[str, Value]:
    if first.variables == second.variables:
        return first.variables
    joined: dict[str, Value] = {}
    for name in first.variables.keys() | second.variables.keys():
        one = first.variables.get(name, first.fallback)
        other = second.variables.get(name, second.fallback)
        if one == other:
            joined[name] = one
        else:
            joined[name] = weaker(first, second, name)
    return joined


def weaker(first: Scope, second: Scope, name: str) -> Unknown:
    """What is known of a value that is one in `first` or another in `second`."""
    if first.number(name) and second.number(name):
        return Unknown.NUMBER
    return Unknown.INERT if first.inert(name) and second.inert(name) else Unknown.ANYTHING


def _join_directories(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    if first == second:
        return first
    if not first or not second:
        return ()
    both = tuple(dict.fromkeys(first + second))
    return both if len(both) <= _MAX_DIRECTORIES else ()
