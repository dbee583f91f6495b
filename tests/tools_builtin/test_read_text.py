import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework._base.abort import AbortedError, AbortSignal
from agentframework.tools import ToolContext, ToolResult
from agentframework.tools.executor import MAX_RESULT_CHARACTERS
from tools_builtin._ledger import FileLedger
from tools_builtin._lines import LINE_CHARACTERS, PAGE_CHARACTERS
from tools_builtin._pager import Pager
from tools_builtin.read import DEFAULT_LINES, read_tool

Call = Callable[..., Awaitable[ToolResult]]
READ = read_tool(FileLedger())


def numbered(*lines: str, first: int = 1) -> list[str]:
    return [f"{number:>6}\t{line}" for number, line in enumerate(lines, first)]


async def test_a_file_is_shown_with_a_heading_and_numbered_lines(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\n\ttwo\n\nfour")
    result = await call(READ, context, file_path="a.txt")
    assert result.content.split("\n") == ["[a.txt: 4 lines]", *numbered("one", "\ttwo", "", "four")]
    assert not result.is_error


async def test_an_absolute_path_inside_is_read_too(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    result = await call(READ, context, file_path=str(tmp_path / "a.txt"))
    assert result.content.startswith("[a.txt: 1 line]")


async def test_a_page_says_which_lines_of_how_many_and_how_to_read_on(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    (tmp_path / "a").write_text("".join(f"{i}\n" for i in range(1, 11)))
    page = await call(READ, context, file_path="a", offset=4, limit=3)
    assert page.content.split("\n") == [
        "[a: lines 4 to 6 of 10; read on with offset 7]",
        *numbered("4", "5", "6", first=4),
    ]
    last = await call(READ, context, file_path="a", offset=9, limit=3)
    assert last.content.split("\n") == ["[a: lines 9 to 10 of 10]", *numbered("9", "10", first=9)]
    assert (await call(READ, context, file_path="a", offset=0, limit=1)).content.startswith("[a: lines 1 to 1 of 10;")


async def test_a_long_file_is_read_page_by_page_without_a_gap(tmp_path: Path, context: ToolContext, call: Call) -> None:
    lines = [f"line {i} " + "x" * (i % 90) for i in range(10_000)]
    (tmp_path / "a").write_text("\n".join(lines) + "\n")
    seen: list[str] = []
    offset = 1
    while offset <= 10_000:
        page = await call(READ, context, file_path="a", offset=offset)
        assert len(page.content) <= MAX_RESULT_CHARACTERS
        assert "left out" not in page.content
        heading, *rows = page.content.split("\n")
        assert rows
        assert len(rows) <= DEFAULT_LINES
        seen += [row.split("\t", 1)[1] for row in rows]
        offset += len(rows)
        assert (f"read on with offset {offset}]" in heading) is (offset <= 10_000)
    assert seen == lines


async def test_beyond_the_end_the_number_of_lines_is_told(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n")
    result = await call(READ, context, file_path="a", offset=4)
    assert result.is_error
    assert "3 lines" in result.content


async def test_an_empty_file_says_so(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a").touch()
    result = await call(READ, context, file_path="a")
    assert "empty" in result.content
    assert not result.is_error


async def test_an_enormous_line_is_cut_and_says_how_to_see_more(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    (tmp_path / "a").write_text("[" + "1234567890" * 500_000 + "]")
    result = await call(READ, context, file_path="a")
    assert LINE_CHARACTERS < len(result.content) < LINE_CHARACTERS + 300
    assert "5000002 bytes" in result.content
    assert "limit 1" in result.content
    alone = await call(READ, context, file_path="a", limit=1)
    assert 20_000 < len(alone.content) <= MAX_RESULT_CHARACTERS
    assert "5000002 bytes" in alone.content
    assert "characters in all" not in alone.content


async def test_one_long_line_among_others_is_cut_alone(tmp_path: Path, context: ToolContext, call: Call) -> None:
    lines = ["short"] * 6 + ["y" * 3_000] + ["short"] * 3
    (tmp_path / "a").write_text("\n".join(lines))
    rows = (await call(READ, context, file_path="a")).content.split("\n")
    assert rows[0].startswith("[a: 10 lines; 1 long line cut")
    assert rows[7].startswith("     7\t" + "y" * LINE_CHARACTERS + " [... cut")
    assert rows[8] == "     8\tshort"
    assert (await call(READ, context, file_path="a", offset=7, limit=1)).content.endswith("\t" + "y" * 3_000)


async def test_a_byte_order_mark_is_not_shown_and_crlf_is_told(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    (tmp_path / "a.cs").write_bytes(b"\xef\xbb\xbfusing X;\r\n\xc3\x89t\xc3\xa9\r\n")
    result = await call(READ, context, file_path="a.cs")
    assert result.content.split("\n") == [
        "[a.cs: 2 lines; UTF-8 with a byte order mark; CRLF line endings]",
        *numbered("using X;", "Été"),
    ]


async def test_mixed_line_endings_are_told(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a").write_bytes(b"1\r\n2\n3\r\n")
    assert "mixed line endings" in (await call(READ, context, file_path="a")).content


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
async def test_other_unicode_encodings_with_a_signature_are_read(
    tmp_path: Path, context: ToolContext, call: Call, codec: str
) -> None:
    (tmp_path / "a").write_bytes("\ufeffÉté 😀\r\n日本\r\n".encode(codec))
    result = await call(READ, context, file_path="a")
    assert result.content.split("\n")[1:] == numbered("Été 😀", "日本")
    assert codec[:6].upper() in result.content


async def test_bytes_that_are_no_utf8_are_escaped_and_told(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a").write_bytes(b"x = 1\n# caf\xe9\n# \xe6\x97")
    result = await call(READ, context, file_path="a")
    heading, *rows = result.content.split("\n")
    assert "2 lines with bytes that are no text" in heading
    assert rows == numbered("x = 1", "# caf\\xe9", "# \\xe6\\x97")


async def test_tabs_form_feeds_and_escapes_come_through(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "Makefile").write_bytes(b"all:\n\techo hi\n\x0c\x1b[1mbold\x1b[0m\n")
    rows = (await call(READ, context, file_path="Makefile")).content.split("\n")
    assert rows[1:] == numbered("all:", "\techo hi", "\x0c\x1b[1mbold\x1b[0m")


async def test_a_late_nul_is_escaped(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a").write_bytes(b"text\n" * 20_000 + b"a\0b\n")
    result = await call(READ, context, file_path="a", offset=20_001)
    assert "\0" not in result.content
    assert result.content.endswith("\ta\\x00b")


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("prog", b"\x7fELF\x02\x01\x01" + b"\0" * 100, "ELF"),
        ("a.ods", b"PK\x03\x04\x14\0\0\0" + b"\0" * 100, "ZIP"),
        ("a.txt", b"%PDF-1.7\n1 0 obj\n", "PDF"),
        ("a.bin", b"ab\0cd", "unknown binary"),
        ("a.bmp", b"BM\x46\0\0\0\0\0", "BMP"),
        ("a.gz", b"\x1f\x8b\x08\x08abc", "gzip"),
    ],
)
async def test_a_binary_file_is_refused_with_its_kind(
    tmp_path: Path, context: ToolContext, call: Call, name: str, data: bytes, kind: str
) -> None:
    (tmp_path / name).write_bytes(data)
    result = await call(READ, context, file_path=name)
    assert result.is_error
    assert kind in result.content
    assert f"{len(data)} bytes" in result.content
    assert len(result.content) < 300


@pytest.mark.parametrize("shift", range(3))
async def test_text_with_long_characters_is_not_taken_for_binary(
    tmp_path: Path, context: ToolContext, call: Call, shift: int
) -> None:
    text = "a" * shift + "漢字テスト" * 1_000
    (tmp_path / "a").write_text(text, encoding="utf-8")
    result = await call(READ, context, file_path="a", limit=1)
    assert result.content.endswith(f"\t{text}")


async def test_what_is_no_file_is_refused_at_once_and_nothing_is_taken_from_it(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to_pipe").symlink_to("pipe")
    keeper = os.open(tmp_path / "pipe", os.O_RDWR | os.O_NONBLOCK)
    os.write(keeper, b"precious")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "sock"))
    try:
        for name, kind in {"pipe": "FIFO", "to_pipe": "FIFO", "sock": "socket", ".": "directory"}.items():
            async with asyncio.timeout(1):
                result = await call(READ, context, file_path=name)
            assert result.is_error
            assert kind in result.content
        assert os.read(keeper, 100) == b"precious"
    finally:
        listener.close()
        os.close(keeper)


async def test_a_device_within_reach_is_refused(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    (tmp_path / "zero").symlink_to("/dev/zero")
    context = make_context(tmp_path, additional_directories=["/dev"])
    async with asyncio.timeout(1):
        result = await call(READ, context, file_path="zero")
    assert result.is_error
    assert "character device" in result.content


async def test_what_links_lead_to_outside_is_refused(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (work / "file").symlink_to(outside / "secret")
    (work / "folder").symlink_to(outside)
    (work / "loop").symlink_to("loop")
    context = make_context(work)
    for path in ("file", "folder/secret", "../outside/secret", str(outside / "secret"), "loop", "a\0b"):
        result = await call(READ, context, file_path=path)
        assert result.is_error
        assert "secret" not in result.content.replace("outside/secret", "").replace("folder/secret", "")


async def test_a_link_to_a_place_inside_works_also_if_the_workspace_is_a_link(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    (tmp_path / "real" / "sub").mkdir(parents=True)
    (tmp_path / "real" / "sub" / "a").write_text("hello\n")
    (tmp_path / "real" / "pub").symlink_to("sub")
    (tmp_path / "work").symlink_to("real")
    result = await call(READ, make_context(tmp_path / "work"), file_path="pub/a")
    assert result.content == "[sub/a: 1 line]\n     1\thello"


async def test_a_missing_file_says_so(context: ToolContext, call: Call) -> None:
    result = await call(READ, context, file_path="nope.txt")
    assert result.is_error
    assert "nope.txt does not exist" in result.content


async def test_a_name_with_a_newline_does_not_break_the_heading(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    (tmp_path / "a\n[b").write_text("x\n")
    result = await call(READ, context, file_path="a\n[b")
    assert result.content == '["a\\n[b": 1 line]\n     1\tx'


async def test_an_aborted_read_ends(tmp_path: Path, make_context: Callable[..., ToolContext], call: Call) -> None:
    (tmp_path / "a").write_text("x")
    abort = AbortSignal()
    abort.abort()
    with pytest.raises(AbortedError):
        await call(READ, make_context(tmp_path, abort=abort), file_path="a")


def reference(data: bytes, first: int, count: int) -> tuple[list[str], int]:
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    wanted = lines[first - 1 : first - 1 + count]
    texts = [line.removesuffix(b"\r").decode("utf-8", "backslashreplace").replace("\0", "\\x00") for line in wanted]
    return numbered(*texts, first=first), len(lines)


@given(
    st.lists(st.one_of(st.binary(max_size=6), st.sampled_from([b"\n", b"\r\n", b"\n\n", "é日".encode()])), max_size=40),
    st.integers(1, 12),
    st.integers(2, 12),
)
def test_the_pager_agrees_with_splitting_the_whole_file(pieces: list[bytes], first: int, count: int) -> None:
    pager = Pager(first, count)
    for piece in pieces:
        pager.feed(piece)
    page = pager.finish()
    data = b"".join(pieces)
    expected, total = reference(data, first, count)
    assert list(page.lines) == expected
    assert page.total == total
    assert page.last == first + len(expected) - 1
    crlf = data.count(b"\r\n")
    assert page.line_endings == ("LF" if not crlf else "CRLF" if crlf == data.count(b"\n") else "mixed")


@given(st.lists(st.integers(0, 9_000), min_size=1, max_size=20), st.integers(1, 9))
def test_a_page_always_fits_and_always_shows_something(lengths: list[int], count: int) -> None:
    pager = Pager(1, count)
    for length in lengths:
        pager.feed(b"\xff" * length + b"\n")
    page = pager.finish()
    assert page.lines
    assert sum(len(line) + 1 for line in page.lines) <= PAGE_CHARACTERS
