"""The tool ``BashOutput``: what a background task has written."""

from collections.abc import Callable
from typing import Any

from agentframework._base.clock import now
from agentframework.errors import InvalidInputError
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult, error_result
from agentframework.tools.background import BackgroundTask, BackgroundTasks

from ._line_filter import line_filter

MAX_CHARACTERS = 29_000
# How much is looked through at a time, and in one call with a filter.
_CHUNK = 100_000
_MAX_SCANNED = 20_000_000

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "task_id": {"type": "string", "minLength": 1, "description": "The id that the start of the task gave."},
        "offset": {
            "type": "integer",
            "description": (
                "Where to begin, in characters; a negative number counts from the end. If absent, where the last "
                "BashOutput of this task left off."
            ),
        },
        "filter": {"type": "string", "minLength": 1, "description": "A regular expression; only lines it finds."},
    },
    "required": ["task_id"],
    "additionalProperties": False,
}
_DESCRIPTION = (
    "Read what a background task has written, and see whether it still runs. At most "
    f"{MAX_CHARACTERS:,} characters at a time; the answer says where to go on. Lines of standard error begin with "
    "[stderr]. Do not call it in a loop to wait: you are told when the task has ended."
)


def bash_output_tool(tasks: BackgroundTasks) -> Tool:
    """``BashOutput(task_id, offset, filter)`` over the tasks of one session."""
    reader = _Reader(tasks)
    return Tool("BashOutput", _DESCRIPTION, _SCHEMA, reader.run, RiskClass.INSPECT, "task_id")


class _Reader:
    """Remembers where each task was read up to."""

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks
        self._next: dict[str, int] = {}

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        task_id = str(arguments["task_id"])
        keep: Callable[[str], bool] | None = None
        if (pattern := arguments.get("filter")) is not None:
            keep = line_filter(str(pattern))
            if keep is None:
                return error_result(f"{pattern!r} is not a regular expression that can be used (Rust syntax)")
        try:
            task = self._tasks.get(task_id)
            offset = int(arguments.get("offset", self._next.get(task_id, 0)))
            text, start, end, total = self._read(task_id, offset, keep)
        except InvalidInputError as error:
            return error_result(error.message)
        self._next[task_id] = end
        if task.status != "running" and end == total:
            self._tasks.seen(task_id)
        return _answer(task, text, start, end, total)

    def _read(self, task_id: str, offset: int, keep: Callable[[str], bool] | None) -> tuple[str, int, int, int]:
        if keep is None:
            output = self._tasks.read(task_id, offset, MAX_CHARACTERS)
            return output.text, output.offset, output.next_offset, output.total
        return self._filtered(task_id, offset, keep)

    def _filtered(self, task_id: str, offset: int, keep: Callable[[str], bool]) -> tuple[str, int, int, int]:
        """The lines that ``keep`` wants, until they fill the answer or enough was looked through."""
        found: list[str] = []
        room = MAX_CHARACTERS
        output = self._tasks.read(task_id, offset, _CHUNK)
        start = at = output.offset
        while output.text:
            lines = output.text.splitlines(keepends=True)
            if len(lines) > 1 and output.next_offset < output.total:
                lines.pop()  # it may go on in the next piece
            for line in lines:
                if keep(line.rstrip("\n")):
                    if len(line) > room and found:
                        return "".join(found), start, at, output.total
                    found.append(line[:room])
                    room -= len(line)
                at += len(line)
            if room <= 0 or at - start >= _MAX_SCANNED:
                break
            output = self._tasks.read(task_id, at, _CHUNK)
        return "".join(found), start, at, output.total


def _answer(task: BackgroundTask, text: str, start: int, end: int, total: int) -> ToolResult:
    seconds = (task.ended_at or now()) - task.started_at
    ended = f": {task.message}" if task.message else ""
    head = f"{task.id}: {task.status}{ended} ({seconds:.0f} s)"
    where = f"[characters {start:,} to {end:,} of {total:,}"
    where += f"; go on with offset {end}]" if end < total else "]"
    body = text.rstrip("\n") or "(no output)"
    structured = {"task_id": task.id, "status": task.status, "offset": start, "next_offset": end, "total": total}
    return ToolResult(f"{head}\n{body}\n{where}", structured=structured)
