"""The Edit tool: replaces a piece of a file's text by another, and leaves every other byte alone."""

from typing import Any

from agentframework.sandbox import OutsideWorkspaceError
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult

from ._atomic import replace_file
from ._contents import MAX_BYTES, Content, load, refuse_read_only, refuse_unseen_changes
from ._diff import diff_of
from ._encodings import Encoding, encoding_of, is_utf8_text
from ._ledger import FileLedger, digest_of
from ._paths import RefusalError, answer, locate, one_line, reason
from ._replacement import named_lines, replace_text

_DESCRIPTION = (
    "Replace old_string by new_string in a file. old_string is literal text, white space included, and must "
    "occur exactly once, unless replace_all is set; without the line numbers that Read shows. Line endings, "
    "encoding, byte order mark and mode of the file are kept. Refused if the file has changed since it was read "
    f"in this session, or is larger than {MAX_BYTES >> 20} MiB."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "description": "The file: absolute, or relative to the working directory."},
        "old_string": {"type": "string", "description": "The text to replace."},
        "new_string": {"type": "string", "description": "The text to put in its place."},
        "replace_all": {"type": "boolean", "description": "Replace every occurrence; false if left out."},
    },
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
    if not (is_utf8_text(old) and is_utf8_text(new)):
        raise RefusalError("old_string and new_string must be text; one of them holds lone surrogates")
    place = locate(context, arguments["file_path"])
    shown = one_line(place.shown)
    with files.writing(place.path):
        content = load(place, context)
        refuse_unseen_changes(content, place, context, files)
        if content is None:
            raise RefusalError(f"{shown} does not exist; Write creates files")
        refuse_read_only(content, place)
        encoding, text = _text_of(content, shown)
        try:
            done = replace_text(text, old, new, bool(arguments.get("replace_all", False)))
        except RefusalError as error:
            raise RefusalError(f"{shown} was not changed: {error}") from None
        data = encoding.encode(done.text)
        context.abort.check()
        try:
            at_once = replace_file(place.path, data, content.status, content.data)
        except OSError as error:
            raise RefusalError(f"{shown} was not changed: {reason(error)}") from None
        files.remember(context.session_id, place.path, digest_of(data))
    times = "1 occurrence" if done.count == 1 else f"{done.count} occurrences"
    said = f"Replaced {times} in {shown}, {named_lines(done.lines, done.count)}."
    if not at_once:
        said += " Its directory is not writable, so it was rewritten in place."
    return ToolResult(said, diff=diff_of(shown, text, done.text))


def _text_of(content: Content, shown: str) -> tuple[Encoding, str]:
    if content.data is None:
        raise RefusalError(f"{shown} is larger than {MAX_BYTES >> 20} MiB; change it with a program")
    encoding = encoding_of(content.head)
    try:
        text = encoding.decode(content.data)
        faithful = encoding.encode(text) == content.data
    except UnicodeError:
        faithful, text = False, ""
    if not faithful:
        raise RefusalError(f"{shown} says it is {encoding.label} but is not valid; nothing was changed")
    return encoding, text
