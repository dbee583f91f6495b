"""Programs of the read-only set that need more than a table: find, sed, awk, jq, yq, cd, set."""

import re
from collections.abc import Sequence

from agentframework.permissions.argv import Syntax, read_arguments
from agentframework.permissions.read_only.places import Place
from agentframework.permissions.scripts import awk_only_prints, sed_only_prints
from agentframework.permissions.shell.model import SimpleCommand, Word
from agentframework.permissions.writes import starting_points

# find(1): everything that neither runs, writes, deletes nor follows links; with the number of operands.
_FIND = {
    **dict.fromkeys(
        (
            "(", ")", "!", ",", "-a", "-o", "-and", "-or", "-not", "-print", "-print0", "-ls", "-prune", "-quit",
            "-true", "-false", "-empty", "-depth", "-d", "-daystart", "-mount", "-xdev", "-nogroup", "-nouser",
            "-readable", "-writable", "-executable", "-noleaf", "-ignore_readdir_race", "-noignore_readdir_race",
            "-warn", "-nowarn", "-H", "-P", "-help", "-version",
        ),
        0,
    ),
    **dict.fromkeys(
        (
            "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-lname",
            "-ilname", "-type", "-xtype", "-size", "-mtime", "-mmin", "-ctime", "-cmin", "-atime", "-amin", "-newer",
            "-anewer", "-cnewer", "-newermt", "-newerat", "-newerct", "-samefile", "-inum", "-links", "-perm",
            "-user", "-group", "-uid", "-gid", "-used", "-maxdepth", "-mindepth", "-regextype", "-printf", "-fstype",
            "-context",
        ),
        1,
    ),
}  # fmt: skip
_SED = Syntax("elf", ("--expression", "--line-length", "--file"), attached="i")
_SED_OPTIONS = frozenset({
    "-n", "-e", "-E", "-r", "-l", "-s", "-u", "-z", "--quiet", "--silent", "--expression", "--regexp-extended",
    "--line-length", "--separate", "--unbuffered", "--null-data", "--posix", "--debug", "--sandbox",
})  # fmt: skip
_AWK = Syntax("Fv", ("--field-separator", "--assign"))
_AWK_OPTIONS = frozenset({"-F", "-v", "--field-separator", "--assign", "--posix", "--re-interval", "--csv"})
_JQ_PAIRS = frozenset({"--arg", "--argjson"})
_JQ_FILES = frozenset({"--argfile", "--rawfile", "--slurpfile"})
_JQ_FLAGS = frozenset({
    "--ascii-output", "--color-output", "--compact-output", "--exit-status", "--join-output", "--monochrome-output",
    "--null-input", "--raw-input", "--raw-output", "--raw-output0", "--seq", "--slurp", "--sort-keys", "--stream",
    "--tab", "--unbuffered", "--version",
})  # fmt: skip
_MODULE = re.compile(r"\b(?:import|include)\b\s*\"")
_YQ = Syntax("Iop", ("--output-format", "--input-format", "--indent", "--expression"))
_YQ_OPTIONS = frozenset({
    "-C", "-I", "-M", "-N", "-P", "-c", "-e", "-j", "-n", "-o", "-p", "-r", "-y", "--colors", "--exit-status",
    "--expression", "--indent", "--input-format", "--no-colors", "--no-doc", "--null-input", "--output-format",
    "--prettyPrint", "--raw-output", "--tojson", "--unwrapScalar",
})  # fmt: skip
_YQ_COMMANDS = frozenset({"e", "ea", "eval", "eval-all"})


def find(command: SimpleCommand, place: Place) -> bool:
    """Only tests and printing actions; starting points inside."""
    words = _without_actions([word for word in command.arguments if word.value not in ("-H", "-P")])
    starts = [] if _begins_expression(words[:1]) else starting_points(words)
    at = len(starts)
    looked_at = list(starts)
    while at < len(words):
        word = words[at]
        if not word.exact or word.value not in _FIND:
            return False
        operands = words[at + 1 : at + 1 + _FIND[word.value]]
        if not all(operand.exact for operand in operands):
            return False
        if word.value in ("-newer", "-anewer", "-cnewer", "-samefile"):
            looked_at.extend(operands)
        at += 1 + _FIND[word.value]
    return all(map(place.is_inside, looked_at))


def _without_actions(words: Sequence[Word]) -> Sequence[Word]:
    """Without ``-exec ls {} +``: what is run there is a command of its own on the line."""
    found: list[Word] = []
    inside = False
    for number, word in enumerate(words):
        if inside:
            inside = not (word.value == ";" or (word.value == "+" and words[number - 1].text == "{}"))
        elif word.value == "-exec":
            inside = True
        else:
            found.append(word)
    return words if inside else found


def _begins_expression(words: Sequence[Word]) -> bool:
    return not words or (words[0].value or "").startswith(("-", "(", "!", ","))


def sed(command: SimpleCommand, place: Place) -> bool:
    """Only scripts that print."""
    if not all(word.value is not None for word in command.arguments):
        return False
    found = read_arguments(command.arguments, _SED)
    if not all(given in _SED_OPTIONS for given, _ in found.options):
        return False
    scripts = found.values("-e", "--expression")
    files = found.operands if scripts else found.operands[1:]
    scripts = scripts or found.operands[:1]
    if not scripts or not all(word.exact for word in scripts):
        return False
    return sed_only_prints("\n".join(word.value or "" for word in scripts)) and all(map(place.is_inside, files))


def awk(command: SimpleCommand, place: Place) -> bool:
    """Only programs that print to standard output."""
    if not all(word.value is not None for word in command.arguments):
        return False
    found = read_arguments(command.arguments, _AWK)
    program, files = found.operands[:1], found.operands[1:]
    if not program or not program[0].exact or not all(given in _AWK_OPTIONS for given, _ in found.options):
        return False
    files = [word for word in files if word.glob or "=" not in (word.value or "")]
    return awk_only_prints(program[0].value or "") and all(map(place.is_inside, files))


def jq(command: SimpleCommand, place: Place) -> bool:
    """A filter and files; none from a file, none with modules."""
    words = list(command.arguments)
    if not all(word.value is not None for word in words):
        return False
    operands: list[Word] = []
    files: list[Word] = []
    while words:
        word = words.pop(0)
        value = word.value or ""
        if value in _JQ_PAIRS or value in _JQ_FILES:
            files += words[1:2] if value in _JQ_FILES else []
            del words[:2]
        elif value == "--indent":
            del words[:1]
        elif value in ("--args", "--jsonargs"):
            break  # what follows is data; the filter may still come, and is no file either
        elif value.startswith("--"):
            if value not in _JQ_FLAGS:
                return False
        elif value.startswith("-") and len(value) > 1:
            if not set(value[1:]) <= set("aCcehjMnRrSsV"):
                return False
        else:
            operands.append(word)
    modules = any(_MODULE.search(word.value or "") for word in operands[:1])
    return not modules and all(map(place.is_inside, (*files, *operands[1:])))


def yq(command: SimpleCommand, place: Place) -> bool:
    """An expression that loads nothing, and files."""
    if not all(word.value is not None for word in command.arguments):
        return False
    found = read_arguments(command.arguments, _YQ)
    if not all(given in _YQ_OPTIONS for given, _ in found.options):
        return False
    operands = found.operands
    if operands and operands[0].value in _YQ_COMMANDS:
        operands = operands[1:]
    expressions = [*found.values("--expression"), *operands[:1]]
    harmless = all(word.exact and not _loads(word.value or "") for word in expressions)
    files = operands if found.has("--expression") else operands[1:]
    return harmless and all(map(place.is_inside, files))


def _loads(expression: str) -> bool:
    return any(name in expression for name in ("load", "system", "env", "input_filename"))


def cd(command: SimpleCommand, place: Place) -> bool:
    """To a directory inside; not home, not back."""
    words = [word for word in command.arguments if word.value not in ("--", "-L", "-P")]
    return len(words) == 1 and words[0].exact and words[0].value != "-" and place.is_inside(words[0])


def command_lookup(command: SimpleCommand, place: Place) -> bool:
    """``command -v``: where a program is."""
    words = command.arguments
    return bool(words) and words[0].value in ("-v", "-V") and all(word.exact for word in words)


def set_options(command: SimpleCommand, place: Place) -> bool:
    """The options that end a script at its first failure, such as ``set -euo pipefail``."""
    values = [word.value for word in command.arguments]
    return bool(values) and all(value in ("-e", "-u", "-eu", "-o", "-euo", "-eo", "pipefail") for value in values)
