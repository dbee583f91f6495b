"""From words as written to the words a program receives (POSIX XCU 2.6, brace expansion of bash).

Only what follows from the text is expanded: quotes, literal variables of the same line, braces. Everything
else has a value of None. Globs and tildes stay as they are and are marked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agentframework.permissions.shell.arithmetic import inert
from agentframework.permissions.shell.braces import expand_braces
from agentframework.permissions.shell.model import Word
from agentframework.permissions.shell.scope import Match, Scope
from agentframework.permissions.shell.tokens import Part, ShellWord

_ORDINARY = re.compile(r"[^*?\[{~]*")
_PATTERN = re.compile(r"[*?]")
_HERE = frozenset({"PWD", "$(pwd)", "`pwd`"})
_ONE_WORD = re.compile(r"[^\s*?\[]+")
_WHITESPACE = re.compile(r"[ \t\n]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DEFAULTED = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):?[-=?].*", re.DOTALL)
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\+?)=")
_TILDE_IN_ASSIGNMENT = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*\+?=(.*:)?~", re.DOTALL)
_AFTER_SUBSCRIPT = re.compile(r"(\+?)=")


@dataclass(slots=True)
class _Field:
    """A word being put together."""

    pieces: list[str] = field(default_factory=list)
    known: bool = True
    present: bool = False
    glob: bool = False
    tilde: bool = False
    splits: bool = False
    foreign: bool = False
    bracket: bool = False

    def add(self, text: str, *, pattern: bool) -> None:
        """Append known text; with `pattern`, unquoted text in which `* ? [...]` stand for file names."""
        self.pieces.append(text)
        self.present = True
        if not pattern or self.glob:
            return
        opening = 0 if self.bracket else text.find("[")
        self.bracket = opening >= 0
        self.glob = bool(_PATTERN.search(text)) or (self.bracket and "]" in text[opening:])

    def word(self, text: str) -> Word:
        value = "".join(self.pieces) if self.known else None
        return Word(value, text, self.glob and self.known, self.tilde and self.known, self.splits, self.foreign)


def expand(word: ShellWord, scope: Scope) -> list[Word]:
    """The words that `word` becomes: none, one or several."""
    if word.plain and _ORDINARY.fullmatch(word.text):
        return [Word(word.text, word.text)]
    if len(word.parts) == 1 and word.parts[0].kind == "process" and not _may_split(word.parts[0], scope):
        return [Word(None, word.text, foreign=True, stream=True)]
    alternatives = expand_braces(word.parts)
    if alternatives is None:
        return [Word(None, word.text, splits=True, foreign=True)]
    found: list[Word] = []
    for parts in alternatives:
        found.extend(built.word(word.text) for built in _fields(parts, scope))
    return found


def expand_single(parts: tuple[Part, ...], text: str, scope: Scope) -> Word:
    """The value of an assignment or the like, where no splitting, braces or globs apply."""
    built = _Field(present=True)
    for index, part in enumerate(parts):
        if part.kind == "literal":
            built.pieces.append(part.text)
            if not part.quoted and "~" in part.text:
                if index == 0 and part.text.startswith("~"):
                    built.tilde = True
                built.known = built.known and ":~" not in part.text
        else:
            value = _parameter(part, scope, alone=_alone(parts))
            built.glob = built.glob or isinstance(value, Match)
            built.known = built.known and value is not None
            built.foreign = built.foreign or (value is None and not inert([part], scope))
            built.pieces.append(value or "")
    return built.word(text)


def split_assignment(word: ShellWord) -> tuple[str, bool, Part | None, tuple[Part, ...]] | None:
    """Name, whether it appends, subscript and the parts of the value; None when it is not an assignment."""
    first = word.parts[0]
    if first.kind != "literal" or first.quoted:
        return None
    if found := _ASSIGNMENT.match(first.text):
        rest = first.text[found.end() :]
        value = ((Part("literal", rest),) if rest else ()) + word.parts[1:]
        return found[1], bool(found[2]), None, value
    if len(word.parts) > 2 and word.parts[1].kind == "subscript" and _NAME.fullmatch(first.text):
        third = word.parts[2]
        if third.kind == "literal" and not third.quoted and (found := _AFTER_SUBSCRIPT.match(third.text)):
            rest = third.text[found.end() :]
            value = ((Part("literal", rest),) if rest else ()) + word.parts[3:]
            return first.text, bool(found[1]), word.parts[1], value
    return None


def _fields(parts: tuple[Part, ...], scope: Scope) -> list[_Field]:
    done: list[_Field] = []
    current = _Field()
    for index, part in enumerate(parts):
        if part.kind == "literal":
            current.add(part.text, pattern=not part.quoted)
            if not part.quoted and "~" in part.text:
                current.tilde = current.tilde or (index == 0 and part.text.startswith("~"))
                current.known = current.known and not _TILDE_IN_ASSIGNMENT.search("".join(current.pieces))
            continue
        value = _parameter(part, scope, alone=_alone(parts))
        if value is None:
            current.known = False
            current.present = True
            current.splits = current.splits or _may_split(part, scope)
            current.foreign = current.foreign or not inert([part], scope)
        elif part.quoted:
            current.add(value, pattern=isinstance(value, Match))
        else:
            current = _split(value, current, done, scope)
    if current.present:
        done.append(current)
    return done


def _split(value: str, current: _Field, done: list[_Field], scope: Scope) -> _Field:
    """Word splitting of an unquoted value; returns the field that is still open."""
    if not scope.splits_as_usual:
        current.known = False
        current.present = current.splits = current.foreign = True
        return current
    for index, chunk in enumerate(_WHITESPACE.split(value)):
        if index:
            if current.present:
                done.append(current)
            current = _Field()
        if chunk:
            current.add(chunk, pattern=True)
    return current


def _alone(parts: tuple[Part, ...]) -> bool:
    """True when nothing but one part gives text."""
    return sum(part.kind != "literal" or bool(part.text) for part in parts) == 1


def _parameter(part: Part, scope: Scope, *, alone: bool) -> str | None:
    """The value of a parameter, None if it is not known. `alone`: there is no other part in the word."""
    if part.kind != "parameter":
        return None
    name = part.text
    if not _NAME.fullmatch(name):
        defaulted = _DEFAULTED.fullmatch(name)
        if defaulted is None:
            return None
        name = defaulted[1]
        if not scope.value(name):
            return None
    value = scope.value(name)
    if isinstance(value, Match) and not alone:  # the name of a file with more text is another file
        return None
    return value if isinstance(value, str) else None


def _may_split(part: Part, scope: Scope) -> bool:
    """Whether an unknown value may become several words or none."""
    if part.kind == "process":
        return part.commands is None or not part.commands.tokens
    if part.kind == "parameter" and "@" in part.text:
        return True
    if part.quoted or part.kind not in ("parameter", "command") or scope.number(part.text):
        return False
    if part.text in _HERE and scope.directories and scope.splits_as_usual:
        return any(not _ONE_WORD.fullmatch(directory) for directory in scope.directories)
    return True
