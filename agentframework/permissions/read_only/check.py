"""Whether a command, or a whole line, is in the read-only set."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile

from agentframework.permissions.argv import Arguments, read_arguments, same_option
from agentframework.permissions.read_only import git, programs
from agentframework.permissions.read_only.places import Place
from agentframework.permissions.read_only.table import (
    OWN_VERSION_WORDS,
    READERS,
    SAFE_OPTIONS,
    VERSION_OPTIONS,
    VERSIONED,
    Reader,
)
from agentframework.permissions.shell.model import CommandLine, Redirection, SimpleCommand, Word
from agentframework.permissions.shell_permit import changes_no_program, changes_nothing, is_transparent
from agentframework.permissions.subject import Surroundings
from agentframework.permissions.writes import finder_of, with_starting_points

_SYSTEM = re.compile(r"(/(usr/)?s?bin/)?[^/]+")
_DETACHED = frozenset({"cd", "command", "set", "echo", "printf", "true", "false", ":", "pwd", "test", "["})

Judge = Callable[[SimpleCommand, Place], bool]
_JUDGES: Mapping[str, Judge] = {
    "awk": programs.awk, "gawk": programs.awk, "mawk": programs.awk,
    "cd": programs.cd,
    "command": programs.command_lookup,
    "find": programs.find,
    "git": git.git,
    "jq": programs.jq,
    "sed": programs.sed,
    "set": programs.set_options,
    "yq": programs.yq,
}  # fmt: skip


def line_reads_only(line: CommandLine, around: Surroundings) -> bool:
    """True if nothing on the line does more than read inside the working directories."""
    if not line.complete or not line.commands or not all(map(changes_no_program, line.assignments)):
        return False
    if not all(reads_only_from(redirection, around) for redirection in line.redirections):
        return False
    return all(
        is_transparent(line.commands, number) or reads_only(as_found(line.commands, command), around)
        for number, command in enumerate(line.commands)
    )


def as_found(commands: Sequence[SimpleCommand], command: SimpleCommand) -> SimpleCommand:
    """``command``; where a find that looks for plain files hands them to it, with the places that these lie below."""
    if not command.via or command.via[-1] != "find" or not any(word.text == "{}" for word in command.argv):
        return command
    number = next(at for at, one in enumerate(commands) if one is command)
    finding = finder_of(commands, number)
    values = [] if finding is None else [word.value for word in finding.arguments]
    kinds = [values[at - 1 : at + 2] for at, value in enumerate(values) if value == "-type"]
    plain = any(after[-1] == "f" and after[0] not in ("!", "-not") for after in kinds if len(after) == 3)
    if not plain or {"-o", "-or", ",", "(", "-L", "-follow"} & {*values}:
        return command
    return with_starting_points(commands, number)


def reads_only_from(redirection: Redirection, around: Surroundings) -> bool:
    """True for a redirection that writes nothing and reads at most a file inside the working directories."""
    if redirection.harmless:
        return True
    if redirection.writes or redirection.target is None:
        return False
    return Place(around, redirection.directories).is_inside(redirection.target)


def reads_only(command: SimpleCommand, around: Surroundings) -> bool:
    """True for a command of the set. What it runs, if it is a wrapper, is a command of its own."""
    name = command.name
    if name is None or not command.program.exact or not _SYSTEM.fullmatch(command.program.value or ""):
        return False
    if not all(map(changes_nothing, command.assignments)):
        return False
    words = command.arguments
    if len(words) == 1 and words[0].exact and _tells_version(name, words[0].value or ""):
        return True
    place = Place(around, command.directories)
    if name not in _DETACHED and not place.stands_inside:
        return False
    if name not in SAFE_OPTIONS and any(word.glob and _may_be_option(word) for word in _before_dashes(words)):
        return False
    judge = _JUDGES.get(name)
    if judge is not None:
        return judge(command, place)
    reader = READERS.get(name)
    return reader is not None and _fits(reader, command, place)


def _tells_version(name: str, word: str) -> bool:
    return name in VERSIONED and (word in VERSION_OPTIONS or word in OWN_VERSION_WORDS.get(name, ()))


def _before_dashes(words: Sequence[Word]) -> Iterator[Word]:
    return takewhile(lambda word: word.value != "--", words)


def _fits(reader: Reader, command: SimpleCommand, place: Place) -> bool:
    words = command.arguments
    if reader.loose:
        return all(place.is_inside(word) for word in words if word.glob)
    if command.name == "printf" and words:
        return words[0].exact and not (words[0].value or "").startswith("-")
    if (reader.bare and words) or not all(word.value is not None or word.stream for word in words):
        return False
    found = read_arguments(words, reader.syntax)
    if _is_refused(reader, found) or (reader.most is not None and len(found.operands) > reader.most):
        return False
    if command.name == "date" and not all((word.value or "").startswith("+") for word in found.operands):
        return False
    return all(map(place.is_inside, _files(reader, found))) and all(map(place.may_be_value, _others(reader, found)))


def _may_be_option(word: Word) -> bool:
    """True for a wildcard that may stand for a name with a dash in front."""
    return (word.value or "")[:1] in ("*", "?", "[", "-")


def _is_refused(reader: Reader, found: Arguments) -> bool:
    for given, _ in found.options:
        if given.startswith("--"):
            if any(same_option(given, name) for name in reader.refused_long):
                return True
        elif given[1:] in reader.refused:
            return True
    return False


def _files(reader: Reader, found: Arguments) -> list[Word]:
    """The words that name files."""
    named = found.values(*(f"-{letter}" for letter in reader.files), *reader.long_files)
    if reader.text:
        return named
    operands = found.operands
    if reader.pattern is not None and not found.has("--files", "--type-list", *reader.pattern):
        operands = operands[1:]
    return [*named, *operands]


def _others(reader: Reader, found: Arguments) -> list[Word]:
    """The values of options that are not known to be no files."""
    known = (*(f"-{letter}" for letter in reader.letters + reader.attached), *reader.long)
    return [word for given, word in found.options if word is not None and not any(same_option(given, n) for n in known)]
