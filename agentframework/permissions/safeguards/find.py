"""Looking for a reason to ask in every mode: over one call, the certain ones first."""

import os
from collections.abc import Iterable, Iterator, Sequence

from agentframework.permissions.paths import PathForms
from agentframework.permissions.safeguards.alarm import Alarm, unclear
from agentframework.permissions.safeguards.commands import command_alarm, is_recursive, narrows
from agentframework.permissions.safeguards.downloads import download_alarm
from agentframework.permissions.safeguards.edited import Edited, edited_files
from agentframework.permissions.safeguards.protected import protection
from agentframework.permissions.shell.model import SimpleCommand
from agentframework.permissions.shell_files import known_path
from agentframework.permissions.subject import Family, Subject, Surroundings
from agentframework.permissions.through import Through
from agentframework.permissions.writes import finder_of, with_starting_points, written_by
from agentframework.sandbox import is_within
from agentframework.tools import RiskClass

_DELETES = "it deletes a home or root folder, or the whole working directory"
_MOST_NAMED = 3


def find_alarm(subject: Subject, through: Through | None, own: Iterable[str] = ()) -> Alarm | None:
    """Why the call is asked about in every mode, if it is.

    ``through`` is the line of a shell call with everything it runs; ``own`` are further protected places.
    """
    if through is not None:
        return _strongest(_of_line(through, subject.around, tuple(own)))
    if subject.family is Family.EDIT and subject.risk is not RiskClass.INSPECT:
        return _of_places((Edited(forms, False) for forms in subject.paths), subject.around, tuple(own))
    return None


def _strongest(alarms: Iterator[Alarm]) -> Alarm | None:
    doubt: Alarm | None = None
    for alarm in alarms:
        if alarm.certain:
            return alarm
        doubt = doubt or alarm
    return doubt


def _of_line(through: Through, around: Surroundings, own: tuple[str, ...]) -> Iterator[Alarm]:
    line = through.line
    for commands in (line.commands, through.doubtful):
        for number, command in enumerate(commands):
            found = command_alarm(command)
            if found is not None:
                yield found
            if is_recursive(command):
                yield from _deletion(commands, number, around)
    found = download_alarm(line)
    if found is not None:
        yield found
    edited = edited_files(line, around)
    found = _of_places(edited.places, around, own)
    if found is not None:
        yield found
    if edited.unknown:
        yield unclear(f"which file it changes: {', '.join(edited.unknown[:_MOST_NAMED])}")
    if not line.complete:
        yield unclear("; ".join(line.unresolved[:_MOST_NAMED]))


def _of_places(places: Iterable[Edited], around: Surroundings, own: tuple[str, ...]) -> Alarm | None:
    roots = around.sandbox.roots
    beyond: list[str] = []
    for place in places:
        what = protection(place.forms, roots, own, place.whole)
        if what is not None:
            return Alarm(f"it changes {what}", place.forms.real)
        if not place.forms.inside and place.forms.real not in beyond:
            beyond.append(place.forms.real)
    if beyond:
        return Alarm("it changes a file outside the working directory", ", ".join(beyond[:_MOST_NAMED]))
    return None


def _deletion(commands: Sequence[SimpleCommand], number: int, around: Surroundings) -> Iterator[Alarm]:
    """Recursive deletion of a root, a home, a working directory, or what holds one."""
    command = commands[number]
    finding = finder_of(commands, number) or command
    if finding.name == "find" and narrows(finding.arguments):
        return
    command = with_starting_points(commands, number)
    for written in written_by(command):
        path = known_path(written.word, around)
        if path is None or not (command.directories or os.path.isabs(path)):
            yield Alarm("it deletes folders that are known only when it runs", written.word.text)
            continue
        emptied = _emptied_folder(path) if written.word.glob else path
        if emptied is None:
            continue
        if any(
            _is_vital(around.forms_in_shell(emptied, directory), around) for directory in command.directories or ("/",)
        ):
            yield Alarm(_DELETES, written.word.text)


def _emptied_folder(path: str) -> str | None:
    """The folder that a wildcard for everything in it empties; None for any other wildcard."""
    folder, _, last = path.rstrip("/").rpartition("/")
    if last not in ("*", "**", ".*", "{*,.*}") or any(mark in folder for mark in "*?["):
        return None
    return folder or ("/" if path.startswith("/") else ".")


def _is_vital(forms: PathForms, around: Surroundings) -> bool:
    kept = [*around.sandbox.roots, *([] if around.home is None else [around.home, os.path.realpath(around.home)])]
    return any(is_within(keep, place) for keep in kept for place in (*forms.spellings, forms.real))
