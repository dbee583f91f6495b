from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agentframework.tools import ToolContext, ToolResult
from agentframework.tools.executor import MAX_RESULT_CHARACTERS
from tools_builtin._ledger import FileLedger
from tools_builtin.read import read_tool

Call = Callable[..., Awaitable[ToolResult]]


def pdf(*pages: str) -> bytes:
    """A document with a line of text for each line of a page; an empty page has no text."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids: list[int] = []
    for page in pages:
        lines = "".join(f"({line}) Tj 0 -14 Td " for line in page.splitlines())
        stream = f"BT /F1 12 Tf 72 720 Td {lines}ET".encode() if page else b""
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        resources = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792]"
        objects.append(f"<< /Type /Page /Parent 2 0 R {resources} /Contents {len(objects)} 0 R >>".encode())
        kids.append(len(objects))
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    objects[1] = f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} >>".encode()
    data = bytearray(b"%PDF-1.7\n")
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    return bytes(data)


@pytest.fixture
def read(tmp_path: Path, context: ToolContext, call: Call) -> Callable[..., Awaitable[ToolResult]]:
    async def read(data: bytes, **arguments: object) -> ToolResult:
        (tmp_path / "a.txt").write_bytes(data)  # the name does not matter
        return await call(read_tool(FileLedger()), context, file_path="a.txt", **arguments)

    return read


async def test_a_document_is_shown_as_the_text_of_its_pages(read: Call) -> None:
    result = await read(pdf("Hello\nworld", "", "Third"))
    heading, *lines = result.content.splitlines()
    assert heading == "[a.txt: 7 lines; PDF document shown as the text of its pages, 1 to 3 of 3]"
    texts = [line.split("\t", 1)[1] for line in lines]
    assert texts[0] == "--- page 1 of 3 ---"
    assert texts[1:3] == ["Hello", "world"]
    assert texts[4] == "[no text on this page; it may be a scan]"
    assert texts[6] == "Third"


async def test_pages_can_be_asked_for_and_there_is_a_way_on(read: Call) -> None:
    data = pdf(*(f"text {number}" for number in range(1, 51)))
    first = await read(data)
    assert '1 to 20 of 50; pages "21-40" shows more' in first.content
    assert "text 20" in first.content
    assert "text 21" not in first.content
    for pages, shown in [("3", "3 to 3"), ("2-4", "2 to 4"), ("45-", "45 to 50"), ("49-99", "49 to 50")]:
        assert f"{shown} of 50" in (await read(data, pages=pages)).content
    assert "text 3" in (await read(data, pages="2-4", offset=4, limit=1)).content


@pytest.mark.parametrize("pages", ["0", "x", "3-2", "-3", "1,2", "9999999999"])
async def test_pages_that_are_none_are_refused(read: Call, pages: str) -> None:
    result = await read(pdf("a"), pages=pages)
    assert result.is_error
    assert "pages must look like" in result.content


async def test_pages_beyond_the_end_and_of_other_files_are_refused(read: Call) -> None:
    assert "it has 1 pages; page 2 is beyond the end" in (await read(pdf("a"), pages="2")).content
    assert "is no PDF file" in (await read(b"text", pages="1")).content


@pytest.mark.parametrize(
    "data", [b"%PDF-1.7", b"%PDF-1.7\n" + bytes(range(256)) * 50, pdf("a")[:200], pdf("a").replace(b"/Kids", b"/Kid")]
)
async def test_a_damaged_document_is_an_error_or_says_that_nothing_is_there(read: Call, data: bytes) -> None:
    result = await read(data)
    assert result.is_error or "[a.txt" in result.content
    assert "\0" not in result.content


async def test_a_very_long_page_is_bounded(read: Call) -> None:
    result = await read(pdf("\n".join(["word " * 20] * 3_000)))
    assert len(result.content) <= MAX_RESULT_CHARACTERS
    assert "read on with offset" in result.content
