"""Unwrapping by the table of `wrappers.py`."""

from __future__ import annotations

from collections.abc import Sequence

from agentframework.permissions.shell.model import Assignment, Word
from agentframework.permissions.shell.options import Options, read_options
from agentframework.permissions.shell.unwrapped import (
    ADDED,
    UNKNOWN_WORDS,
    Code,
    Inner,
    Unwrapped,
    joined,
    leading_assignments,
)
from agentframework.permissions.shell.wrappers import Wrapper


def unwrap_by_table(words: Sequence[Word], wrapper: Wrapper) -> Unwrapped:
    """The inner command of a wrapper; `words` are its arguments."""
    options, assignments, words = _before_command(words, wrapper)
    found = Unwrapped()
    if options.doubt:
        found.problems.append(options.doubt)
    if code := options.operand(wrapper.code):
        found.add_code(code, _code(code, wrapper))
    if wrapper.runs == "nothing" or options.has(wrapper.ends):
        return found
    skipped, rest = words[: wrapper.positionals], words[wrapper.positionals :]
    if any(word.splits or word.glob for word in skipped):
        found.problems.append("how many words come before the inner command is known only at run time")
    if rest and rest[0].value in wrapper.code:
        for code in rest[1:2]:
            found.add_code(code, _code(code, wrapper))
        return found
    _add_command(rest, assignments, wrapper, options, found)
    return found


def _before_command(
    words: Sequence[Word], wrapper: Wrapper
) -> tuple[Options, tuple[Assignment, ...], Sequence[Word]]:
    """The options and NAME=value words, which sudo takes in any order, and the words after them."""
    options = read_options(words, wrapper)
    words = words[options.rest :]
    assignments: tuple[Assignment, ...] = ()
    while wrapper.assignments:
        found, count = leading_assignments(words)
        if not count:
            break
        more = read_options(words[count:], wrapper)
        assignments += found
        words = words[count + more.rest :]
        options.given += more.given
        options.doubt = options.doubt or more.doubt
    return options, assignments, words


def _code(word: Word, wrapper: Wrapper) -> Code:
    if wrapper.in_shell:  # a callback of the shell, which adds arguments of its own
        return Code(f"{word.value} {UNKNOWN_WORDS}", "", later=True)
    return Code(word.value or "", "sh")


def _add_command(
    rest: Sequence[Word],
    assignments: tuple[Assignment, ...],
    wrapper: Wrapper,
    options: Options,
    found: Unwrapped,
) -> None:
    command = tuple(rest)
    if not command:
        if wrapper.shell_by_default or options.has(wrapper.shell_by):
            found.problems.append("a shell reads its commands from standard input")
        return
    moved = wrapper.moves or options.has(wrapper.moved_by)
    if wrapper.runs == "line" and not options.has(("-x", "--exec")):
        line = joined(command)
        if line is None:
            found.problems.append("a command line is known only at run time")
        else:
            found.inner.append(Code(line, "sh", moved=moved))
        return
    if wrapper.appends:
        command += (ADDED,)
    directory = options.operand(wrapper.directory)
    found.inner.append(Inner(command, assignments, wrapper.in_shell, directory, moved))
