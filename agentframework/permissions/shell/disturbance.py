"""What a stretch of a line may change, found without following it.

The body of a loop runs again after its own changes, and a function runs whenever it is called. So what they
may change is taken as unknown before they are followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from agentframework.permissions.shell.arithmetic import changes, is_count, set_by_default
from agentframework.permissions.shell.builtins import MOVING
from agentframework.permissions.shell.expand import split_assignment
from agentframework.permissions.shell.scope import Scope, Unknown
from agentframework.permissions.shell.tokens import Expression, Keyword, Operator, Part, Redirect, ShellWord, Token

_ASSIGNED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[|\+?=)")
_NUMBERS = re.compile(r"[0-9]+|\{[0-9]+\.\.[0-9]+\}")
_CHANGING = frozenset({
    "read", "mapfile", "readarray", "printf", "getopts", "eval", "source", ".", "unset", "export", "declare",
    "typeset", "local", "readonly", "let", "trap", "wait",
})  # fmt: skip


@dataclass(slots=True)
class Disturbance:
    """Names that may be assigned; `everything` when any may be; `moves` when the directory may change."""

    names: set[str] = field(default_factory=set)
    unsafe: set[str] = field(default_factory=set)  # those of them that may get something else than a number
    everything: bool = False
    moves: bool = False

    def applied(self, scope: Scope) -> Scope:
        """The scope when this may have happened, once."""
        for name in self.names:
            number = name not in self.unsafe and scope.inert(name)
            scope = scope.assign(name, Unknown.NUMBER if number else Unknown.ANYTHING)
        scope = scope.blur() if self.everything else scope
        return scope.move(()) if self.moves else scope

    def applied_for_good(self, scope: Scope) -> Scope:
        """The scope when this may happen at any later time."""
        scope = scope.pin(self.names) if self.names else scope
        scope = scope.blur() if self.everything else scope
        return scope.lose() if self.moves else scope

    def misses(self, before: Scope, after: Scope) -> bool:
        """True when following the stretch from a fresh scope changed something that was not foreseen."""
        if (after.moved and not self.moves) or (after.blurred and not self.everything):
            return True
        changed = {
            name
            for name in before.variables.keys() | after.variables.keys()
            if before.variables.get(name) != after.variables.get(name)
        }
        return not self.everything and not changed <= self.names


def disturbance(tokens: Sequence[Token]) -> Disturbance:
    found = Disturbance()
    for index, token in enumerate(tokens):
        if isinstance(token, ShellWord):
            _word(token, found)
        elif isinstance(token, Expression):
            found.names.update(changes(token.parts))
            _parts(token.parts, found)
        elif isinstance(token, Redirect) and token.fd.startswith("{"):
            found.names.add(token.fd[1:-1])
        elif isinstance(token, Keyword) and token.text in ("for", "select"):
            variable = tokens[index + 1] if index + 1 < len(tokens) else None
            if isinstance(variable, ShellWord):
                found.names.add(variable.text)
                if not _counts_up(tokens, index + 2):
                    found.unsafe.add(variable.text)
    return found


def _counts_up(tokens: Sequence[Token], index: int) -> bool:
    """True when the list of a `for`, which starts with its `in` at `index`, holds only numbers."""
    for token in islice(tokens, index + 1, None):
        if not isinstance(token, ShellWord):
            return isinstance(token, Operator)
        if not gives_numbers(token):
            return False
    return False


def gives_numbers(word: ShellWord) -> bool:
    """True for a word that becomes nothing but numbers: `3`, `{1..9}`, `$(seq 5)`."""
    return bool(_NUMBERS.fullmatch(word.text)) or (len(word.parts) == 1 and is_count(word.parts[0]))


def _word(word: ShellWord, found: Disturbance) -> None:
    if assigned := _ASSIGNED.match(word.text):
        found.names.add(assigned[1])
        if not _number(word):
            found.unsafe.add(assigned[1])
    literal = word.literal
    if literal in _CHANGING:
        found.everything = True
        found.moves = found.moves or literal in ("eval", "trap")
    elif literal in MOVING:
        found.moves = True
    if literal is None:
        _parts(word.parts, found)


def _parts(parts: Iterable[Part], found: Disturbance) -> None:
    for part in parts:
        if part.kind == "arithmetic":
            found.names.update(changes(part.parts))
        elif part.kind == "parameter" and (name := set_by_default(part)):
            found.names.add(name)
            found.unsafe.add(name)
        _parts(part.parts, found)


def _number(word: ShellWord) -> bool:
    """True for `name=1` and `name=$(( ... ))`."""
    split = split_assignment(word)
    if split is None or split[1] or len(split[3]) != 1:
        return False
    part = split[3][0]
    return part.kind == "arithmetic" or is_count(part) or (part.kind == "literal" and part.text.isdecimal())
