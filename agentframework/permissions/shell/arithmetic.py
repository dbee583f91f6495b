"""Whether an arithmetic expression can run commands.

bash evaluates the *values* of the names in an expression as expressions again, and the subscripts in those
values are expanded: after `x='a[$(reboot)]'` the harmless looking `$((x))` reboots. The same holds for array
subscripts, `${x:offset}`, `[[ a -eq b ]]` and the names given to some builtins. So an expression is only taken
as inert when everything in it is a number or a name whose value is known to be inert.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from agentframework.permissions.shell.scope import Scope, Unknown
from agentframework.permissions.shell.tokens import Operator, Part, Redirect, ShellWord

_NAME = re.compile(r"(?<![A-Za-z0-9_#$])[A-Za-z_][A-Za-z0-9_]*")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[?$!#-]")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CHANGES = re.compile(
    r"([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[-+*/%&^|]|<<|>>)?=(?!=))|(?:\+\+|--)\s*([A-Za-z_]\w*)", re.ASCII
)
_PARAMETER = re.compile(
    r"(?P<sign>[!#]?)(?P<name>[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-])?(?P<rest>.*)", re.DOTALL
)
_WHOLE_ARRAY = re.compile(r"\[[@*]\]")
_CODE = re.compile(r"[$`\\]")
COUNTING_COMMANDS = frozenset({
    ("wc", "-l"), ("wc", "-c"), ("wc", "-w"), ("wc", "-m"), ("nproc",), ("date", "+%s"), ("id", "-u"), ("id", "-g"),
    ("jobs", "-p"),
})  # fmt: skip
COUNTING_PROGRAMS = frozenset({words[0] for words in COUNTING_COMMANDS} | {"seq"})
_NAMED_BY_VALUE = "a value that is known only at run time is read as an expression or a name"


def inert(parts: Iterable[Part], scope: Scope) -> bool:
    """True when evaluating `parts` as arithmetic runs nothing beyond the substitutions written in it."""
    return all(_inert_part(part, scope) for part in parts)


def inert_text(text: str, scope: Scope) -> bool:
    """The same for text that is evaluated by a builtin (`let`, `unset 'a[...]'`)."""
    return not _CODE.search(text) and all(scope.inert(name) for name in _NAME.findall(text))


def _inert_part(part: Part, scope: Scope) -> bool:
    match part.kind:
        case "literal":
            return inert_text(part.text, scope)
        case "process":
            return True  # it becomes the name of a file
        case "arithmetic":
            return inert(part.parts, scope)
        case "parameter":
            if part.text.startswith("#") and len(part.text) > 1:
                return True
            found = _PARAMETER.fullmatch(part.text)
            return bool(found) and not found["sign"] and not found["rest"] and scope.inert(found["name"] or "")
        case _:
            return is_count(part)


def is_count(part: Part) -> bool:
    """True for a substitution that gives only numbers whatever happens, like `$(ls | wc -l)` or `$(seq 5)`."""
    if part.commands is None or part.kind != "command":
        return False
    words: list[str | None] = []
    for token in part.commands.tokens:
        if isinstance(token, Operator) and token.text in ("|", "|&"):
            words = []
        elif isinstance(token, ShellWord):
            words.append(token.literal)
        elif not isinstance(token, Redirect):
            return False
    if words[:1] == ["seq"]:
        return all(word is not None and word.isdecimal() for word in words[1:])
    return tuple(words) in COUNTING_COMMANDS


def kind_of_value(parts: Sequence[Part], scope: Scope) -> Unknown:
    """What is known of the value of an assignment that is not known."""
    if len(parts) != 1:
        return Unknown.ANYTHING
    part = parts[0]
    if part.kind == "arithmetic" or is_count(part):
        return Unknown.NUMBER
    if part.kind == "parameter":
        value = scope.value(part.text)
        return value if isinstance(value, Unknown) and _PLAIN.fullmatch(part.text) else Unknown.ANYTHING
    return Unknown.ANYTHING


def changes(parts: Iterable[Part]) -> Iterator[str]:
    """The names an expression assigns to; what they get is a number."""
    for part in parts:
        if part.kind == "literal":
            for found in _CHANGES.finditer(part.text):
                yield found[1] or found[2]
        elif part.kind == "arithmetic":
            yield from changes(part.parts)


def after_changes(parts: Iterable[Part], scope: Scope) -> Scope:
    """The scope after the assignments inside an expression."""
    for name in changes(parts):
        scope = scope.assign(name, Unknown.NUMBER if scope.inert(name) else Unknown.ANYTHING)
    return scope


def parameter_problem(part: Part, scope: Scope) -> str | None:
    """Why expanding `${...}` may run something that is not written in it; None when it does not."""
    found = _PARAMETER.fullmatch(part.text)
    if found is None or not part.parts:
        return None
    name, rest = found["name"] or "", found["rest"]
    if rest.endswith("@P"):
        return "${...@P} runs the commands in the value"
    if found["sign"] == "!" and name and rest not in ("*", "@") and not _WHOLE_ARRAY.match(rest):
        value = scope.value(name)
        named = isinstance(value, str) and _IDENTIFIER.fullmatch(value)
        return None if named or scope.inert(name) else _NAMED_BY_VALUE
    if whole := _WHOLE_ARRAY.match(rest):
        rest = rest[whole.end() :]
    evaluated = rest.startswith("[") or (rest.startswith(":") and rest[1:2] not in ("-", "=", "+", "?", ""))
    if evaluated and not inert(_without_name(part, len(part.text) - len(rest)), scope):
        return _NAMED_BY_VALUE
    return None


def _without_name(part: Part, length: int) -> tuple[Part, ...]:
    first = part.parts[0]
    return (Part("literal", first.text[length:]), *part.parts[1:])


def set_by_default(part: Part) -> str | None:
    """The name that `${name:=...}` assigns to."""
    found = _PARAMETER.fullmatch(part.text)
    if found and not found["sign"] and found["rest"].startswith(("=", ":=")):
        return found["name"]
    return None
