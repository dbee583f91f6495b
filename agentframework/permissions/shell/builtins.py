"""What the builtins of the shell do to the shell itself: its directory, its variables, its language.

Only what later commands of the same line depend on. Each effect either follows from the arguments or turns
what was known into "not known".
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agentframework.permissions.shell.arithmetic import COUNTING_COMMANDS, inert_text
from agentframework.permissions.shell.model import Assignment, Word
from agentframework.permissions.shell.options import read_options
from agentframework.permissions.shell.scope import COUNTERS, Outcome, Scope, Unknown, Value, unchanged
from agentframework.permissions.shell.tokens import Notes
from agentframework.permissions.shell.unwrap_shells import changes_the_language
from agentframework.permissions.shell.wrappers import Wrapper


@dataclass(slots=True)
class Findings:
    """Where effects report: problems, and the variables of the shell that are set."""

    notes: Notes
    assignments: list[Assignment] = field(default_factory=list)

    def problem(self, text: str) -> None:
        self.notes.problem(text)

    def unknown(self, name: str) -> None:
        """Record that `name` is set to something that is not known."""
        found = Assignment(name, Word(None, ""))
        self.assignments.append(found)
        check_assignment(found, self)


Effect = Callable[[Sequence[Word], Scope, Findings], Outcome]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^]]*\])?(\+?)=(.*)", re.DOTALL)
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[(.*)\]", re.DOTALL)
_NUMBER = re.compile(r"\s*[-+]?[0-9]+\s*")
_READ_BY_SHELLS = re.compile(r"BASH_ENV|PS4|SHELLOPTS|BASHOPTS|BASH_(FUNC_|CMDS|ALIASES).*")
_READ = Wrapper(flags="ers", operands="adinNptu")
_NOT_KNOWN = "a value that is known only at run time is read as an expression or a name"


def assign(found: Assignment, scope: Scope, findings: Findings, *, number: bool = False) -> Scope:
    """The scope after an assignment in the shell; `number`: the value is not known but a number."""
    findings.assignments.append(found)
    check_assignment(found, findings)
    value = found.value.value if found.value.exact else None
    result: Value = Unknown.ANYTHING if value is None else value
    if found.subscript is not None or found.name in scope.volatile:
        result = Unknown.ANYTHING
    elif found.append and value is not None:
        before = scope.value(found.name)
        result = before + value if isinstance(before, str) else Unknown.ANYTHING
    elif number:
        result = Unknown.INERT
    return scope.assign(found.name, result)


def check_assignment(found: Assignment, findings: Findings) -> None:
    """Note variables through which the shell, or one started with them, runs something else."""
    value = found.value.value
    if _READ_BY_SHELLS.fullmatch(found.name):
        if found.name != "PS4" or value is None or re.search(r"[$`]", value):
            findings.problem(f"the variable {found.name} changes what a shell runs")
    elif found.name in COUNTERS and not (value is not None and _NUMBER.fullmatch(value)):
        findings.problem(f"the variable {found.name} reads what it is given as an expression")


def _cd(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    physical = False
    while words and (words[0].value or "").startswith("-") and words[0].value != "-":
        option = words[0].value or ""
        words = words[1:]
        if option == "--":
            break
        physical = physical or "P" in option
    target = words[0] if len(words) == 1 else None
    if target is None or not target.exact or target.value in ("", "-", None) or "CDPATH" in scope.variables:
        return Outcome(scope.move(()), scope)
    if physical and ".." in target.value:
        return Outcome(scope.move(()), scope)
    return Outcome(enter(scope, target), scope)


def _pushd(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    if len(words) != 1 or (words[0].value or "+").startswith(("-", "+")):
        return Outcome(scope.move(()), scope)
    return _cd(words, scope, findings)


def _popd(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    return Outcome(scope.move(()), scope)


def enter(scope: Scope, target: Word) -> Scope:
    """The scope in the directory `target`, seen from each directory that is possible now."""
    if not target.exact or not target.value:
        return scope.move(())
    if target.value.startswith("/"):
        return scope.move((posixpath.normpath(target.value),))
    moved = [posixpath.normpath(posixpath.join(directory, target.value)) for directory in scope.directories]
    return scope.move(tuple(dict.fromkeys(moved)))


def _declare(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """export, declare, local, typeset, readonly: NAME=value words are assignments."""
    letters = ""
    for word in words:
        value = word.value
        if value is not None and value[:1] in ("-", "+") and len(value) > 1:
            letters += value[1:]
            continue
        found = _ASSIGNMENT.fullmatch(word.text if value is None else value)
        if found:
            content = Word(None if value is None else found[4], word.text, tilde=found[4].startswith("~"))
            subscript = found[2][1:-1] if found[2] else None
            if subscript is not None and not inert_text(subscript, scope):
                findings.problem(_NOT_KNOWN)
            scope = assign(Assignment(found[1], content, bool(found[3]), subscript), scope, findings)
            scope = scope.pin([found[1]]) if "r" in letters else scope
        elif value is None or not _NAME.fullmatch(value):
            scope = scope.blur()
            _check_names([word], scope, findings)
        elif "r" in letters:
            scope = scope.pin([value])
    if "i" in letters or "n" in letters:
        findings.problem("a declared attribute makes later assignments run as expressions or names")
    return unchanged(scope)


def _readonly(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    return _declare([Word("-r", "-r"), *words], scope, findings)


def _sets_names(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """read, unset, getopts and the like: the words that look like names are set to something."""
    _check_names(words, scope, findings)
    if any(word.value is None for word in words):
        return unchanged(scope.blur())
    return unchanged(_forget(words, scope, findings))


def _forget(words: Sequence[Word], scope: Scope, findings: Findings) -> Scope:
    matches = (_NAME.match(word.value or "") for word in words)
    names = [found[0] for found in matches if found]
    for name in names:
        findings.unknown(name)
    return scope.forget(names)


def _read(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """read, without the operands of its options."""
    options = read_options(words, _READ)
    array = options.operand(("-a",))
    return _sets_names([*words[options.rest :], *([array] if array else [])], scope, findings)


def _check_names(words: Sequence[Word], scope: Scope, findings: Findings) -> None:
    """A name with a subscript is evaluated; so the subscript must hold no code."""
    for word in words:
        subscript = _SUBSCRIPT.match(word.value or "")
        if word.value is None or (subscript and not inert_text(subscript[1], scope)):
            findings.problem(_NOT_KNOWN)


def _printf(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    if words and (words[0].value or "").startswith("-v"):
        attached = (words[0].value or "")[2:]
        names = [Word(attached, attached)] if attached else words[1:2]
        return _sets_names(names, scope, findings)
    return unchanged(scope)


def _wait(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    if any((word.value or "").startswith("-") and "p" in (word.value or "") for word in words):
        return _sets_names(words, scope, findings)
    return unchanged(scope)


def _test(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """`-v name` and `-R name` evaluate a subscript in the name."""
    for operator, operand in zip(words, words[1:], strict=False):
        if operator.value in ("-v", "-R"):
            _check_names([operand], scope, findings)
    return unchanged(scope)


def _let(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    for word in words:
        if word.value is None or not inert_text(word.value, scope):
            findings.problem(_NOT_KNOWN)
    names = [Word(name, name) for word in words for name in _NAME.findall(word.value or "")]
    return unchanged(_forget(names, scope, findings))


def _set(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    for index, word in enumerate(words):
        value = word.value
        if value is None and index == 0:
            findings.problem("the options given to set are known only at run time")
        if value in (None, "-", "--") or value[:1] not in ("-", "+"):
            break
        named = words[index + 1].value if index + 1 < len(words) else ""
        language = value[0] == "-" and "k" in value or value[0] == "+" and "B" in value
        if language or ("o" in value and changes_the_language(named)):
            findings.problem("set changes how commands are read")
        if "o" in value:
            break
    return unchanged(scope)


def _shopt(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    if any(changes_the_language(word.value) for word in words):
        findings.problem("shopt changes how commands are read")
    return unchanged(scope)


def _changes_programs(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """`hash -p` and `enable` give names other programs."""
    if any((word.value or "-").startswith("-") and word.value not in ("-r", "-l", "-t", "-a") for word in words):
        findings.problem("a builtin changes which program a name stands for")
    return unchanged(scope)


def _trap(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """The action may run at any time, except the one at the exit."""
    if words[1:] and all(word.value in ("EXIT", "0") for word in words[1:]):
        return unchanged(scope)
    return unchanged(scope.blur().lose())


def _mapfile(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    if any((word.value or "-C").startswith("-C") for word in words):
        scope = scope.blur().lose()
    return _sets_names(words, scope, findings)


def _anything(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    return unchanged(scope.blur())


_EFFECTS: dict[str, Effect] = {
    "cd": _cd, "chdir": _cd, "pushd": _pushd, "popd": _popd,
    "export": _declare, "declare": _declare, "typeset": _declare, "local": _declare, "readonly": _readonly,
    "read": _read, "mapfile": _mapfile, "readarray": _mapfile, "unset": _sets_names,
    "getopts": _sets_names, "printf": _printf, "wait": _wait, "test": _test, "[": _test, "let": _let,
    "set": _set, "shopt": _shopt, "hash": _changes_programs, "enable": _changes_programs,
    "source": _anything, ".": _anything, "trap": _trap,
}  # fmt: skip

MOVING = frozenset({"cd", "chdir", "pushd", "popd"})
INTERPRETED = (
    frozenset(_EFFECTS)
    | {words[0] for words in COUNTING_COMMANDS}
    | {"eval", "command", "builtin", "exec", "alias", "bind", "fc", "pwd"}
)  # names whose meaning is relied on


def effect(name: str, words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """The scopes after the builtin `name` has succeeded and has failed."""
    known = _EFFECTS.get(name)
    return known(words, scope, findings) if known else unchanged(scope)
