"""The files a shell line changes, looked up: where they really are, and which cannot be told."""

import os
import re
from dataclasses import dataclass, field

from agentframework.permissions.paths import PathForms
from agentframework.permissions.safeguards.protected import is_known_name
from agentframework.permissions.shell.model import CommandLine
from agentframework.permissions.shell_files import FileUse, edits_of, known_path
from agentframework.permissions.subject import Surroundings
from agentframework.permissions.wildcards import expand, leads_elsewhere

_STREAM = re.compile(r"/dev/(null|zero|full|tty|stdin|stdout|stderr|fd/\d+)")
_MOST_FILES = 500


@dataclass(frozen=True, slots=True)
class Edited:
    """One place that is changed; ``whole``: with everything below it."""

    forms: PathForms
    whole: bool


@dataclass(slots=True)
class EditedFiles:
    """``unknown`` are the words, as spelled, whose place is known only when the line runs."""

    places: list[Edited] = field(default_factory=list[Edited])
    unknown: list[str] = field(default_factory=list[str])


def edited_files(line: CommandLine, around: Surroundings) -> EditedFiles:
    """Look up every file that ``line`` is seen to change."""
    found = EditedFiles()
    for number, use in enumerate(dict.fromkeys(edits_of(line))):
        if use.word.exact and _STREAM.fullmatch(use.word.value or ""):
            continue
        path = known_path(use.word, around)
        if path is None or number >= _MOST_FILES or not (use.directories or os.path.isabs(path)):
            found.unknown.append(use.word.text)
            continue
        for directory in use.directories or ("/",):
            if use.word.glob:
                _add_matches(use, path, directory, around, found)
            else:
                found.places.append(Edited(around.forms_in_shell(path, directory), use.whole))
    return found


def _add_matches(use: FileUse, path: str, directory: str, around: Surroundings, found: EditedFiles) -> None:
    """The folder that a wildcard looks in, and of what it finds there the links and protected names."""
    expansion = expand(path, directory)
    rest = expansion.rest
    everything = use.whole and len(rest) == 1 and rest[0] in ("*", "**")
    found.places.append(Edited(around.forms_in_shell(expansion.folder, directory), everything))
    if expansion.matches is None:
        found.unknown.append(use.word.text)
        return
    for match in expansion.matches:
        if is_known_name(os.path.basename(match)) or leads_elsewhere(match, expansion, directory):
            found.places.append(Edited(around.forms_in_shell(match, directory), use.whole))
