"""What a line may run beyond the commands that it spells out: for restrictions, never for permissions.

Some programs run the words they are given (`strace rm x`), others take a command line as the value of an option, a
setting or a variable (`git -c core.pager='rm x' log`). Such a value is read as a line. Where the command of the
former starts is not looked up: every word is taken as a start, and what is found so is doubtful.
"""

import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from agentframework.permissions.argv import Syntax, part, read_arguments
from agentframework.permissions.git_words import split_git
from agentframework.permissions.reads import is_interpreter, literals_in
from agentframework.permissions.runners import (
    ADDRESS,
    CODE_SETTING,
    CODE_VARIABLE,
    ESCAPE,
    ESCAPING,
    LOADER,
    RUNNERS,
    RUNNING,
    SPAWN,
    UNREAD_SETTING,
    UNREAD_VARIABLE,
)
from agentframework.permissions.scripts import run_by_awk, run_by_sed
from agentframework.permissions.shell import parse_command_line
from agentframework.permissions.shell.model import Assignment, CommandLine, Redirection, SimpleCommand, Word

_SYSTEM = re.compile(r"/(usr/(local/)?)?s?bin/[^/]+")
_INERT = re.compile(r"|true|false|0|1|:|cat|less( -\w+)?|more|vi|vim|nano|/dev/null|never|cache|store")
_COPYING = frozenset({"cat", "cp", "dd", "install", "ln", "link", "mv", "rsync"})
_LONGEST_SCRIPT = 4_000
_MOST_STARTS = 20
_MOST_WORDS = 200
_MOST_READ = 100
_MOST_LEVELS = 3
_NOT_KNOWN = '"$_"'  # in a line of code: a parameter that never has a known value


@dataclass(slots=True)
class _Reading:
    """What has been found so far."""

    commands: list[SimpleCommand] = field(default_factory=list[SimpleCommand])
    doubtful: list[SimpleCommand] = field(default_factory=list[SimpleCommand])
    guessed: list[SimpleCommand] = field(default_factory=list[SimpleCommand])
    redirections: list[Redirection] = field(default_factory=list[Redirection])
    unresolved: list[str] = field(default_factory=list[str])
    read: int = 0

    def full(self) -> bool:
        self.read += 1
        if self.read == _MOST_READ + 1:
            self.unresolved.append("it may run too many things to be read")
        return self.read > _MOST_READ


@dataclass(frozen=True, slots=True)
class Through:
    """``line`` with what its commands run for certain; ``doubtful`` are commands that may be run, ``guessed`` are read
    out of texts in the code of another language."""

    line: CommandLine
    doubtful: tuple[SimpleCommand, ...] = ()
    guessed: tuple[SimpleCommand, ...] = ()


def seen_through(line: CommandLine, *, folds_case: bool = sys.platform == "darwin") -> Through:
    """``line`` with everything that its commands may run in ways that it does not show.

    ``folds_case``: the file system finds ``rm`` under the name ``RM`` too.
    """
    found = _Reading()
    if folds_case:
        found.commands += _in_lower_case(line.commands)
    _look([*line.commands, *found.commands], found, 0)
    for assignment in line.assignments:
        _read(_of_variable(assignment), None, found, 0)
    if not (found.commands or found.doubtful or found.guessed or found.unresolved):
        return Through(line)
    whole = replace(
        line,
        commands=(*line.commands, *found.commands),
        redirections=(*line.redirections, *found.redirections),
        unresolved=(*line.unresolved, *found.unresolved),
    )
    return Through(whole, tuple(found.doubtful), tuple(found.guessed))


def _in_lower_case(commands: Iterable[SimpleCommand]) -> Iterator[SimpleCommand]:
    for command in commands:
        name = command.name
        if name is not None and name != name.lower():
            yield replace(command, argv=(Word(name.lower(), command.program.text), *command.arguments))


def _look(commands: Sequence[SimpleCommand], found: _Reading, level: int) -> None:
    for command in commands:
        for assignment in command.assignments:
            _read(_of_variable(assignment), command, found, level)
        name = command.name
        if name is None:
            continue
        if reader := _READERS.get(name):
            _read(reader(command.arguments), command, found, level)
        if pattern := _escapes_of(name):
            _read(_found_in(pattern, _texts(command)), command, found, level)
        found.doubtful += _copied_programs(command)
        if name in RUNNERS or LOADER.fullmatch(name) or _first(command.arguments) in RUNNING.get(name, ()):
            _guess(command, found)
        elif is_interpreter(name):
            for text in islice(literals_in(_texts(command)), _MOST_STARTS):
                found.guessed += parse_command_line(text, cwd=command.cwd).commands
        elif "/" in (command.program.value or "") and not _SYSTEM.match(command.program.value or ""):
            _guess_of_stranger(command, found)


def _texts(command: SimpleCommand) -> Sequence[Word]:
    """The arguments, and what a here-document feeds it."""
    return command.arguments if command.stdin is None else (*command.arguments, Word(command.stdin, "<<"))


def _escapes_of(name: str) -> re.Pattern[str] | None:
    if name in ESCAPING:
        return ESCAPE
    return {"expect": SPAWN, "tclsh": SPAWN, "socat": ADDRESS}.get(name)


def _found_in(pattern: re.Pattern[str], words: Sequence[Word]) -> Iterator[Word]:
    """The command lines that follow an escape in the words."""
    for word in words:
        text = word.value or ""
        if len(text) <= _LONGEST_SCRIPT:
            yield from (Word(match[1], match[1]) for match in pattern.finditer(text))
        else:
            yield Word(None, "a script that is too long to be read")


def _copied_programs(command: SimpleCommand) -> Iterator[SimpleCommand]:
    """A program that gets another name may be run by it."""
    if command.name in _COPYING:
        for word in command.arguments[:_MOST_STARTS]:
            if word.exact and _SYSTEM.fullmatch(word.value or ""):
                yield replace(command, argv=(word,), assignments=(), redirections=())


def _read(codes: Iterable[Word], command: SimpleCommand | None, found: _Reading, level: int) -> None:
    """Read the command lines that ``command`` takes as values; one that is not known has no value."""
    name = "the shell" if command is None else command.name or ""
    for code in codes:
        if code.value is None:
            found.unresolved.append(f"{name} runs {code.text}, which is known only at run time")
        elif level == _MOST_LEVELS or found.full():
            found.unresolved.append("what it runs is nested too deeply to be read")
            return
        else:
            inner = parse_command_line(code.value, cwd=None if command is None else command.cwd)
            via = (*(() if command is None else command.via), name)
            named = [replace(one, via=via + one.via) for one in inner.commands]
            found.commands += named
            found.redirections += inner.redirections
            found.unresolved += inner.unresolved
            _look(named, found, level + 1)


def _guess(command: SimpleCommand, found: _Reading) -> None:
    """Every word of a command that runs others may be where the other one starts, or be all of it."""
    words = command.arguments
    starts = [at for at, word in enumerate(words) if word.value is not None and not word.value.startswith("-")]
    if len(starts) > _MOST_STARTS or len(words) > _MOST_WORDS:
        found.unresolved.append(f"what {command.name} runs is too long to be read")
        return
    for at in starts:
        if found.full():
            return
        value = words[at].value or ""
        whole = parse_command_line(
            " ".join((shlex.quote(value), *(_quoted(word) for word in words[at + 1 :]))), cwd=command.cwd
        )
        found.unresolved += whole.unresolved
        alone = parse_command_line(value, cwd=command.cwd) if " " in value.strip() else whole
        via = (*command.via, command.name or "")
        found.doubtful += [replace(one, via=via + one.via) for one in (*whole.commands, *alone.commands)]


def _guess_of_stranger(command: SimpleCommand, found: _Reading) -> None:
    """A program of the project may run what it is given."""
    words = command.arguments[:_MOST_STARTS]
    for at, word in enumerate(words):
        if word.exact and not (word.value or "").startswith("-"):
            found.doubtful.append(replace(command, argv=words[at:], assignments=(), redirections=()))


def _quoted(word: Word) -> str:
    return shlex.quote(word.value) if word.exact and word.value is not None else _NOT_KNOWN


def _of_variable(assignment: Assignment) -> Iterator[Word]:
    if CODE_VARIABLE.fullmatch(assignment.name):
        yield from _code(assignment.value)
    elif assignment.name in UNREAD_VARIABLE and not _is_inert(assignment.value):
        yield Word(None, f"what {assignment.name} names")


def _code(word: Word) -> Iterator[Word]:
    if not _is_inert(word):
        yield word if word.exact else Word(None, word.text)


def _is_inert(word: Word) -> bool:
    return word.value is not None and _INERT.fullmatch(word.value.strip()) is not None


def _after(words: Sequence[Word], *options: str) -> Iterator[Word]:
    """The values of options, attached with ``=`` or as the next word."""
    for number, word in enumerate(words):
        name, attached, _ = (word.value or "").partition("=")
        if name in options and attached:
            yield from _code(part(word, len(name) + 1))
        elif word.value in options:
            yield from _code(words[number + 1]) if number + 1 < len(words) else ()


def _git(words: Sequence[Word]) -> Iterator[Word]:
    leading, subcommand, rest = split_git(words)
    for number, word in enumerate(leading):
        before = leading[number - 1].value if number else None
        if before == "-c":
            yield from _setting(word)
        elif before == "--config-env" or (word.value or "").startswith(("--config-env=", "--exec-path=")):
            yield Word(None, f"what {word.text} names")
    name = None if subcommand is None else subcommand.value
    yield from _after(rest, "--exec", "--upload-pack", "--receive-pack", "--extcmd", "--open-files-in-pager")
    yield from _after(rest, "--sendmail-cmd", "--to-cmd", "--cc-cmd", "--header-cmd")
    if name == "grep":
        yield from (code for word in rest if (word.value or "").startswith("-O") for code in _code(part(word, 2)))
    if name == "clone":
        yield from _after(rest, "-u")
        for word in read_arguments(rest, Syntax("cu", ("--config",))).values("-c", "--config"):
            yield from _setting(word)
    elif name in ("rebase", "difftool"):
        yield from _after(rest, "-x")
    elif name == "filter-branch":
        yield from (found for number, word in enumerate(rest) for found in _filter(word, rest[number + 1 :]))
    elif (name == "bisect" and _first(rest) == "run") or (name == "submodule" and "foreach" in _values(rest)):
        start = 1 if name == "bisect" else _values(rest).index("foreach") + 1
        yield from _words_as_line([word for word in rest[start:] if word.value != "--recursive"])
    yield from _remote_helpers(rest)


def _remote_helpers(words: Sequence[Word]) -> Iterator[Word]:
    """`ext::` addresses: `% ` stands for a blank."""
    for word in words:
        if (word.value or "").startswith("ext::"):
            text = (word.value or "")[5:].replace("% ", " ").replace("%%", "%")
            yield Word(text, word.text)


def _filter(word: Word, following: Sequence[Word]) -> Iterator[Word]:
    if (word.value or "").startswith("--") and (word.value or "").endswith("-filter"):
        yield from _code(following[0]) if following else ()


def _setting(word: Word) -> Iterator[Word]:
    """``name=value`` as Git's ``-c`` takes it."""
    if word.value is None:
        yield Word(None, word.text)
        return
    name, _, _ = word.value.partition("=")
    value = part(word, len(name) + 1)
    if name.lower().startswith("alias."):
        text = value.value or ""
        yield Word(text[1:], text[1:]) if text.startswith("!") else Word(f"git {text}", text)
    elif CODE_SETTING.fullmatch(name):
        text = (value.value or "").removeprefix("!")
        yield from _code(Word(text, text))
    elif UNREAD_SETTING.fullmatch(name) and not _is_inert(value):
        yield Word(None, f"what {name} names")


def _words_as_line(words: Sequence[Word]) -> Iterator[Word]:
    if not words:
        return
    values = [word.value for word in words if word.value is not None]
    yield Word(" ".join(values) if len(values) == len(words) else None, words[0].text)


def _first(words: Sequence[Word]) -> str | None:
    return words[0].value if words else None


def _values(words: Sequence[Word]) -> list[str]:
    return [word.value or "" for word in words]


def _tar(words: Sequence[Word]) -> Iterator[Word]:
    options = ("--to-command", "--use-compress-program", "--rsh-command", "--info-script", "--new-volume-script")
    yield from _after(words, *options, "-I", "-F")
    for word in words:
        if (word.value or "").startswith("--checkpoint-action=exec="):
            yield from _code(part(word, len("--checkpoint-action=exec=")))


def _editor(words: Sequence[Word]) -> Iterator[Word]:
    """vi and its like: ``-c '!rm x'``, ``+!rm x``."""
    commands = [word for before, word in zip(words, words[1:], strict=False) if before.value in ("-c", "--cmd", "-S")]
    commands += [part(word, 1) for word in words if (word.value or "").startswith("+")]
    for word in commands:
        text = word.value
        if text is None:
            yield Word(None, word.text)
        elif "!" in text:
            inner = text.split("!", 1)[1]
            yield Word(inner, inner)
        elif "system(" in text or "execute" in text:
            yield Word(None, text)


def _debugger(words: Sequence[Word]) -> Iterator[Word]:
    """gdb: ``-ex 'shell rm x'``, ``-ex '!rm x'``."""
    for before, word in zip(words, words[1:], strict=False):
        if before.value in ("-ex", "--ex", "-eval-command", "--eval-command"):
            match = re.fullmatch(r"\s*(?:shell|make|!|pipe[^|]*\|)\s*(.*)", word.value or "!", re.DOTALL)
            if match:
                yield Word(None, word.text) if word.value is None else Word(match[1], match[1])


def _make(words: Sequence[Word]) -> Iterator[Word]:
    """make: rules from standard input, and code in variables."""
    for before, word in zip((Word("", ""), *words), words, strict=False):
        value = word.value or ""
        if value.startswith(("SHELL=", ".SHELLFLAGS=")):
            yield from _code(part(word, value.index("=") + 1))
        elif "$(" in value or "${" in value or value.startswith("--eval"):
            yield Word(None, word.text)
        elif value in ("-f-", "--file=-", "--makefile=-", "-f/dev/stdin") or (
            before.value in ("-f", "--file", "--makefile") and value in ("-", "/dev/stdin")
        ):
            yield Word(None, "rules from standard input")


def _line_editor(words: Sequence[Word]) -> Iterator[Word]:
    yield Word(None, "commands from standard input")


def _compiler(words: Sequence[Word]) -> Iterator[Word]:
    """gcc: `-wrapper rm,x`."""
    for word in _after(words, "-wrapper"):
        text = None if word.value is None else word.value.replace(",", " ")
        yield Word(text, word.text)


def _copier(words: Sequence[Word]) -> Iterator[Word]:
    """scp and sftp: another ssh, and options of ssh that name a command."""
    found = read_arguments(words, Syntax("cDFiJloPSX"))
    yield from (code for word in found.values("-S") for code in _code(word))
    for word in found.values("-o"):
        name, separator, _ = (word.value or "command=").replace(" ", "=", 1).partition("=")
        if "command" in name.lower():
            yield from _code(part(word, len(name) + len(separator))) if word.exact else (Word(None, word.text),)


def _after_c(words: Sequence[Word]) -> Iterator[Word]:
    yield from _after(words, "-c", "--command", "--run")


_READERS: dict[str, Callable[[Sequence[Word]], Iterator[Word]]] = {
    "git": _git,
    "tar": _tar, "bsdtar": _tar, "gtar": _tar,
    "awk": run_by_awk, "gawk": run_by_awk, "mawk": run_by_awk, "sed": run_by_sed, "gsed": run_by_sed,
    "ed": _line_editor, "gdb": _debugger, "make": _make, "gmake": _make,
    "vi": _editor, "vim": _editor, "nvim": _editor, "ex": _editor, "view": _editor,
    "script": _after_c, "nix-shell": _after_c, "vagrant": _after_c, "xonsh": _after_c,
    "rsync": lambda words: _after(words, "-e", "--rsh", "--rsync-path"),
    "scp": _copier, "sftp": _copier,
    "go": lambda words: _after(words, "-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool"),
    "gcc": _compiler, "g++": _compiler, "cc": _compiler, "c++": _compiler, "clang": _compiler,
    "man": lambda words: _after(words, "-P", "--pager"),
    "sort": lambda words: _after(words, "--compress-program"),
    "rg": lambda words: _after(words, "--pre", "--hostname-bin"),
    "zip": lambda words: _after(words, "-TT", "--unzip-command"),
}  # fmt: skip
