"""The MultiEdit tool: several replacements in one file, all of them or none."""

from typing import Any

from agentframework.sandbox import OutsideWorkspaceError
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult

from ._change import change_text, refuse_surrogates
from ._ledger import FileLedger
from ._paths import RefusalError, answer
from ._replacement import named_lines, replace_text
from .edit import EDIT_PROPERTIES

MAX_EDITS = 200

_DESCRIPTION = (
    "Make several edits of one file in one step: all of them, or none if one cannot be made. Each follows the rules "
    "of Edit and sees the text as the edits before it have left it."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file_path": EDIT_PROPERTIES["file_path"],
        "edits": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_EDITS,
            "description": "What to replace, in this order.",
            "items": {
                "type": "object",
                "properties": {key: EDIT_PROPERTIES[key] for key in ("old_string", "new_string", "replace_all")},
                "required": ["old_string", "new_string"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["file_path", "edits"],
    "additionalProperties": False,
}


def multi_edit_tool(files: FileLedger) -> Tool:
    """The tool. ``files`` says what each session has read; what it writes is remembered there too."""

    def edit(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            return _edit(arguments["file_path"], arguments["edits"], context, files)
        except (RefusalError, OutsideWorkspaceError) as error:
            return answer(error)

    return Tool("MultiEdit", _DESCRIPTION, _SCHEMA, edit, RiskClass.MODIFY, "file_path")


def _edit(path: str, edits: list[dict[str, Any]], context: ToolContext, files: FileLedger) -> ToolResult:
    places: list[str] = []

    def change(text: str) -> str:
        before = text
        for number, edit in enumerate(edits, 1):
            old, new = edit["old_string"], edit["new_string"]
            try:
                refuse_surrogates(old_string=old, new_string=new)
                done = replace_text(text, old, new, bool(edit.get("replace_all", False)))
            except RefusalError as error:
                raise RefusalError(f"edit {number} of {len(edits)}: {error}") from None
            text = done.text
            places.append(named_lines(done.lines, done.count))
        if text == before:
            raise RefusalError("together the edits change nothing")
        return text

    changed = change_text(path, context, files, change)
    count = "1 edit" if len(edits) == 1 else f"{len(edits)} edits"
    return changed.result(f"Made {count} in {changed.shown}: {'; '.join(places)}.")
