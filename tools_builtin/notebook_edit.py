"""The NotebookEdit tool: replaces, inserts or deletes one cell of a Jupyter notebook."""

from typing import Any

from agentframework.sandbox import OutsideWorkspaceError
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult

from ._cells import CellChange, change_cells
from ._change import change_text, refuse_surrogates
from ._ledger import FileLedger
from ._paths import RefusalError, answer

_DESCRIPTION = (
    "Change one cell of a Jupyter notebook (.ipynb), named by the id that Read shows. replace puts new_source in "
    "place of its source and clears the outputs of a code cell; insert adds a cell behind it; delete removes it. All "
    "other cells, and the form of the file, stay as they are. Refused if the file has changed since it was read in "
    "this session."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "notebook_path": {
            "type": "string",
            "description": "The notebook: absolute, or relative to the working directory.",
        },
        "cell_id": {
            "type": "string",
            "description": "The cell. With insert: the one before the new cell; left out, the new one is the first.",
        },
        "new_source": {"type": "string", "description": "The new source of the cell; not needed for delete."},
        "cell_type": {
            "type": "string",
            "enum": ["code", "markdown"],
            "description": "Kind of the cell: needed for insert; otherwise it stays what it is if left out.",
        },
        "edit_mode": {
            "type": "string",
            "enum": ["replace", "insert", "delete"],
            "description": "What to do; replace if left out.",
        },
    },
    "required": ["notebook_path"],
    "additionalProperties": False,
}


def notebook_edit_tool(files: FileLedger) -> Tool:
    """The tool. ``files`` says what each session has read; what it writes is remembered there too."""

    def edit(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            return _edit(arguments, context, files)
        except (RefusalError, OutsideWorkspaceError) as error:
            return answer(error)

    return Tool("NotebookEdit", _DESCRIPTION, _SCHEMA, edit, RiskClass.MODIFY, "notebook_path")


def _edit(arguments: dict[str, Any], context: ToolContext, files: FileLedger) -> ToolResult:
    change = _change_of(arguments)
    said = ""

    def change_text_of(text: str) -> str:
        nonlocal said
        text, said = change_cells(text, change)
        return text

    changed = change_text(arguments["notebook_path"], context, files, change_text_of)
    return changed.result(f"{said} in {changed.shown}.")


def _change_of(arguments: dict[str, Any]) -> CellChange:
    mode = arguments.get("edit_mode", "replace")
    cell_id, source, kind = (arguments.get(key) for key in ("cell_id", "new_source", "cell_type"))
    if mode != "insert" and not cell_id:
        raise RefusalError(f"cell_id is missing: name the cell to {mode}, as Read shows it")
    if mode != "delete" and source is None:
        raise RefusalError(f"new_source is missing: {mode} needs the source of the cell")
    if mode == "insert" and kind is None:
        raise RefusalError("cell_type is missing: insert needs code or markdown")
    refuse_surrogates(new_source=source or "")
    return CellChange(mode, cell_id or None, source or "", kind)
