"""The Write tool: makes a file, or replaces all of one."""

import re
from dataclasses import dataclass
from typing import Any

from agentframework.events import Diff
from agentframework.sandbox import OutsideWorkspaceError, ResolvedPath
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult

from ._atomic import replace_file
from ._contents import Content, load, refuse_read_only, refuse_unseen_changes
from ._diff import diff_of
from ._encodings import UTF_8, Encoding, encoding_of, is_utf8_text
from ._kinds import binary_kind
from ._ledger import FileLedger, digest_of
from ._paths import RefusalError, answer, locate, one_line, reason

_DESCRIPTION = (
    "Create a file with this content, or replace all of an existing one, in one step; missing directories are "
    "created. The file's mode, its byte order mark and encoding, and the line endings of a file that is CRLF "
    "throughout are kept; otherwise the content is written as given. Refused if the file has changed since it "
    "was read in this session. To change a part of a file use Edit."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "description": "The file: absolute, or relative to the working directory."},
        "content": {"type": "string", "description": "All of its new content."},
    },
    "required": ["file_path", "content"],
    "additionalProperties": False,
}
_BARE_LF = re.compile("(?<!\r)\n")


def write_tool(files: FileLedger) -> Tool:
    """The tool. ``files`` says what each session has read; what it writes is remembered there too."""

    def write(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            return _write(arguments["file_path"], arguments["content"], context, files)
        except (RefusalError, OutsideWorkspaceError) as error:
            return answer(error)

    return Tool("Write", _DESCRIPTION, _SCHEMA, write, RiskClass.MODIFY, "file_path")


@dataclass(frozen=True, slots=True)
class _Form:
    """How a file is written down."""

    encoding: Encoding
    crlf: bool

    def bytes_of(self, content: str) -> bytes:
        if self.encoding.signature:
            content = content.removeprefix("\ufeff")
        return self.encoding.encode(content.replace("\n", "\r\n") if self.crlf else content)

    @property
    def sentence(self) -> str:
        kept = [self.encoding.label] if self.encoding.signature else []
        kept += ["CRLF line endings"] if self.crlf else []
        return f" Kept as it was: {' and '.join(kept)}." if kept else ""


def _write(path: str, content: str, context: ToolContext, files: FileLedger) -> ToolResult:
    if path.endswith("/"):
        raise RefusalError(f"{one_line(path)} names a directory; name the file to write")
    if not is_utf8_text(content):
        raise RefusalError("content holds lone surrogates, which no encoding can write")
    place = locate(context, path)
    with files.writing(place.path):
        old = load(place, context)
        refuse_unseen_changes(old, place, context, files)
        if old is not None:
            refuse_read_only(old, place)
        form = _form_of(old, content)
        data = form.bytes_of(content)
        unread = old is not None and files.known(context.session_id, place.path) is None
        context.abort.check()
        at_once = _replace(place, data, old)
        files.remember(context.session_id, place.path, digest_of(data))
    shown = one_line(place.shown)
    said = f"Created {shown}: {len(data)} bytes." if old is None else f"Overwrote {shown}: {len(data)} bytes."
    if unread:
        said += " It had not been read in this session."
    if not at_once:
        said += " Its directory is not writable, so it was rewritten in place."
    return ToolResult(said + form.sentence, diff=_diff(shown, old, form, data))


def _form_of(old: Content | None, content: str) -> _Form:
    if old is None:
        return _Form(UTF_8, False)
    encoding = UTF_8 if binary_kind(old.head) else encoding_of(old.head)
    return _Form(encoding, "\r\n" not in content and _is_crlf_throughout(old, encoding))


def _is_crlf_throughout(old: Content, encoding: Encoding) -> bool:
    if old.data is None:
        return False
    try:
        text = encoding.decode(old.data)
    except UnicodeDecodeError:
        return False
    return "\r\n" in text and _BARE_LF.search(text) is None


def _replace(place: ResolvedPath, data: bytes, old: Content | None) -> bool:
    try:
        return replace_file(place.path, data, None if old is None else old.status, None if old is None else old.data)
    except OSError as error:
        raise RefusalError(f"{one_line(place.shown)} was not written: {reason(error)}") from None


def _diff(shown: str, old: Content | None, form: _Form, data: bytes) -> Diff | None:
    before = b"" if old is None else old.data
    if before is None or binary_kind(before):
        return None
    try:
        return diff_of(shown, "" if old is None else form.encoding.decode(before), form.encoding.decode(data))
    except UnicodeDecodeError:
        return None
