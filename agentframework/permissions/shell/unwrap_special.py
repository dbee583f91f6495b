"""Unwrapping of the programs whose arguments no table describes."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

from agentframework.permissions.shell.model import Word
from agentframework.permissions.shell.options import Options, read_options
from agentframework.permissions.shell.unwrap_table import unwrap_by_table
from agentframework.permissions.shell.unwrapped import ADDED, UNKNOWN_WORDS, Code, Inner, Unwrapped, joined
from agentframework.permissions.shell.wrappers import (
    COMPOSE,
    CONTAINER_EXEC,
    CONTAINER_GLOBAL,
    CONTAINER_RUN,
    PARALLEL,
    SSH,
    SU,
    WRAPPERS,
    Wrapper,
)

_EXECUTING_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_ENV_WITH_SPLIT = replace(
    WRAPPERS["env"],
    operands=WRAPPERS["env"].operands + "S",
    long_operands=(*WRAPPERS["env"].long_operands, "--split-string"),
)
_SPLIT = ("-S", "--split-string")
_SPLIT_SYNTAX = re.compile(r"[$\\#]")
_INPUT_SOURCES = frozenset({":::", "::::", ":::+", "::::+"})
_REPLACEMENT = re.compile(r"\{[^{}\s,]*\}")
_MAX_SPLITS = 5


def env(words: Sequence[Word], splits: int = 0) -> Unwrapped:
    """env: `-S` splices more words in, a lone `-` stands for `-i`."""
    options = read_options(words, _ENV_WITH_SPLIT)
    rest = list(words[options.rest :])
    if options.has(_SPLIT):
        spliced = _split(options.operand(_SPLIT))
        if spliced is None or splits >= _MAX_SPLITS:
            return Unwrapped(problems=["what env -S splits is known only at run time"])
        found = env([*spliced, *rest], splits + 1)
        directory = options.operand(("-C", "--chdir"))
        if directory is not None:
            found.inner = [replace(inner, moved=True) for inner in found.inner]
    else:
        if rest and rest[0].value == "-":
            words = [word for index, word in enumerate(words) if index != options.rest]
        return unwrap_by_table(words, WRAPPERS["env"])
    if options.doubt:
        found.problems.append(options.doubt)
    return found


def _split(word: Word | None) -> list[Word] | None:
    if word is None or not word.exact or word.value is None or _SPLIT_SYNTAX.search(word.value):
        return None
    try:
        return [Word(value, value) for value in shlex.split(word.value)]
    except ValueError:
        return None


def find(words: Sequence[Word]) -> Unwrapped:
    """find: each of the executing actions takes words up to `;`, or up to `+` after `{}`."""
    found = Unwrapped()
    index = 0
    doubtful = False
    while index < len(words):
        word = words[index]
        index += 1
        if word.value in _EXECUTING_ACTIONS:
            end = _end_of_action(words, index)
            command = tuple(_with_placeholder(inner, "{}") for inner in words[index:end])
            if end < len(words) and words[end].value == "+":
                command = (*command[:-1], Word(None, "{}", splits=True))  # many files at once
            if command:
                moved = word.value in ("-execdir", "-okdir")
                found.inner.append(Inner(command, moved=moved))
            index = end + 1
        elif word.splits or (word.value is None and doubtful):
            found.problems.append("whether find runs something is known only at run time")
        elif word.value is None:
            doubtful = True
        elif word.value == ";" and doubtful:
            found.problems.append("whether find runs something is known only at run time")
    return found


def _end_of_action(words: Sequence[Word], start: int) -> int:
    for index in range(start, len(words)):
        value = words[index].value
        if value == ";" or (value == "+" and index > start and words[index - 1].value == "{}"):
            return index
    return len(words)


def _with_placeholder(word: Word, placeholder: str) -> Word:
    if word.value is not None and placeholder in word.value:
        return Word(None, word.text)
    return word


def xargs(words: Sequence[Word]) -> Unwrapped:
    """xargs: appends arguments, or puts them where the replacement string stands."""
    found = unwrap_by_table(words, WRAPPERS["xargs"])
    options = read_options(words, WRAPPERS["xargs"])
    if not options.has(("-I", "-i", "--replace")):
        return found
    placeholder = options.operand(("-I", "-i", "--replace"))
    text = "{}" if placeholder is None else placeholder.value
    if not text:
        found.problems.append("the replacement string of xargs is known only at run time")
        return found
    found.inner = [
        replace(inner, argv=tuple(_with_placeholder(word, text) for word in inner.argv if word is not ADDED))
        for inner in found.inner
        if isinstance(inner, Inner)
    ]
    return found


def ssh(words: Sequence[Word]) -> Unwrapped:
    """ssh: options may follow the host; what comes then is one line for the remote shell."""
    found = Unwrapped()
    before = read_options(words, SSH)
    after = read_options(words[before.rest + 1 :], SSH)
    given = before.given + after.given
    _note_doubt(found, before, after)
    for name, operand in given:
        if name == "-o" and (operand is None or not operand.exact or "command" in (operand.value or "").lower()):
            found.problems.append("an option of ssh runs a command")
    if any(name in ("-N", "-W", "-O", "-Q", "-G", "-V", "-s") for name, _ in given):
        return found
    command = words[before.rest + 1 + after.rest :]
    line = joined(command)
    if not command:
        found.problems.append("a shell reads its commands from standard input")
    elif line is None:
        found.problems.append("a command line is known only at run time")
    else:
        found.inner.append(Code(line, "sh", moved=True))
    return found


def _note_doubt(found: Unwrapped, *options: Options) -> None:
    found.problems.extend(each.doubt for each in options if each.doubt)


def parallel(words: Sequence[Word]) -> Unwrapped:
    """GNU parallel: a line for the shell in which placeholders are replaced by the inputs."""
    found = Unwrapped()
    options = read_options(words, PARALLEL)
    _note_doubt(found, options)
    if options.has(PARALLEL.ends):
        return found
    rest = words[options.rest :]
    end = next((index for index, word in enumerate(rest) if word.value in _INPUT_SOURCES), len(rest))
    line = joined(rest[:end])
    if not line:
        found.problems.append("the inputs of parallel are commands")
        return found
    replaced = _REPLACEMENT.sub(f'"{UNKNOWN_WORDS}"', line)
    code = f"{replaced} {UNKNOWN_WORDS}"
    found.inner.append(Code(code, "sh", moved=options.has(("-S", "--sshlogin", "--workdir"))))
    return found


def su(words: Sequence[Word], *, by_user_option: bool = False) -> Unwrapped:
    """su and runuser: options and operands in any order; the code of `-c` goes to a login shell."""
    found = Unwrapped()
    given: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    index = 0
    while index < len(words):
        options = read_options(words[index:], SU)
        _note_doubt(found, options)
        given += options.given
        index += options.rest
        if index < len(words):
            operands.append(words[index])
            index += 1
        if by_user_option and any(name in ("-u", "--user") for name, _ in given):
            command = tuple(operands + list(words[index:]))
            if command:
                found.inner.append(Inner(command))
            return found
    if any(name in SU.ends for name, _ in given):
        return found
    login = any(name in ("-l", "--login") for name, _ in given) or any(word.value == "-" for word in operands)
    code = [word for name, word in given if name in SU.code and word]
    for word in code:
        found.add_code(word, Code(word.value or "", "sh", moved=login))
    if not code:
        found.problems.append("a shell reads its commands from standard input")
    return found


def runuser(words: Sequence[Word]) -> Unwrapped:
    return su(words, by_user_option=True)


def container(words: Sequence[Word]) -> Unwrapped:
    """docker and podman: `exec`, `run` and their spellings under `container` and `compose`."""
    found = Unwrapped()
    options = read_options(words, CONTAINER_GLOBAL)
    rest = words[options.rest :]
    doubts = [options]
    if rest and rest[0].value == "container":
        rest = rest[1:]
    elif rest and rest[0].value == "compose":
        inner = read_options(rest[1:], COMPOSE)
        doubts.append(inner)
        rest = rest[1 + inner.rest :]
    return _container_command(rest, doubts, found)


def compose(words: Sequence[Word]) -> Unwrapped:
    options = read_options(words, COMPOSE)
    return _container_command(words[options.rest :], [options], Unwrapped())


def _container_command(words: Sequence[Word], doubts: list[Options], found: Unwrapped) -> Unwrapped:
    subcommand = words[0].value if words else ""
    if subcommand is None:
        found.problems.append("the subcommand is known only at run time")
    if subcommand not in ("exec", "run"):
        _note_doubt(found, *doubts)
        return found
    wrapper: Wrapper = CONTAINER_RUN if subcommand == "run" else CONTAINER_EXEC
    found = unwrap_by_table(words[1:], wrapper)
    _note_doubt(found, *doubts)
    entry = read_options(words[1:], wrapper).operand(("--entrypoint",))
    if entry is not None:
        arguments = [inner.argv for inner in found.inner if isinstance(inner, Inner)]
        found.inner = [Inner((entry, *(arguments[0] if arguments else ())), moved=True)]
    return found
