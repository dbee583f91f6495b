"""The Grep tool: searches file contents with ripgrep."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from agentframework._base.abort import run_abortable
from agentframework._base.threads import in_daemon_thread
from agentframework.sandbox import OutsideWorkspaceError, ResolvedPath
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult

from ._atomic import TEMPORARY_SUFFIX
from ._lines import counted
from ._matches import MAX_PATHS, MAX_ROW_CHARACTERS, MAX_ROWS, CountReader, PathReader, Row, RowReader
from ._paths import RefusalError, answer, kind_of, locate, one_line, reason
from ._patterns import expand_braces
from ._results import Listing, unread
from ._ripgrep import Outcome, search
from ._walk import SKIPPED_DIRECTORIES

MAX_CONTEXT = 100
_EVERYTHING = "**"  # as a glob it outweighs every ignore file

_DESCRIPTION = (
    "Search file contents for a regular expression (ripgrep syntax; no look-around, no back-references). "
    "output_mode files_with_matches lists paths, those modified last first; content shows path:line:text of each "
    "match and path:line-text of the lines around it; count shows path:number of matching lines. Binary files, "
    f"links, directories named {' or '.join(SKIPPED_DIRECTORIES)} and what .gitignore excludes are not searched; "
    f'the glob "{_EVERYTHING}" includes the last. A file named by path always is searched. '
    f"Lines over {MAX_ROW_CHARACTERS} characters are cut to where the match is."
)


def _context_lines(where: str) -> dict[str, Any]:
    text = f"Lines to show {where} each match (content only)."
    return {"type": "integer", "minimum": 0, "maximum": MAX_CONTEXT, "description": text}


_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "description": "The regular expression."},
        "path": {"type": "string", "description": "File or directory to search; the working directory if left out."},
        "glob": {
            "type": "string",
            "description": "Search only files like this: *.ts or src/**/*.{js,ts}. With ! in front: all but these.",
        },
        "output_mode": {
            "type": "string",
            "enum": ["files_with_matches", "content", "count"],
            "description": "What to show; files_with_matches if left out.",
        },
        "-A": _context_lines("after"),
        "-B": _context_lines("before"),
        "-C": _context_lines("before and after"),
        "-i": {"type": "boolean", "description": "Ignore case."},
        "-n": {"type": "boolean", "description": "Show line numbers (content only); true if left out."},
        "head_limit": {
            "type": "integer",
            "minimum": 0,
            "description": "Show at most so many lines of output; 0, or left out: as many as fit.",
        },
        "multiline": {"type": "boolean", "description": "Let a match go over several lines; . matches newlines too."},
        "type": {"type": "string", "description": "Search only files of this type, for example py, rust, js."},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


def grep_tool() -> Tool:
    """The tool. Without the ripgrep package a call fails and says how to install it."""
    return Tool("Grep", _DESCRIPTION, _SCHEMA, _run, RiskClass.INSPECT, "pattern")


async def _run(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
    try:
        return await run_abortable(_grep(arguments, context), context.abort)
    except (RefusalError, OutsideWorkspaceError) as error:
        return answer(error)


@dataclass(frozen=True, slots=True)
class _Where:
    """The directory that ripgrep runs in, and what of it is searched."""

    directory: str
    shown: str
    target: str

    def absolute(self, path: str) -> str:
        return os.path.join(self.directory, path)

    def name(self, path: str) -> str:
        return one_line(path if self.shown == "." else os.path.join(self.shown, path))


async def _grep(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
    place = locate(context, arguments.get("path") or ".")
    where = _where(place)
    mode = arguments.get("output_mode", "files_with_matches")
    reader, outcome = await _search(arguments, mode, where)
    notes: list[str] = []
    if _is_empty(reader) and where.target == "./" and not arguments.get("glob") and _is_in_git(where.directory):
        notes.append(f'files that .gitignore excludes were not searched; glob "{_EVERYTHING}" includes them')
    if not outcome.complete:
        notes.append(f"the search was stopped at {_capacity(reader)} results; there are more")
    if outcome.unreadable:
        notes.append(unread(outcome.unreadable, len(outcome.unreadable)))
    limit = arguments.get("head_limit") or None
    listing = Listing(context.sandbox, limit, partial=not outcome.complete)
    return await in_daemon_thread(partial(_present, reader, where, arguments, listing, notes))


def _where(place: ResolvedPath) -> _Where:
    try:
        kind = kind_of(os.stat(place.path, follow_symlinks=False))
    except OSError as error:
        raise RefusalError(f"{one_line(place.shown)} cannot be searched: {reason(error)}") from None
    if kind == "directory":
        return _Where(place.path, place.shown, "./")
    if kind != "file":
        raise RefusalError(f"{one_line(place.shown)} is a {kind}, not a file or directory; it was not opened")
    directory, name = os.path.split(place.path)
    return _Where(directory, os.path.dirname(place.shown) or ".", f"./{name}")


_Reader = PathReader | CountReader | RowReader


async def _search(arguments: dict[str, Any], mode: str, where: _Where) -> tuple[_Reader, Outcome]:
    if mode == "content":
        reader: _Reader = RowReader()
    else:
        reader = CountReader() if mode == "count" else PathReader()
    options = [*_options(arguments, mode), "--", where.target]
    try:
        outcome = await search(options, where.directory, reader.take)
    except OSError as error:
        raise RefusalError(f"{one_line(where.shown)} cannot be searched: {reason(error)}") from None
    if outcome.failure is not None and _is_empty(reader):
        raise RefusalError(f"the search failed: {outcome.failure}")
    return reader, outcome


def _options(arguments: dict[str, Any], mode: str) -> list[str]:
    options = ["--no-config", "--color=never", "--hidden"]
    # Only ignore files of the project count, not those of whoever runs this process.
    options += ["--no-ignore-global", "--no-ignore-dot", "--no-ignore-messages"]
    options += {
        "content": ["--json"],
        "count": ["--count", "--with-filename", "--null"],
        "files_with_matches": ["--files-with-matches", "--null"],
    }[mode]
    if mode == "content":
        options += [
            f"--{name}={int(arguments[key])}"
            for key, name in (("-C", "context"), ("-A", "after-context"), ("-B", "before-context"))
            if key in arguments
        ]
    if arguments.get("-i"):
        options.append("--ignore-case")
    if arguments.get("multiline"):
        options += ["--multiline", "--multiline-dotall"]
    if arguments.get("type"):
        options.append(f"--type={arguments['type']}")
    # The last glob that fits decides, so what is never searched comes last.
    globs = expand_braces(arguments["glob"]) if arguments.get("glob") else []
    globs += [f"!{name}" for name in SKIPPED_DIRECTORIES] + [f"!*{TEMPORARY_SUFFIX}"]
    options += [f"--glob={glob}" for glob in globs]
    options.append(f"--regexp={arguments['pattern']}")
    return options


def _is_in_git(directory: str) -> bool:
    """Only in a Git working tree ripgrep heeds .gitignore."""
    while not os.path.lexists(os.path.join(directory, ".git")):
        above = os.path.dirname(directory)
        if above == directory:
            return False
        directory = above
    return True


def _is_empty(reader: _Reader) -> bool:
    if isinstance(reader, RowReader):
        return not reader.rows and not reader.oversized
    return not (reader.paths if isinstance(reader, PathReader) else reader.counts)


def _capacity(reader: _Reader) -> int:
    return MAX_ROWS if isinstance(reader, RowReader) else MAX_PATHS


def _present(
    reader: _Reader, where: _Where, arguments: dict[str, Any], listing: Listing, notes: list[str]
) -> ToolResult:
    if _is_empty(reader):
        notes.insert(0, f"no matches for {one_line(arguments['pattern'])[:300]}")
    elif isinstance(reader, PathReader):
        _files(reader.paths, where, listing)
        _note_rest(listing, len(reader.paths), "files", notes)
    elif isinstance(reader, CountReader):
        _counts(reader.counts, where, listing)
        _note_rest(listing, len(reader.counts), "files", notes)
        lines = sum(count for _, count in reader.counts)
        notes.insert(0, f"{counted(lines, 'matching line')} in {counted(len(reader.counts), 'file')}")
    else:
        withheld = _rows(reader.rows, where, arguments.get("-n", True), listing)
        _note_rest(listing, len(reader.rows) - withheld, "lines", notes)
        if reader.oversized:
            notes.append(f"{counted(reader.oversized, 'matching line')} left out as too long")
    return ToolResult(listing.text(notes), truncated=listing.partial)


def _files(paths: list[str], where: _Where, listing: Listing) -> None:
    def age(path: str) -> tuple[int, str]:
        try:
            return -os.stat(where.absolute(path), follow_symlinks=False).st_mtime_ns, path
        except OSError:
            return 0, path

    listing.fill(((where.absolute(path), path) for path in sorted(paths, key=age)), where.name)


def _counts(counts: list[tuple[str, int]], where: _Where, listing: Listing) -> None:
    for path, count in sorted(counts):
        if listing.allowed(where.absolute(path)) and not listing.add(f"{where.name(path)}:{count}"):
            return


def _rows(rows: list[Row], where: _Where, numbers: bool, listing: Listing) -> int:
    """How many rows are withheld; those after the last one shown are not looked at."""
    withheld = 0
    context = not all(row.match for row in rows)
    for row, gap in _with_gaps(sorted(rows, key=lambda row: (row.path, row.number))):
        if not listing.allowed(where.absolute(row.path)):
            withheld += 1
            continue
        mark = ":" if row.match else "-"
        middle = f":{row.number}{mark}" if numbers else mark
        separator = "--" if gap and context and listing.lines else None
        if not listing.add(f"{where.name(row.path)}{middle}{row.text}", separator):
            break
    return withheld


def _with_gaps(rows: list[Row]) -> Iterator[tuple[Row, bool]]:
    before: Row | None = None
    for row in rows:
        yield row, before is not None and (row.path != before.path or row.number > before.number + 1)
        before = row


def _note_rest(listing: Listing, total: int, what: str, notes: list[str]) -> None:
    hidden = total - listing.shown - (listing.withheld if what == "files" else 0)
    if hidden > 0:
        listing.partial = True
        raising = " or raise head_limit" if listing.shown == listing.limit else ""
        notes.insert(0, f"{listing.shown} of {total} {what} shown; narrow the search{raising} to see others")
