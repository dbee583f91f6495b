"""Allow rules against the commands of a shell line.

A permission has to be found for every single command. A word that is known only while the line runs is only itself
here: nothing but a wildcard covers it.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agentframework.permissions.argv import Syntax, read_arguments
from agentframework.permissions.rules import CommandScope, Rule
from agentframework.permissions.shell.model import Assignment, CommandLine, SimpleCommand, Word
from agentframework.permissions.shell_restrict import as_words, text_of

# They run their operand as it is and change nothing else about it.
_TRANSPARENT = frozenset({"builtin", "command", "env", "nice", "nohup", "stdbuf", "time", "timeout", "xargs"})
_HARMLESS_VARIABLE = re.compile(
    r"CI|COLUMNS|DEBUG|FORCE_COLOR|GOARCH|GOOS|LANG|LC_[A-Z]+|LINES|LOG_LEVEL|NODE_ENV|NO_COLOR|PORT"
    r"|PYTHONDONTWRITEBYTECODE|PYTHONUNBUFFERED|RUST_BACKTRACE|RUST_LOG|TERM|TZ"
)
# Of the shell's own variables also short lower-case names: programs do not see them.
_SHELL_VARIABLE = re.compile(r"(?!\w*_proxy)(?!npm_)[a-z_][a-z0-9_]*")

_XARGS = Syntax("adEILnPs", ("--arg-file",), attached="eil")


@dataclass(frozen=True, slots=True)
class Permittable:
    """The spellings of a command that an allow rule may cover. ``variable`` is the name that the rule has to start
    with, for a command with variables that are not harmless."""

    texts: frozenset[str]
    variable: str | None


def permittable(command: SimpleCommand) -> Permittable | None:
    """The spellings of ``command``, or None if it is not certain which program it runs."""
    if not command.program.exact:
        return None
    # The program counts as what it is, however it is spelled; its arguments also as they are spelled.
    program = _quoted(command.program)
    texts = {
        " ".join((program, *map(_quoted, command.arguments))),
        " ".join((program, *(word.text for word in command.arguments))),
    }
    if all(map(changes_nothing, command.assignments)):
        return Permittable(frozenset(texts), None)
    variables = list(as_words(command.assignments))
    leading = {" ".join(map(_quoted, variables)), " ".join(word.text for word in variables)}
    return Permittable(frozenset(f"{one} {text}" for one in leading for text in texts), command.assignments[0].name)


def literal_text(command: SimpleCommand) -> str | None:
    """How an allow rule names exactly this command; None if one of its words is not known."""
    words = (*command.argv, *(item.value for item in command.assignments))
    if not all(word.exact for word in words):
        return None
    # Variables that change nothing need no mention, others stand as they were spelled.
    told = [] if all(map(changes_nothing, command.assignments)) else as_words(command.assignments)
    return " ".join((*(word.text for word in told), *map(_quoted, command.argv)))


def permits_command(rule: Rule, command: Permittable | None) -> bool:
    """Whether an allow rule covers this one command."""
    scope = rule.scope
    if not isinstance(scope, CommandScope):
        return scope is None
    if command is None or (command.variable is not None and not scope.verbatim.startswith(f"{command.variable}=")):
        return False
    return any(glob.matches(text) for glob in scope.globs for text in command.texts)


def _quoted(word: Word) -> str:
    """The word so that it cannot be taken for two."""
    if not word.exact:
        return word.text
    value = text_of(word)
    return shlex.quote(value) if not value or any(character.isspace() for character in value) else value


@dataclass(slots=True)
class Coverage:
    """What permits a line, as the texts of rules and grants, and which of its parts nothing permits."""

    by: list[str] = field(default_factory=list)
    missing: list[SimpleCommand] = field(default_factory=list)
    variables: list[Assignment] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        return bool(self.by) and not self.missing and not self.variables


def cover(line: CommandLine, permitting: Callable[[SimpleCommand], str | None]) -> Coverage:
    """Look for a permission for every command of ``line``. ``permitting`` gives the rule or grant for one."""
    found = Coverage()
    covered_by: list[str | None] = []
    for number, command in enumerate(line.commands):
        label = permitting(command) or _named_by_wrapper(line.commands, covered_by, number)
        covered_by.append(label)
        if label is not None:
            if label not in found.by:
                found.by.append(label)
        elif not is_transparent(line.commands, number):
            found.missing.append(command)
    found.variables.extend(
        item for item in line.assignments if not changes_no_program(item)
    )
    return found


def changes_no_program(assignment: Assignment) -> bool:
    """True for a variable set in the shell that changes no program: a harmless one, or one that only the shell sees."""
    return changes_nothing(assignment) or _SHELL_VARIABLE.fullmatch(assignment.name) is not None


def changes_nothing(assignment: Assignment) -> bool:
    """True for a variable that changes no program that is run, and no place that is written to."""
    return _HARMLESS_VARIABLE.fullmatch(assignment.name) is not None


def is_transparent(commands: Sequence[SimpleCommand], number: int) -> bool:
    """True for a wrapper that does nothing but run a command of the same line, which is judged by itself."""
    command = commands[number]
    if command.program.value not in _TRANSPARENT or command.assignments:
        return False
    if command.name == "time" and any(text_of(word)[:1] == "-" != text_of(word) for word in command.arguments[:1]):
        return False  # it can write to a file
    if command.name == "xargs" and read_arguments(command.arguments, _XARGS).has("-a", "--arg-file"):
        return False  # it reads a file, and hands over what is in it
    return any(_runs(command, other) for other in commands[number + 1 :])


def _runs(wrapper: SimpleCommand, command: SimpleCommand) -> bool:
    return command.via == (*wrapper.via, wrapper.name or "")


def _named_by_wrapper(commands: Sequence[SimpleCommand], covered_by: Sequence[str | None], number: int) -> str | None:
    """The permission of a wrapper whose rule names the wrapped program too, such as ``Bash(xargs ls:*)``."""
    command = commands[number]
    for at in range(number - 1, -1, -1):
        if _runs(commands[at], command):
            label = covered_by[at]
            words = re.split(r"[\s'\"]+", (label or "").partition("*")[0].removesuffix(":").partition("(")[2])
            named = [word.removesuffix(":") for word in words[1:]]
            return label if text_of(command.program) in named else None
    return None
