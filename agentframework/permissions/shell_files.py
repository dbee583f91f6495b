"""The files a shell line names, and file rules against them.

Redirections are certain. Which operands a program opens is known for common programs only; for any other program
the operating system's sandbox is the fence, not this. What may name a file and cannot be resolved is MAYBE.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from glob import iglob
from itertools import chain, islice
from typing import TypeVar

from agentframework.permissions.paths import PathPattern
from agentframework.permissions.patterns import Match
from agentframework.permissions.reads import LOOKING, mentioned_by, read_by
from agentframework.permissions.rules import PathScope, Rule
from agentframework.permissions.shell.model import CommandLine, Redirection, Word
from agentframework.permissions.subject import SEARCH_NAMES, Family, Surroundings
from agentframework.permissions.writes import with_starting_points, written_by

_T = TypeVar("_T")
_MOST_FILES = 500
_MOST_LOOKED_AT = 20_000
_MOST_GLOBS = 10
_MOST_MATCHES = 200
_MOST_LEVELS = 2
_MOST_BELOW = 3_000


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
        for named in (one for one in read_by(command) if not one.word.stream):
            yield FileUse(Family.READ, named.word, command.directories, named.whole)


def edits_of(line: CommandLine) -> Iterator[FileUse]:
    """Every file that ``line`` is seen to write, remove or make reachable by another name."""
    for redirection in line.redirections:
        if redirection.writes and not redirection.harmless:
            yield FileUse(Family.EDIT, _target(redirection), redirection.directories)
    for number in range(len(line.commands)):
        command = with_starting_points(line.commands, number)
        for written in (one for one in written_by(command) if not one.word.stream):
            yield FileUse(Family.EDIT, written.word, command.directories, written.whole)


def _target(redirection: Redirection) -> Word:
    return redirection.target or Word(None, redirection.text)


@dataclass(frozen=True, slots=True)
class SeenFiles:
    """The files of a line, by what is done with them.

    ``places`` are absolute paths in every form, ``folders`` those that are used with everything below them,
    ``globs`` absolute paths with shell wildcards. ``mentioned`` are places that a program is told of, which may do
    anything with them. ``unknown`` says for what some file is not known.
    ``settled``: what lies in the folders now is what the line will find there.
    """

    places: Mapping[Family, set[str]]
    folders: Mapping[Family, set[str]]
    globs: Mapping[Family, set[str]]
    mentioned: set[str]
    unknown: set[Family]
    settled: bool


def files_of(line: CommandLine, around: Surroundings) -> SeenFiles:
    """Look up every file that ``line`` is seen to use."""
    settled = around.settled and all(command.name in LOOKING for command in line.commands)
    settled = settled and all(one.harmless or not one.writes for one in line.redirections)
    seen = SeenFiles(_by_family(), _by_family(), _by_family(), set(), set(), settled)
    if not line.complete:
        seen.unknown.update((Family.READ, Family.EDIT))
    globs = 0
    used = chain(reads_of(line), edits_of(line))
    uses = _distinct(islice(used, _MOST_LOOKED_AT))
    for use in islice(uses, _MOST_FILES):
        path = known_path(use.word, around)
        globs += use.word.glob
        if path is None or globs > _MOST_GLOBS:
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
    mentioned = (
        (text, directory)
        for command in line.commands
        for text in mentioned_by(command)
        for directory in command.directories or ("/",)
    )
    mentions = _distinct(islice(mentioned, _MOST_LOOKED_AT))
    for text, directory in islice(mentions, _MOST_FILES):
        if os.path.lexists(os.path.dirname(os.path.join(directory, text))):
            forms = around.forms_in_shell(text, directory)
            seen.mentioned.update((*forms.spellings, forms.real))
    if any(next(rest, None) is not None for rest in (uses, used, mentions, mentioned)):
        seen.unknown.update((Family.READ, Family.EDIT))
    return seen


def _distinct(items: Iterable[_T]) -> Iterator[_T]:
    found: set[_T] = set()
    for item in items:
        if item not in found:
            found.add(item)
            yield item


def _by_family() -> Mapping[Family, set[str]]:
    return {Family.READ: set(), Family.EDIT: set()}


def known_path(word: Word, around: Surroundings) -> str | None:
    """The path a word names, with a leading ``~/`` replaced; None when it is not known.

    It may hold wildcards, unless the line changes what these stand for.
    """
    value = word.value
    if value is None or (word.glob and not around.plain_wildcards):
        return None
    if not word.tilde:
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
    if any(pattern.matches_any(seen.mentioned) for pattern in scope.patterns):
        return Match.MAYBE
    # Where nothing comes to be in between, the files that a wildcard finds now are the ones that it stands for.
    globs = () if seen.settled and family is Family.READ else seen.globs[family]
    uncertain = family in seen.unknown or any(
        any(map(pattern.could_match, globs)) or _reaches_into(pattern, seen, family) for pattern in scope.patterns
    )
    return Match.MAYBE if uncertain else Match.NO


def _reaches_into(pattern: PathPattern, seen: SeenFiles, family: Family) -> bool:
    """True if the pattern may fit something below a folder that is used as a whole."""
    for folder in seen.folders[family]:
        if pattern.reaches_below(folder):
            below = _below(folder) if seen.settled and family is Family.READ else None
            if below is None or pattern.matches_any(below):
                return True
    return False


def _below(folder: str) -> set[str] | None:
    """Every place below a folder; None if there are too many, or links that may lead elsewhere."""
    found: set[str] = set()
    waiting = [folder]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    found.add(entry.path)
                    if entry.is_symlink() or len(found) > _MOST_BELOW:
                        return None
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            return None
    return found
