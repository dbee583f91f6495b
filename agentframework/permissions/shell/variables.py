"""Variables of the shell: what assignments and the builtins that take names do to them.

bash evaluates more than it seems: a subscript inside a *name*, a value in parentheses given to an array, the
value given to some variables of its own. Where such text is not known to be harmless, that is a problem.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentframework.permissions.shell.arithmetic import inert_text
from agentframework.permissions.shell.model import Assignment, Word
from agentframework.permissions.shell.options import read_options
from agentframework.permissions.shell.scope import COUNTERS, Match, Outcome, Scope, Unknown, Value, unchanged
from agentframework.permissions.shell.tokens import Notes
from agentframework.permissions.shell.wrappers import Wrapper

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^]]*\])?(\+?)=(.*)", re.DOTALL)
_SUBSCRIPT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[(.*)\]", re.DOTALL)
_ARRAY_LETTERS = frozenset("aAg")
_PLAIN_LETTERS = frozenset("aAgrtx")
_CODE_IN_ARRAY = re.compile(r"\s*\(.*[$`]", re.DOTALL)
_BINARY = frozenset({
    "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef",
})  # fmt: skip
_UNARY = re.compile(r"-[a-zA-Z]")
_STARTS_UNKNOWN = re.compile(r"[\"']*[$`]")
_NUMBER = re.compile(r"\s*[-+]?[0-9]+\s*")
_READ_BY_SHELLS = re.compile(
    r"BASH_ENV|PS4|SHELLOPTS|BASHOPTS|POSIXLY_CORRECT|BASH_(FUNC_|CMDS|ALIASES|COMPAT).*"
)
_READ = Wrapper(flags="ers", operands="adinNptu")
_NOT_KNOWN = "a value that is known only at run time is read as an expression or a name"


@dataclass(slots=True)
class Findings:
    """Where effects report: problems, and the variables of the shell that are set."""

    notes: Notes
    assignments: list[Assignment] = field(default_factory=list)
    arrays: set[str] = field(default_factory=set)  # names that are known to be arrays

    def problem(self, text: str) -> None:
        self.notes.problem(text)

    def unknown(self, name: str) -> None:
        """Record that `name` is set to something that is not known."""
        found = Assignment(name, Word(None, ""))
        self.assignments.append(found)
        check_assignment(found, self)


def assign(
    found: Assignment, scope: Scope, findings: Findings, otherwise: Unknown = Unknown.ANYTHING
) -> Scope:
    """The scope after an assignment in the shell; `otherwise` says what a value is that is not known."""
    findings.assignments.append(found)
    if found.subscript is not None or found.value.text.startswith("("):
        findings.arrays.add(found.name)
    check_assignment(found, findings)
    value = found.value.value if found.value.exact else None
    result: Value = otherwise if value is None else value
    if found.subscript is not None or found.name in scope.volatile:
        result = Unknown.ANYTHING
    elif found.append:
        before = scope.value(found.name)
        known = isinstance(before, str) and not isinstance(before, Match) and value is not None
        result = f"{before}{value}" if known else Unknown.ANYTHING
    return scope.assign(found.name, result)


def check_assignment(found: Assignment, findings: Findings) -> None:
    """Note variables through which the shell, or one started with them, runs something else."""
    value = found.value.value
    if _READ_BY_SHELLS.fullmatch(found.name):
        if found.name != "PS4" or value is None or re.search(r"[$`]", value):
            findings.problem(f"the variable {found.name} changes what a shell runs")
    elif found.name in COUNTERS and not (value is not None and _NUMBER.fullmatch(value)):
        findings.problem(f"the variable {found.name} reads what it is given as an expression")


def declare(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """export, declare, local, typeset, readonly: NAME=value words are assignments."""
    letters = ""
    for word in words:
        value = word.value
        if value is not None and value[:1] in ("-", "+") and len(value) > 1:
            letters += value[1:]
        elif found := _ASSIGNMENT.fullmatch(word.text if value is None else value):
            scope = _declared_value(word, found, letters, scope, findings)
        elif value is None or not _NAME.fullmatch(value):
            scope = scope.blur()
            _check_names([word], scope, findings)
        else:
            findings.arrays.update({value} if _ARRAY_LETTERS & set(letters) else ())
            scope = scope.pin([value]) if "r" in letters else scope
    if "i" in letters or "n" in letters:
        findings.problem("a declared attribute makes later assignments run as expressions or names")
    if set(letters) - _PLAIN_LETTERS:  # other letters change the values, or are errors after which nothing is set
        scope = scope.pin(_names(words))
    return unchanged(scope)


def local(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """Outside of a function `local` sets nothing; inside of one, scopes know no values."""
    return unchanged(declare(words, scope, findings).success.forget(_names(words)))


def _names(words: Sequence[Word]) -> list[str]:
    return [found[0] for word in words if (found := _NAME.match(word.value or word.text))]


def _declared_value(
    word: Word, found: re.Match[str], letters: str, scope: Scope, findings: Findings
) -> Scope:
    name, subscript, text = found[1], found[2][1:-1] if found[2] else None, found[4]
    if subscript is not None and not inert_text(subscript, scope):
        findings.problem(_NOT_KNOWN)
    if _ARRAY_LETTERS & set(letters) or name in findings.arrays:
        # bash expands a value in parentheses once more when it becomes an array
        written_out = word.value is None and text.startswith("(")
        if word.value is None and not written_out or word.value is not None and _CODE_IN_ARRAY.match(text):
            findings.problem(_NOT_KNOWN)
    content = Word(None if word.value is None else text, text, tilde=text.startswith("~"))
    scope = assign(Assignment(name, content, bool(found[3]), subscript), scope, findings)
    return scope.pin([name]) if "r" in letters else scope


def readonly(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    return declare([Word("-r", "-r"), *words], scope, findings)


def sets_names(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """read, unset, getopts and the like: the words that look like names are set to something."""
    _check_names(words, scope, findings)
    if any(word.value is None for word in words):
        return unchanged(scope.blur())
    return unchanged(_forget(words, scope, findings))


def _forget(words: Sequence[Word], scope: Scope, findings: Findings) -> Scope:
    names = _names(words)
    for name in names:
        findings.unknown(name)
    return scope.forget(names)


def read(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """read, without the operands of its options."""
    options = read_options(words, _READ)
    array = options.operand(("-a",))
    return sets_names([*words[options.rest :], *([array] if array else [])], scope, findings)


def _check_names(words: Sequence[Word], scope: Scope, findings: Findings) -> None:
    """A name with a subscript is evaluated; so the subscript must hold no code."""
    for word in words:
        subscript = _SUBSCRIPT.match(word.value or "")
        if word.value is None or (subscript and not inert_text(subscript[1], scope)):
            findings.problem(_NOT_KNOWN)


def printf(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    if words and words[0].foreign and _STARTS_UNKNOWN.match(words[0].text):
        findings.problem("whether printf sets a variable is known only at run time")
    if words and (words[0].value or "").startswith("-v"):
        attached = (words[0].value or "")[2:]
        names = [Word(attached, attached)] if attached else words[1:2]
        return sets_names(names, scope, findings)
    return unchanged(scope)


def wait(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    if any(word.foreign for word in words):
        findings.problem("whether wait sets a variable is known only at run time")
    if any((word.value or "").startswith("-") and "p" in (word.value or "") for word in words):
        return sets_names(words, scope, findings)
    return unchanged(scope)


def test(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    """`-v name` and `-R name` evaluate a subscript in the name; an unknown word might be one of them."""
    for operator, operand in zip(words, words[1:], strict=False):
        if operator.value in ("-v", "-R"):
            _check_names([operand], scope, findings)
    operands = [word for word in words if word.value not in ("]", "!")]
    for index, word in enumerate(operands):
        if word.foreign and (word.splits or not _is_operand(operands, index)):
            findings.problem("which test is made is known only at run time")
    return unchanged(scope)


def _is_operand(words: Sequence[Word], index: int) -> bool:
    """True when the word at `index` can only be an operand, whatever its value."""
    before = words[index - 1].value if index else ""
    after = words[index + 1].value if index + 1 < len(words) else ""
    return after in _BINARY or before in _BINARY or len(words) == 1 or bool(_UNARY.fullmatch(before or ""))


def let(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    for word in words:
        if word.value is None or not inert_text(word.value, scope):
            findings.problem(_NOT_KNOWN)
    names = [Word(name, name) for word in words for name in _NAME.findall(word.value or "")]
    return unchanged(_forget(names, scope, findings))


def mapfile(words: Sequence[Word], scope: Scope, findings: Findings) -> Outcome:
    if any((word.value or "-C").startswith("-C") for word in words):
        scope = scope.blur().lose()
    return sets_names(words, scope, findings)
