"""What the builtins of the shell do to the shell itself: its directory, its variables, its language.

Only what later commands of the same line depend on. Each effect either follows from the arguments or turns
what was known into "not known".
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence

from agentframework.permissions.shell import variables
from agentframework.permissions.shell.arithmetic import COUNTING_PROGRAMS
from agentframework.permissions.shell.model import Word
from agentframework.permissions.shell.scope import Outcome, Scope, unchanged
from agentframework.permissions.shell.unwrap_shells import changes_the_language
from agentframework.permissions.shell.variables import Findings

Effect = Callable[[Sequence[Word], Scope, Findings], Outcome]


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


def _set(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    for index, word in enumerate(words):
        value = word.value
        if value is None and index == 0:
            findings.problem("the options given to set are known only at run time")
        if value in (None, "-", "--") or value[:1] not in ("-", "+"):
            break
        named = words[index + 1].value if index + 1 < len(words) else ""
        language = bool(set(value) & set("kPH" if value[0] == "-" else "B"))
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


def _compgen(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """`-W` expands its word list."""
    if any(word.value is None or re.search(r"[$`]", word.value) for word in words):
        findings.problem("a word list is expanded")
    return unchanged(scope)


def _trap(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """The action may run at any time, except the one at the exit."""
    if words[1:] and all(word.value in ("EXIT", "0") for word in words[1:]):
        return unchanged(scope)
    return unchanged(scope.blur().lose())


def _anything(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    return unchanged(scope.blur())


_EFFECTS: dict[str, Effect] = {
    "cd": _cd, "chdir": _cd, "pushd": _pushd, "popd": _popd, "export": variables.declare,
    "declare": variables.declare, "typeset": variables.declare, "local": variables.local,
    "readonly": variables.readonly, "read": variables.read, "mapfile": variables.mapfile,
    "readarray": variables.mapfile, "unset": variables.sets_names, "getopts": variables.sets_names,
    "printf": variables.printf, "wait": variables.wait, "test": variables.test, "[": variables.test,
    "let": variables.let, "compgen": _compgen, "complete": _compgen, "set": _set, "shopt": _shopt,
    "hash": _changes_programs, "enable": _changes_programs, "source": _anything, ".": _anything, "trap": _trap,
}  # fmt: skip

MOVING = frozenset({"cd", "chdir", "pushd", "popd"})
INTERPRETED = (
    frozenset(_EFFECTS)
    | COUNTING_PROGRAMS
    | {"eval", "command", "builtin", "exec", "alias", "bind", "fc", "pwd"}
)  # names whose meaning is relied on


def effect(name: str, words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """The scopes after the builtin `name` has succeeded and has failed."""
    known = _EFFECTS.get(name)
    return known(words, scope, findings) if known else unchanged(scope)
