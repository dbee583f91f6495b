"""The files a shell line names, and file rules against them.

Redirections are certain. Which operands a program opens is known for common programs only; for any other program
the operating system's sandbox is the fence, not this. What may name a file and cannot be resolved is MAYBE.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import iglob
from itertools import islice

from agentframework.permissions.git_words import split_git
from agentframework.permissions.patterns import Match
from agentframework.permissions.rules import PathScope, Rule
from agentframework.permissions.scripts import files_of_awk, files_of_sed
from agentframework.permissions.shell.model import CommandLine, Redirection, SimpleCommand, Word
from agentframework.permissions.subject import SEARCH_NAMES, Family, Surroundings
from agentframework.permissions.writes import with_starting_points, written_by


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SEARCHERS = frozenset({"ack", "ag", "egrep", "fgrep", "grep", "rg", "zgrep"})
_SCRIPTED = _SEARCHERS | {"awk", "gawk", "jq", "mawk", "sed", "yq"}
_COPIERS = frozenset({"cp", "install", "ln", "mv", "rsync", "scp"})
_READERS = (
    _SCRIPTED
    | _COPIERS
    | _words(
        """. 7z base32 base64 bash bat batcat bunzip2 bzcat bzip2 cat cksum cmp colordiff column comm csplit curl
    cut dash dd diff diff3 ed emacs expand file fmt fold gpg git gunzip gzip head hd hexdump iconv join ksh less look ls
    md5sum more nano nl nvim node od openssl paste perl php pr python python3 rev ruby sh sha1sum sha224sum
    sha256sum sha384sum sha512sum shuf sort source split strings sum tac tail tar tee tree uniq vi view vim wc wget
    xargs xxd xz xzcat zcat zip zsh zstd zstdcat"""
    )
)
_ALWAYS_RECURSIVE = frozenset({"ack", "ag", "rg", "rsync", "tar", "zip"})
_SOMETIMES_RECURSIVE = {"cp": "aRr", "diff": "r", "egrep": "Rr", "fgrep": "Rr", "grep": "Rr", "scp": "r"}
_FETCHERS = frozenset({"curl", "git", "wget"})
_MOST_FILES = 500
_MOST_GLOBS = 10
_MOST_MATCHES = 200
_MOST_LEVELS = 2


@dataclass(frozen=True, slots=True)
class FileUse:
    """A word that names a file for reading or writing. ``whole``: with everything below it."""

    family: Family
    word: Word
    directories: tuple[str, ...]
    whole: bool = False


def reads_of(line: CommandLine) -> Iterator[FileUse]:
    """Every file that ``line`` is seen to read."""
    for redirection in line.redirections:
        if redirection.reads and not redirection.harmless:
            yield FileUse(Family.READ, _target(redirection), redirection.directories)
    for command in line.commands:
        yield from _read(command)


def edits_of(line: CommandLine) -> Iterator[FileUse]:
    """Every file that ``line`` is seen to write, remove or make reachable by another name."""
    for redirection in line.redirections:
        if redirection.writes and not redirection.harmless:
            yield FileUse(Family.EDIT, _target(redirection), redirection.directories)
    for number in range(len(line.commands)):
        command = with_starting_points(line.commands, number)
        for written in written_by(command):
            yield FileUse(Family.EDIT, written.word, command.directories, written.whole)


def _target(redirection: Redirection) -> Word:
    return redirection.target or Word(None, redirection.text)


def _read(command: SimpleCommand) -> Iterator[FileUse]:
    name = command.name
    if name is None or name not in _READERS:
        return
    for word in _named_in_script(name, command.arguments):
        yield FileUse(Family.READ, word, command.directories)
    if name == "git" and _subcommand(command) == "grep":
        yield FileUse(Family.READ, Word(".", "."), command.directories, True)
    words = _operands(name, command.arguments)
    whole = _recursive(name, command.arguments)
    named = False
    for word in words:
        if name in _FETCHERS and "://" in word.text and "file:" not in word.text:
            continue
        for candidate in _candidates(word):
            named = named or not candidate.text.startswith("-")
            yield FileUse(Family.READ, candidate, command.directories, whole)
    if whole and not named and name in _SEARCHERS:
        yield FileUse(Family.READ, Word(".", "."), command.directories, whole)


def _named_in_script(name: str, words: Sequence[Word]) -> Iterator[Word]:
    if name == "sed":
        yield from files_of_sed(words, "rR")
    elif name in ("awk", "gawk", "mawk"):
        yield from files_of_awk(words, "<")


def _subcommand(command: SimpleCommand) -> str | None:
    found = split_git(command.arguments)[1]
    return None if found is None else found.value


def _operands(name: str, arguments: Sequence[Word]) -> Sequence[Word]:
    """The arguments without the script or pattern of a program that takes one first."""
    if name not in _SCRIPTED or any(_gives_script(word) for word in arguments):
        return arguments
    for number, word in enumerate(arguments):
        if word.value is None or not word.value.startswith("-"):
            return (*arguments[:number], *arguments[number + 1 :])
    return arguments


def _gives_script(word: Word) -> bool:
    value = word.value
    if value is None:
        return word.splits
    if value.startswith("--"):
        return value.partition("=")[0] in ("--expression", "--file", "--files", "--from-file", "--regexp")
    return value.startswith("-") and any(letter in value for letter in "ef")


def _recursive(name: str, arguments: Sequence[Word]) -> bool:
    if name in _ALWAYS_RECURSIVE:
        return True
    letters = _SOMETIMES_RECURSIVE.get(name)
    if letters is None:
        return False
    for word in arguments:
        value = word.value or ""
        if value.startswith(("--recursive", "--archive", "--dereference-recursive")):
            return True
        if value.startswith("-") and not value.startswith("--") and any(letter in value for letter in letters):
            return True
    return False


def _candidates(word: Word) -> Iterator[Word]:
    """``word`` and the parts of it that may be a path: ``--file=x``, ``-fx``, ``if=x``, ``@x``, ``HEAD:x``."""
    if word.value is None:
        yield word
        return
    values = {word.value}
    if word.value.startswith("-") and not word.value.startswith("--"):
        values.add(word.value[2:])
    for separator in "=:@":
        values.update(value.partition(separator)[2] for value in tuple(values))
    for value in values:
        if value:
            yield Word(value, value, word.glob, word.tilde and value == word.value)


@dataclass(frozen=True, slots=True)
class SeenFiles:
    """The files of a line, by what is done with them.

    ``places`` are absolute paths in every form, ``folders`` those that are used with everything below them,
    ``globs`` absolute paths with shell wildcards. ``unknown`` says for what some file is not known.
    """

    places: Mapping[Family, set[str]]
    folders: Mapping[Family, set[str]]
    globs: Mapping[Family, set[str]]
    unknown: set[Family]


def files_of(line: CommandLine, around: Surroundings) -> SeenFiles:
    """Look up every file that ``line`` is seen to use."""
    seen = SeenFiles(_by_family(), _by_family(), _by_family(), set())
    if not line.complete:
        seen.unknown.update((Family.READ, Family.EDIT))
    globs = 0
    for number, use in enumerate(dict.fromkeys((*reads_of(line), *edits_of(line)))):
        path = known_path(use.word, around)
        globs += use.word.glob
        if path is None or number > _MOST_FILES or globs > _MOST_GLOBS:
            seen.unknown.add(use.family)
            continue
        if not use.directories and not os.path.isabs(path):
            # From an unknown directory only what fits at any depth is seen for certain.
            seen.unknown.add(use.family)
        for directory in use.directories or (around.cwd,):
            if use.word.glob:
                _add_glob(seen, use.family, path, directory, around)
            else:
                _add_place(seen, use, path, directory, around)
    return seen


def _by_family() -> Mapping[Family, set[str]]:
    return {Family.READ: set(), Family.EDIT: set()}


def known_path(word: Word, around: Surroundings) -> str | None:
    """The path a word names, with a leading ``~/`` replaced; None when it is not known."""
    value = word.value
    if value is None or not word.tilde:
        return value
    if around.home is None or not (value == "~" or value.startswith("~/")):
        return None
    return around.home + value[1:]


def _add_place(seen: SeenFiles, use: FileUse, path: str, directory: str, around: Surroundings) -> None:
    forms = around.forms_in_shell(path, directory)
    places = {*forms.spellings, forms.real}
    seen.places[use.family].update(places)
    if use.whole and os.path.isdir(forms.real):
        seen.folders[use.family].update(places)


def _add_glob(seen: SeenFiles, family: Family, path: str, directory: str, around: Surroundings) -> None:
    """The files that are there now, and the pattern for those that could come to be."""
    seen.globs[family].add(around.forms_in_shell(path, directory).spellings[0])
    if sum(any(mark in part for mark in "*?[") for part in path.split("/")) > _MOST_LEVELS:
        seen.unknown.add(family)  # looking through that many folders would take too long
        return
    found = list(islice(iglob(path, root_dir=directory), _MOST_MATCHES + 1))
    if len(found) > _MOST_MATCHES:
        seen.unknown.add(family)
    for match in found[:_MOST_MATCHES]:
        forms = around.forms_in_shell(match, directory)
        seen.places[family].update((*forms.spellings, forms.real))


def restricts_files(rule: Rule, seen: SeenFiles) -> Match:
    """Whether a deny or ask rule for files applies to a shell line that uses the files ``seen``."""
    scope, family = rule.scope, rule.family
    if not isinstance(scope, PathScope) or rule.tool in SEARCH_NAMES:
        return Match.NO
    if any(pattern.matches_any(seen.places[family]) for pattern in scope.patterns):
        return Match.YES
    uncertain = family in seen.unknown or any(
        any(map(pattern.could_match, seen.globs[family])) or any(map(pattern.reaches_below, seen.folders[family]))
        for pattern in scope.patterns
    )
    return Match.MAYBE if uncertain else Match.NO
