"""The Edit tool: replaces a piece of a file's text by another, and leaves every other byte alone."""

from typing import Any

from agentframework.sandbox import OutsideWorkspaceError
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult

from ._change import change_text, refuse_surrogates
from ._contents import MAX_BYTES
from ._ledger import FileLedger
from ._paths import RefusalError, answer
from ._replacement import Replacement, named_lines, replace_text

_DESCRIPTION = (
    "Replace old_string by new_string in a file. old_string is literal text, white space included, and must "
    "occur exactly once, unless replace_all is set; without the line numbers that Read shows. Line endings, "
    "encoding, byte order mark and mode of the file are kept. Refused if the file has changed since it was read "
    f"in this session, or is larger than {MAX_BYTES >> 20} MiB."
)
EDIT_PROPERTIES: dict[str, Any] = {
    "file_path": {"type": "string", "description": "The file: absolute, or relative to the working directory."},
    "old_string": {"type": "string", "description": "The text to replace."},
    "new_string": {"type": "string", "description": "The text to put in its place."},
    "replace_all": {"type": "boolean", "description": "Replace every occurrence; false if left out."},
}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": EDIT_PROPERTIES,
    "required": ["file_path", "old_string", "new_string"],
    "additionalProperties": False,
}


def edit_tool(files: FileLedger) -> Tool:
    """The tool. ``files`` says what each session has read; what it writes is remembered there too."""

    def edit(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            return _edit(arguments, context, files)
        except (RefusalError, OutsideWorkspaceError) as error:
            return answer(error)

    return Tool("Edit", _DESCRIPTION, _SCHEMA, edit, RiskClass.MODIFY, "file_path")


def _edit(arguments: dict[str, Any], context: ToolContext, files: FileLedger) -> ToolResult:
    old, new = arguments["old_string"], arguments["new_string"]
    refuse_surrogates(old_string=old, new_string=new)
    done: Replacement | None = None

    def change(text: str) -> str:
        nonlocal done
        done = replace_text(text, old, new, bool(arguments.get("replace_all", False)))
        return done.text

    changed = change_text(arguments["file_path"], context, files, change)
    assert done is not None
    times = "1 occurrence" if done.count == 1 else f"{done.count} occurrences"
    return changed.result(f"Replaced {times} in {changed.shown}, {named_lines(done.lines, done.count)}.")
