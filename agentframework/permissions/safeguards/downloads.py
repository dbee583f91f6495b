"""Code that is fetched and run on the same line, so that nobody can have looked at it."""

import os
from collections.abc import Iterable, Iterator

from agentframework.permissions.argv import Syntax, read_arguments
from agentframework.permissions.safeguards.alarm import Alarm
from agentframework.permissions.shell.model import CommandLine, SimpleCommand, Word
from agentframework.permissions.shell_files import edits_of

_FETCHERS = frozenset({
    "aria2c", "axel", "curl", "fetch", "ftp", "http", "https", "lftp", "links", "lynx", "nc", "ncat", "netcat",
    "sftp", "socat", "tftp", "w3m", "wget", "wget2", "xh",
})  # fmt: skip
# Programs that run a script, and the options that give them code or a module instead.
_SHELLS = frozenset({
    "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "pwsh", "rbash", "sh", "tcsh", "zsh",
})  # fmt: skip
_EVALUATORS = frozenset({".", "eval", "source"})
_INTERPRETERS = {
    "bun": "e", "deno": "", "lua": "e", "node": "ep", "nodejs": "ep", "osascript": "e", "perl": "eE", "php": "r",
    "pypy": "cm", "pypy3": "cm", "python": "cm", "python2": "cm", "python3": "cm", "ruby": "e", "Rscript": "e",
    "tclsh": "",
}  # fmt: skip
_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
_REASON = "it runs code straight from a download"


def download_alarm(line: CommandLine) -> Alarm | None:
    """Why the line is asked about, if something on it runs what something else on it fetches."""
    fetching = [command for command in line.commands if command.name in _FETCHERS]
    if not fetching:
        return None
    saved = _saved(line, fetching)
    for command in line.commands:
        if _runs_unseen(command) or any(_name(word) in saved for word in _scripts(command)):
            return Alarm(_REASON, command.text[:200])
    return None


def _runs_unseen(command: SimpleCommand) -> bool:
    """True for a shell or interpreter that reads its script from standard input or from another command."""
    name = _interpreter(command)
    words = command.arguments
    if name in _EVALUATORS:
        return any(map(_is_unseen, words))
    if name in _SHELLS:
        if any(word.value is None for word in words):
            return True
        found = read_arguments(words, Syntax("oO", ("--rcfile", "--init-file")))
        given = found.has("-c") or bool(found.operands)
        return found.has("-s") or not given or any(map(_is_unseen, found.operands[:1]))
    if name in _INTERPRETERS:
        letters = _INTERPRETERS[name]
        found = read_arguments(words, Syntax(letters + "WXIM"))
        options = (*(f"-{letter}" for letter in letters), "--eval", "--print", "--version", "--help")
        if found.has(*options):
            return any(code.value is None for code in found.values(*options))
        return not found.operands or _is_unseen(found.operands[0])
    return False


def _is_unseen(script: Word) -> bool:
    return not script.exact or script.value in _STDIN


def _interpreter(command: SimpleCommand) -> str:
    """The name without a version, such as python of python3.12."""
    name = command.name or ""
    stem = name.rstrip("0123456789.")
    return name if name in _INTERPRETERS or stem not in _INTERPRETERS else stem


def _scripts(command: SimpleCommand) -> Iterator[Word]:
    """The files that a command may run: itself, and the operands of a shell or interpreter."""
    yield command.program
    name = _interpreter(command)
    if name in _SHELLS or name in _EVALUATORS or name in _INTERPRETERS:
        yield from command.arguments


def _saved(line: CommandLine, fetching: Iterable[SimpleCommand]) -> set[str]:
    """The names of the files that are written on a line that fetches something."""
    names = {_name(use.word) for use in edits_of(line)}
    for command in fetching:
        names.update(_name(word) for word in command.arguments if "://" in (word.value or ""))
    return names - {""}


def _name(word: Word) -> str:
    return os.path.basename((word.value or "").split("?")[0].rstrip("/"))
