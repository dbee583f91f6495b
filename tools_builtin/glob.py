"""The Glob tool: finds files by name, newest first."""

import heapq
import os
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from agentframework._base.abort import AbortedError
from agentframework._base.threads import in_daemon_thread
from agentframework.sandbox import OutsideWorkspaceError, ResolvedPath
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult

from ._paths import RefusalError, answer, kind_of, locate, one_line
from ._patterns import PathPattern, expand_braces, is_literal
from ._results import Listing, unread
from ._walk import SKIPPED_DIRECTORIES, Unreadable, walk

MAX_FILES = 1_000

_DESCRIPTION = (
    "Find files by name. In the pattern * and ? match within a name, ** any number of directories, [abc] one "
    "character, {a,b} alternatives: **/*.py, src/{api,web}/**/*.ts. It is matched against the path below the "
    "searched directory. Hidden files are found too; nothing is looked for in directories named "
    f"{' or '.join(SKIPPED_DIRECTORIES)}, nor behind links to directories. At most {MAX_FILES} paths are listed, "
    "those modified last first."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "minLength": 1, "description": "What the paths of the files must look like."},
        "path": {"type": "string", "description": "Where to look; the working directory if left out."},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


def glob_tool() -> Tool:
    """The tool."""
    return Tool("Glob", _DESCRIPTION, _SCHEMA, _run, RiskClass.INSPECT, "pattern")


async def _run(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
    left = threading.Event()

    def check() -> None:
        context.abort.check()
        if left.is_set():
            raise AbortedError("nobody waits for the result")

    try:
        return await in_daemon_thread(partial(_glob, arguments, context, check))
    except (RefusalError, OutsideWorkspaceError) as error:
        return answer(error)
    finally:
        left.set()


def _glob(arguments: dict[str, Any], context: ToolContext, check: Callable[[], None]) -> ToolResult:
    pattern = arguments["pattern"]
    places = list(_places(pattern, arguments.get("path") or ".", context).values())
    unreadable = Unreadable()
    found = _Found(places)
    newest = heapq.nsmallest(MAX_FILES, found.all(check, unreadable))
    listing = Listing(context.sandbox, MAX_FILES)
    listing.fill((found.path(place, below) for _, below, place in newest), one_line)
    notes: list[str] = []
    partial_list = listing.shown < found.count - listing.withheld
    if found.count == 0:
        notes.append(f"no files match {one_line(pattern)[:300]}")
    elif partial_list:
        notes.append(f"{listing.shown} of {found.count} files, newest first; narrow the pattern to see others")
    if unreadable.count:
        notes.append(unread(unreadable.names, unreadable.count))
    return ToolResult(listing.text(notes), truncated=partial_list)


_Place = tuple[ResolvedPath, list[PathPattern]]


class _Found:
    """Counts what the walks find, and leaves out what more than one of them finds."""

    def __init__(self, places: list[_Place]) -> None:
        self.count = 0
        self._places = places

    def all(self, check: Callable[[], None], unreadable: Unreadable) -> Iterator[tuple[int, str, int]]:
        """Age, path below its place, and number of the place; sorts newest first."""
        seen: set[str] = set()
        for number, (place, patterns) in enumerate(self._places):
            for modified, below in walk(place.path, patterns, check, unreadable):
                if len(self._places) > 1:
                    path = os.path.join(place.path, below)
                    if path in seen:
                        continue
                    seen.add(path)
                self.count += 1
                yield -modified, below, number

    def path(self, number: int, below: str) -> tuple[str, str]:
        """Absolute path, and how it is shown."""
        place, _ = self._places[number]
        return os.path.join(place.path, below), below if place.shown == "." else os.path.join(place.shown, below)


def _places(pattern: str, path: str, context: ToolContext) -> dict[str, _Place]:
    """Where to walk, and for which patterns."""
    if "\0" in pattern:
        raise RefusalError("the pattern holds a NUL character, which no file name does")
    start = locate(context, path)
    places: dict[str, _Place] = {}
    for alternative in expand_braces(pattern):
        place, segments = _split(alternative, start, context)
        _, patterns = places.setdefault(place.path, (place, []))
        patterns.append(PathPattern(segments))
    for place, _ in places.values():
        try:
            kind = kind_of(os.stat(place.path))
        except OSError:
            raise RefusalError(f"{one_line(place.shown)} does not exist") from None
        if kind != "directory":
            raise RefusalError(f"{one_line(place.shown)} is a {kind}, not a directory")
    return places


def _split(pattern: str, start: ResolvedPath, context: ToolContext) -> tuple[ResolvedPath, list[str]]:
    """The directory that an absolute pattern, or one with ``..``, begins with, and the rest of it."""
    segments = [segment for segment in pattern.split("/") if segment not in ("", ".")]
    if not segments:
        raise RefusalError(f"the pattern {one_line(pattern)} names no file")
    if not pattern.startswith("/") and ".." not in segments:
        return start, segments
    literal = 0
    while literal < len(segments) - 1 and is_literal(segments[literal]):
        literal += 1
    rest = segments[literal:]
    if ".." in rest:
        raise RefusalError("'..' may only be at the beginning of a pattern, before any wildcard")
    leading = "/".join(segments[:literal])
    base = f"/{leading}" if pattern.startswith("/") else os.path.join(start.path, leading)
    return locate(context, base), rest
