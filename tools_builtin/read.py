"""The Read tool: a page of a text file, an image, or a notebook as text."""

import codecs
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from agentframework._base.bounded import head_and_tail
from agentframework.messages import image_type
from agentframework.sandbox import OutsideWorkspaceError, ResolvedPath
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult

from . import _images, _notebook, _pdf
from ._encodings import Encoding, encoding_of
from ._kinds import binary_kind
from ._ledger import FileLedger, digest_of, new_digest
from ._lines import LINE_CHARACTERS, counted
from ._pager import Page, Pager
from ._paths import RefusalError, answer, locate, one_line, open_file, reason

DEFAULT_LINES = 2_000
_CHUNK = 1 << 20
# A file may grow while it is read, and those of /proc do not tell their size: never follow one without end.
_MIN_BYTES_READ = 64 << 20
_RESERVED_BYTES = 4_096

_DESCRIPTION = (
    "Read a file of the workspace. Text comes as lines numbered from 1: the number, a tab, the line. Without "
    f"offset and limit it shows the first {DEFAULT_LINES} lines, as far as they fit; the heading says which lines "
    f"of how many it shows and how to read on. Lines over {LINE_CHARACTERS} characters are cut; limit 1 shows more "
    "of a single one. PNG, JPEG, GIF and WebP files are shown as images, notebooks (.ipynb) as their cells, PDF files "
    f"as the text of their pages, {_pdf.MAX_PAGES} at a time. Other binary files and directories are refused."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "description": "The file: absolute, or relative to the working directory."},
        "offset": {"type": "integer", "minimum": 0, "description": "First line to show; lines count from 1."},
        "limit": {
            "type": "integer",
            "minimum": 1,
            "description": f"How many lines to show at most; {DEFAULT_LINES} if left out.",
        },
        "pages": {"type": "string", "description": 'Of a PDF file: which pages, as "3", "1-5" or "10-".'},
    },
    "required": ["file_path"],
    "additionalProperties": False,
}


def read_tool(files: FileLedger) -> Tool:
    """The tool. What it reads is remembered in ``files``, for Write and Edit."""

    def read(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            return _read(arguments, context, files)
        except (RefusalError, OutsideWorkspaceError) as error:
            return answer(error)

    return Tool("Read", _DESCRIPTION, _SCHEMA, read, RiskClass.INSPECT, "file_path")


@dataclass(frozen=True, slots=True)
class _Source:
    """An open file: its first bytes, already taken, and the rest."""

    head: bytes
    rest: BinaryIO
    size: int

    def chunks(self, context: ToolContext) -> Iterator[bytes]:
        chunk = self.head
        left = max(self.size, _MIN_BYTES_READ)
        while chunk and left > 0:
            context.abort.check()
            yield chunk
            left -= len(chunk)
            chunk = self.rest.read(_CHUNK)

    def whole(self, context: ToolContext, limit: int) -> bytes | None:
        """All of it, or None if it has more than ``limit`` bytes."""
        if self.size > limit:
            return None
        data = b"".join(self.chunks(context))
        return data if len(data) <= limit else None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """First line and number of lines; and which pages, if the file has pages."""

    lines: tuple[int, int]
    pages: str | None


def _read(arguments: dict[str, Any], context: ToolContext, files: FileLedger) -> ToolResult:
    place = locate(context, arguments["file_path"])
    wanted = _Wanted(
        (max(1, int(arguments.get("offset", 1))), int(arguments.get("limit", DEFAULT_LINES))),
        arguments.get("pages") or None,
    )
    try:
        fd, status = open_file(place)
        with os.fdopen(fd, "rb", buffering=0) as rest:
            source = _Source(rest.read(_CHUNK) or b"", rest, status.st_size)
            return _show(source, place, wanted, context, files)
    except FileNotFoundError:
        files.forget_file(context.session_id, place.path)
        raise RefusalError(f"{one_line(place.shown)} does not exist") from None
    except OSError as error:
        raise RefusalError(f"{one_line(place.shown)} cannot be read: {reason(error)}") from None


def _show(
    source: _Source, place: ResolvedPath, wanted: _Wanted, context: ToolContext, files: FileLedger
) -> ToolResult:
    lines = wanted.lines
    if source.head.startswith(b"%PDF-"):
        return _pdf_pages(source, place, wanted, context, files)
    if wanted.pages is not None:
        raise RefusalError(f"{one_line(place.shown)} is no PDF file; use offset and limit instead of pages")
    if image_type(source.head) is not None:
        return _image(source, place, context, files)
    kind = binary_kind(source.head)
    if kind is not None:
        raise RefusalError(f"{one_line(place.shown)} is binary ({kind}, {source.size} bytes) and is not shown as text")
    if place.path.endswith(".ipynb"):
        data = source.whole(context, _notebook.MAX_FILE_BYTES)
        if data is not None:
            return _notebook_cells(data, place, lines, context, files)
    return _text(source.chunks(context), encoding_of(source.head), place, lines, context, files, ())


def _image(source: _Source, place: ResolvedPath, context: ToolContext, files: FileLedger) -> ToolResult:
    data = source.whole(context, _images.MAX_FILE_BYTES)
    if data is None:
        raise RefusalError(f"{one_line(place.shown)} is an image over {_images.MAX_FILE_BYTES} bytes; scale it down")
    try:
        part, what = _images.prepare_image(data, context.max_result_bytes - _RESERVED_BYTES)
    except RefusalError as error:
        raise RefusalError(f"{one_line(place.shown)}: {error}") from None
    files.remember(context.session_id, place.path, digest_of(data))
    return ToolResult(f"[{_heading(place)}: {what}]", content_blocks=(part,))


def _pdf_pages(
    source: _Source, place: ResolvedPath, wanted: _Wanted, context: ToolContext, files: FileLedger
) -> ToolResult:
    pages = _pdf.page_range(wanted.pages or "1-")
    data = source.whole(context, _pdf.MAX_FILE_BYTES)
    if data is None:
        raise RefusalError(f"{one_line(place.shown)} is a PDF document over {_pdf.MAX_FILE_BYTES} bytes")
    try:
        shown = _pdf.pdf_text(data, pages, context.abort.check)
    except RefusalError as error:
        raise RefusalError(f"{one_line(place.shown)} (PDF document, {len(data)} bytes): {error}") from None
    files.remember(context.session_id, place.path, digest_of(data))
    pager = Pager(*wanted.lines)
    pager.feed(shown.text.encode("utf-8", "replace"))
    note = f"PDF document shown as the text of its pages, {shown.first} to {shown.last} of {shown.total}"
    if shown.last < shown.total:
        after = min(shown.total, shown.last + _pdf.MAX_PAGES)
        note += f'; pages "{shown.last + 1}-{after}" shows more'
    return _page(pager.finish(), place, [note])


def _notebook_cells(
    data: bytes, place: ResolvedPath, lines: tuple[int, int], context: ToolContext, files: FileLedger
) -> ToolResult:
    text = _notebook.render_notebook(data)
    if text is None:
        note = "this is no readable notebook, so its text is shown"
        return _text(iter([data]), encoding_of(data), place, lines, context, files, (note,))
    files.remember(context.session_id, place.path, digest_of(data))
    pager = Pager(*lines)
    pager.feed(text.encode("utf-8", "replace"))
    note = "notebook shown as its cells; Edit and Grep work on the JSON text in the file"
    return _page(pager.finish(), place, [note])


def _text(
    chunks: Iterator[bytes],
    encoding: Encoding,
    place: ResolvedPath,
    lines: tuple[int, int],
    context: ToolContext,
    files: FileLedger,
    notes: tuple[str, ...],
) -> ToolResult:
    pager = Pager(*lines)
    digest = new_digest()
    skip = len(encoding.signature)
    decoder = None if encoding.codec == "utf-8" else codecs.getincrementaldecoder(encoding.codec)("replace")
    for chunk in chunks:
        digest.update(chunk)
        chunk, skip = chunk[skip:], 0
        pager.feed(chunk if decoder is None else decoder.decode(chunk).encode("utf-8", "replace"))
    if decoder is not None:
        pager.feed(decoder.decode(b"", True).encode("utf-8", "replace"))
    files.remember(context.session_id, place.path, digest.digest())
    page = pager.finish()
    told = list(notes)
    if encoding.signature:
        told.append(encoding.label)
    if page.line_endings != "LF":
        told.append(f"{page.line_endings} line endings")
    return _page(page, place, told)


def _page(page: Page, place: ResolvedPath, notes: list[str]) -> ToolResult:
    if page.total == 0:
        return ToolResult(f"[{'; '.join([f'{_heading(place)}: the file is empty', *notes])}]")
    if page.first > page.total:
        total = counted(page.total, "line")
        raise RefusalError(f"{one_line(place.shown)} has {total}; line {page.first} is beyond the end")
    if page.escaped:
        notes.append(f"{counted(page.escaped, 'line')} with bytes that are no text in this encoding, shown as \\xNN")
    if page.cut:
        alone = "" if page.alone else "read one alone with limit 1 for more of it, or "
        notes.append(f"{counted(page.cut, 'long line')} cut; {alone}use Grep for a part of it")
    if page.last < page.total:
        why = "the page is full; " if page.full else ""
        notes.append(f"{why}read on with offset {page.last + 1}")
    whole = page.first == 1 and page.last == page.total
    which = counted(page.total, "line") if whole else f"lines {page.first} to {page.last} of {page.total}"
    text = "\n".join([f"[{'; '.join([f'{_heading(place)}: {which}', *notes])}]", *page.lines])
    return ToolResult(text, truncated=page.cut > 0 or page.last < page.total)


def _heading(place: ResolvedPath) -> str:
    return head_and_tail(one_line(place.shown), 300, 150)
