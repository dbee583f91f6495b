"""The tool ``TodoWrite``: the model's list of what it is going to do, kept where people can see it.

The list belongs to a session and is in its events; nothing else depends on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult, error_result
from agentframework.tools.wiring import ShowPlan

MAX_TODOS = 100

_TEXT = {"type": "string", "minLength": 1, "maxLength": 1_000}
_TODO = {
    "type": "object",
    "properties": {
        "content": {**_TEXT, "description": "The step as a command: Run the tests."},
        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
        "activeForm": {**_TEXT, "description": "The same while it is done: Running the tests."},
    },
    "required": ["content", "status", "activeForm"],
    "additionalProperties": False,
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "todos": {
            "type": "array",
            "maxItems": MAX_TODOS,
            "items": _TODO,
            "description": "The whole list in its order; it replaces the last one.",
        }
    },
    "required": ["todos"],
    "additionalProperties": False,
}
_DESCRIPTION = (
    "Keep the list of steps of a task that takes three or more, and show it to the person. Write it before the first "
    "step, and again whenever something changes: one step in_progress at a time, completed as soon as it is done and "
    "not before. Not for a task of one step, nor for questions."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoWriteTool(Tool):
    """The tool, which knows how to show its list to a session."""

    def with_plan(self, show: ShowPlan) -> Tool:
        """See `agentframework.tools.wiring.CanShowPlan`."""
        return replace(self, run=_Plan(show).write)


def todo_write_tool() -> Tool:
    """``TodoWrite(todos)``."""
    return TodoWriteTool("TodoWrite", _DESCRIPTION, _SCHEMA, _Plan(_nobody).write, RiskClass.INSPECT, None)


class _Plan:
    def __init__(self, show: ShowPlan) -> None:
        self._show = show
        self._todos: Sequence[Mapping[str, Any]] | None = None

    async def write(self, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        todos = [dict(todo) for todo in arguments["todos"]]
        if not all(todo[name].strip() for todo in todos for name in ("content", "activeForm")):
            return error_result("a step has no text; give every step content and activeForm")
        if todos != self._todos:
            kind = "created" if not self._todos else "changed"
            self._todos = todos
            self._show(kind, {"todos": todos})
        return ToolResult(_told(todos), structured={"todos": todos})


def _told(todos: Sequence[Mapping[str, Any]]) -> str:
    if not todos:
        return "The list is empty now."
    done = sum(todo["status"] == "completed" for todo in todos)
    doing = [todo["content"] for todo in todos if todo["status"] == "in_progress"]
    waiting = [todo["content"] for todo in todos if todo["status"] == "pending"]
    text = f"The list is kept and shown: {done} of {len(todos)} done."
    if doing:
        return f"{text} Go on with: {'; '.join(doing)}"
    return f"{text} Next: {waiting[0]}" if waiting else text


def _nobody(kind: str, data: Mapping[str, Any]) -> None:
    """Outside of a session nobody watches."""
