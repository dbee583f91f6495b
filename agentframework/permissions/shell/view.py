"""The entry point: a command line as text becomes a `CommandLine`."""

from __future__ import annotations

from functools import lru_cache

from agentframework.permissions.shell.commands import CommandReader
from agentframework.permissions.shell.lexer import Lexer
from agentframework.permissions.shell.model import CommandLine
from agentframework.permissions.shell.scope import Outcome, Scope, unchanged
from agentframework.permissions.shell.tokens import Fragment, Notes, Stop
from agentframework.permissions.shell.walk import FragmentWalker

MAX_LENGTH = 1_000_000
_REMEMBERED_LENGTH = 2_000
_TOO_DEEP = "the command line is nested too deeply to be read"


def parse_command_line(text: str, *, cwd: str | None = None) -> CommandLine:
    """Say what `text` does when bash 5.2 runs it.

    `cwd` is the absolute directory it starts in; without it directories are known only after a `cd` to an
    absolute path. Nothing is run or looked up. Never raises for any text: what cannot be read is named in
    `unresolved`. Text over 1,000,000 characters is not read at all. One decision looks at a line several times, so
    the views of the latest short ones are kept.
    """
    if len(text) > _REMEMBERED_LENGTH:
        return _parsed(text, cwd)
    found = _remembered(text, cwd)
    # What did not fit below a caller's deep stack may fit the next time.
    return _parsed(text, cwd) if _TOO_DEEP in found.unresolved else found


def _parsed(text: str, cwd: str | None) -> CommandLine:
    if len(text) > MAX_LENGTH:
        return CommandLine(text, unresolved=("the command line is too large to be read",))
    notes = Notes()
    if "\0" in text:
        notes.problem("the command line contains a NUL character")
    lexer = Lexer(text, notes)
    try:
        lexer.read()
    except Stop as stop:
        notes.problem(str(stop))
    except RecursionError:  # the caller's own stack may be deep already
        notes.problem(_TOO_DEEP)
    notes.depth = 0
    reader = CommandReader(notes, lambda fragment, scope: _walk(fragment, scope, reader))
    try:
        _walk(lexer.fragment, Scope(directories=(cwd,) if cwd else ()), reader)
    except Stop as stop:
        notes.problem(str(stop))
    except RecursionError:
        notes.problem(_TOO_DEEP)
    return CommandLine(
        text,
        tuple(reader.commands),
        tuple(reader.redirections),
        tuple(reader.findings.assignments),
        tuple(notes.problems),
    )


_remembered = lru_cache(maxsize=128)(_parsed)


def _walk(fragment: Fragment, scope: Scope, reader: CommandReader) -> Outcome:
    return FragmentWalker(fragment, reader).walk(scope) if fragment.tokens else unchanged(scope)
