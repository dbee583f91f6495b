"""Unwrapping of shells, and of the builtins that run text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentframework.permissions.shell.model import Word
from agentframework.permissions.shell.unwrapped import Code, Inner, Unwrapped, joined
from agentframework.permissions.shell.wrappers import SHELL

STDIN_SHELL = "a shell reads its commands from standard input"
_UNREADABLE_FILE = re.compile(r"(/dev/(stdin|fd/.*|tty)|/proc/.*|-)")
_CHANGES_THE_LANGUAGE = re.compile(
    r"expand_aliases|history|histexpand|extglob|lastpipe|keyword|posix|compat.*|braceexpand|physical|cdable_vars|cdspell"
)


def changes_the_language(option: str | None) -> bool:
    """True for the names of shell options after which the same text means something else."""
    return option is None or bool(_CHANGES_THE_LANGUAGE.fullmatch(option))


def shell(name: str, words: Sequence[Word], stdin: str | None) -> Unwrapped:
    """sh, bash and the like; `stdin` is the text of a here-document that holds no expansions."""
    found = Unwrapped()
    index, letters = _options(words, found)
    rest = words[index:]
    if "c" in letters:
        if rest:
            found.add_code(rest[0], Code(rest[0].value or "", name))
    elif rest and "s" not in letters:
        if not rest[0].exact or _UNREADABLE_FILE.fullmatch(rest[0].value or ""):
            found.problems.append(f"the script {rest[0].text} is known only at run time")
    elif stdin is not None:
        found.inner.append(Code(stdin, name))
    elif not found.problems and "--help" not in letters:
        found.problems.append(STDIN_SHELL)
    return found


def _options(words: Sequence[Word], found: Unwrapped) -> tuple[int, set[str]]:
    """The index of the first operand and the option letters given."""
    letters: set[str] = set()
    index = 0
    while index < len(words):
        value = words[index].value
        if value is None or words[index].glob:
            found.problems.append(f"whether {words[index].text} is an option is known only at run time")
            break
        if value in ("-", "--"):
            index += 1
            break
        if value[:1] not in ("-", "+") or len(value) < 2:
            break
        index += 1
        if value.startswith("--"):
            index += _long_option(value, found, letters)
            continue
        for letter in value[1:]:
            if letter in "oO":
                option = words[index].value if index < len(words) else ""
                index += 1
                if value[0] == "-" and changes_the_language(option):
                    found.problems.append("an option of the shell changes how its commands are read")
            else:
                _letter(letter, value[0], found, letters)
    return index, letters


def _long_option(value: str, found: Unwrapped, letters: set[str]) -> int:
    """Note a long option; returns how many operands it takes."""
    if value in SHELL.ends:
        letters.add("--help")
    elif value in SHELL.long_operands:
        return 1
    elif value not in SHELL.long_flags:
        found.problems.append(f"the option {value} is not known")
    elif value == "--posix":
        found.problems.append("an option of the shell changes how its commands are read")
    return 0


def _letter(letter: str, sign: str, found: Unwrapped, letters: set[str]) -> None:
    if letter in "ik" or (letter == "B" and sign == "+"):
        found.problems.append("an option of the shell changes how its commands are read")
    elif letter not in SHELL.flags and letter != "c":
        found.problems.append(f"the option {sign}{letter} is not known")
    if sign == "-":
        letters.add(letter)


def other_shell() -> Unwrapped:
    return Unwrapped(problems=["commands in the language of another shell are not read"])


def multicall(words: Sequence[Word]) -> Unwrapped:
    """busybox: the first argument names the program to be."""
    if not words or (words[0].value or "").startswith("-"):
        return Unwrapped()
    return Unwrapped([Inner(tuple(words))])


def evaluate(words: Sequence[Word]) -> Unwrapped:
    """eval: the words joined by blanks are a command line for this shell."""
    if words and words[0].value == "--":
        words = words[1:]
    text = joined(words)
    if text is None:
        return Unwrapped(problems=["what eval runs is known only at run time"])
    return Unwrapped([Code(text, "")] if text else [])


def trap(words: Sequence[Word]) -> Unwrapped:
    if words and words[0].value == "--":
        words = words[1:]
    if not words or words[0].value in ("-", "", "-l", "-p"):
        return Unwrapped()
    found = Unwrapped()
    found.add_code(words[0], Code(words[0].value or "", "", later=True))
    return found


def jobs(words: Sequence[Word]) -> Unwrapped:
    """`jobs -x` runs a command."""
    if words and words[0].value == "-x":
        return Unwrapped([Inner(tuple(words[1:]))] if words[1:] else [])
    doubtful = any(word.foreign for word in words)
    return Unwrapped(problems=["whether jobs runs a command is known only at run time"] if doubtful else [])


def source(words: Sequence[Word]) -> Unwrapped:
    """source: a file is like any other program, but input from elsewhere is code that nobody has seen."""
    if words and words[0].value == "--":
        words = words[1:]
    if not words or (words[0].exact and not _UNREADABLE_FILE.fullmatch(words[0].value or "")):
        return Unwrapped()
    return Unwrapped(problems=[f"the script {words[0].text} is known only at run time"])
