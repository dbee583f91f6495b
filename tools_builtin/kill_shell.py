"""The tool ``KillShell``: ends a background task."""

from typing import Any

from agentframework.errors import InvalidInputError
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult, error_result
from agentframework.tools.background import BackgroundTasks

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "task_id": {"type": "string", "minLength": 1, "description": "The id that the start of the task gave."}
    },
    "required": ["task_id"],
    "additionalProperties": False,
}
_DESCRIPTION = "End a background task with everything it has started. Its output can still be read with BashOutput."


def kill_shell_tool(tasks: BackgroundTasks) -> Tool:
    """``KillShell(task_id)`` over the tasks of one session. It can end nothing but what the session itself started."""

    async def run(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        task_id = str(arguments["task_id"])
        try:
            before = tasks.get(task_id)
            after = await tasks.cancel(task_id, "ended by KillShell")
        except InvalidInputError as error:
            return error_result(error.message)
        structured = {"task_id": task_id, "status": after.status}
        if before.status != "running":
            text = f"{task_id} had ended already: {after.status}, {after.message}"
        elif after.status == "running":
            return error_result(f"{task_id} has not ended yet; it was told to")
        else:
            tasks.seen(task_id)
            text = f"{task_id} was ended; it wrote {after.output_characters:,} characters"
        return ToolResult(text, structured=structured)

    return Tool("KillShell", _DESCRIPTION, _SCHEMA, run, RiskClass.INSPECT, "task_id")
