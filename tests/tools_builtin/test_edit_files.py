import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agentframework._base.abort import AbortedError, AbortSignal
from agentframework.tools import ToolContext, ToolResult
from tools_builtin._contents import MAX_BYTES
from tools_builtin._ledger import FileLedger
from tools_builtin.edit import edit_tool
from tools_builtin.read import read_tool

Call = Callable[..., Awaitable[ToolResult]]
Edit = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
def files() -> FileLedger:
    return FileLedger()


@pytest.fixture
def edit(files: FileLedger, context: ToolContext, call: Call) -> Edit:
    async def edit(path: str, old: str, new: str, every: bool | None = None) -> ToolResult:
        more = {} if every is None else {"replace_all": every}
        return await call(edit_tool(files), context, more, file_path=path, old_string=old, new_string=new)

    return edit


async def test_an_edit_says_what_it_did_and_shows_it(tmp_path: Path, edit: Edit) -> None:
    (tmp_path / "a.py").write_text("x = 1\ny = 2\nx = 1\n")
    result = await edit("a.py", "y = 2", "y = 3")
    assert result.content == "Replaced 1 occurrence in a.py, line 2."
    assert result.diff is not None
    assert [(line.kind, line.text) for line in result.diff.lines if line.kind in ("remove", "add")] == [
        ("remove", "y = 2"),
        ("add", "y = 3"),
    ]
    result = await edit("a.py", "x", "z", True)
    assert result.content == "Replaced 2 occurrences in a.py, lines 1, 3."
    assert (tmp_path / "a.py").read_text() == "z = 1\ny = 3\nz = 1\n"


async def test_a_refused_edit_leaves_the_file_alone(tmp_path: Path, edit: Edit) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abab")
    before = path.stat()
    for old, new in (("", "X"), ("ab", "c"), ("ab", "ab"), ("zz", "y"), ("a\ud800", "b"), ("ab", "\udce9")):
        result = await edit("a", old, new)
        assert result.is_error
    assert path.read_bytes() == b"abab"
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert (await edit("a", "", "X", True)).is_error


async def test_bytes_that_are_no_utf8_survive(tmp_path: Path, edit: Edit) -> None:
    samples = (b"x = 1\n# caf\xe9\n", b"x = 1\n# \xe6\x97", b"\xb2\xe2\xca\xd4 x = 1 \xff\xfe\0")
    for number, data in enumerate(samples):
        path = tmp_path / str(number)
        path.write_bytes(data)
        assert not (await edit(path.name, "x = 1", "x = é")).is_error
        assert path.read_bytes() == data.replace(b"x = 1", "x = é".encode())


async def test_a_byte_order_mark_stays_where_it_is(tmp_path: Path, edit: Edit) -> None:
    path = tmp_path / "a.cs"
    path.write_bytes(b"\xef\xbb\xbfusing X;\r\n\xc3\x89t\xc3\xa9\r\n")
    assert not (await edit("a.cs", "using X;", "using Y;")).is_error
    assert path.read_bytes() == b"\xef\xbb\xbfusing Y;\r\n\xc3\x89t\xc3\xa9\r\n"
    (tmp_path / "b.cs").write_bytes(b"using X;\n")
    await edit("b.cs", "using X;", "using Y;")
    assert (tmp_path / "b.cs").read_bytes() == b"using Y;\n"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
async def test_a_utf16_file_is_edited_in_its_encoding(tmp_path: Path, edit: Edit, codec: str) -> None:
    path = tmp_path / "a"
    path.write_bytes("\ufeffeins\r\nzwei 😀\r\n".encode(codec))
    assert not (await edit("a", "zwei", "drei\nvier")).is_error
    assert path.read_bytes() == "\ufeffeins\r\ndrei\r\nvier 😀\r\n".encode(codec)


async def test_a_broken_utf16_file_is_not_touched(tmp_path: Path, edit: Edit) -> None:
    data = "\ufeffab".encode("utf-16-le") + b"x"
    (tmp_path / "a").write_bytes(data)
    result = await edit("a", "a", "b")
    assert result.is_error
    assert "UTF-16" in result.content
    assert (tmp_path / "a").read_bytes() == data


async def test_tabs_are_not_blanks(tmp_path: Path, edit: Edit) -> None:
    path = tmp_path / "Makefile"
    path.write_bytes(b"all:\n\techo hi\n")
    assert not (await edit("Makefile", "\techo hi", "\techo ho")).is_error
    assert path.read_bytes() == b"all:\n\techo ho\n"
    result = await edit("Makefile", "    echo ho", "    echo hi")
    assert result.is_error
    assert "white space differs" in result.content
    assert path.read_bytes() == b"all:\n\techo ho\n"


async def test_editing_through_links_changes_the_target(tmp_path: Path, edit: Edit) -> None:
    (tmp_path / "AGENTS.md").write_text("old")
    (tmp_path / "AGENTS.md").chmod(0o750)
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    (tmp_path / "LINK.md").symlink_to("CLAUDE.md")
    assert not (await edit("LINK.md", "old", "new")).is_error
    assert (tmp_path / "LINK.md").is_symlink()
    assert (tmp_path / "CLAUDE.md").is_symlink()
    assert (tmp_path / "AGENTS.md").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "AGENTS.md").stat().st_mode) == 0o750


async def test_links_to_places_outside_and_loops_are_refused(
    tmp_path: Path, make_context: Callable[..., ToolContext], files: FileLedger, call: Call
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "x").write_text("old")
    (work / "link").symlink_to(tmp_path / "x")
    (work / "folder").symlink_to(tmp_path)
    (work / "loop").symlink_to("loop")
    for path in ("link", "folder/x", "loop", "../x"):
        result = await call(edit_tool(files), make_context(work), file_path=path, old_string="old", new_string="new")
        assert result.is_error
    assert (tmp_path / "x").read_text() == "old"


async def test_a_missing_a_read_only_and_a_huge_file_are_refused(tmp_path: Path, edit: Edit) -> None:
    assert "does not exist" in (await edit("nope", "a", "b")).content
    assert (await edit("nope", "", "b")).is_error
    (tmp_path / "fixed").write_text("a")
    (tmp_path / "fixed").chmod(0o444)
    assert "read-only" in (await edit("fixed", "a", "b")).content
    with open(tmp_path / "huge", "wb") as huge:
        huge.truncate(MAX_BYTES + 1)
    assert "larger than 64 MiB" in (await edit("huge", "a", "b")).content
    assert sorted(os.listdir(tmp_path)) == ["fixed", "huge"]


async def test_no_earlier_read_is_needed(tmp_path: Path, edit: Edit) -> None:
    (tmp_path / "a").write_text("one")
    assert not (await edit("a", "one", "two")).is_error
    assert not (await edit("a", "two", "three")).is_error


async def test_a_change_by_others_since_the_read_is_not_overlooked(
    tmp_path: Path, edit: Edit, files: FileLedger, context: ToolContext, call: Call
) -> None:
    path = tmp_path / "a"
    path.write_text("1\n2\n")
    await call(read_tool(files), context, file_path="a")
    os.utime(path, (5, 5))
    assert not (await edit("a", "1", "one")).is_error  # a new time over the same bytes
    path.write_text("one\n2\n")
    assert not (await edit("a", "one", "1")).is_error  # the same bytes written again
    path.write_text("1\n3\n")
    result = await edit("a", "1", "one")  # another line
    assert result.is_error
    assert "changed since it was read" in result.content
    assert path.read_text() == "1\n3\n"
    await call(read_tool(files), context, file_path="a")
    assert not (await edit("a", "1", "one")).is_error
    path.unlink()
    result = await edit("a", "one", "1")
    assert result.is_error
    assert "does not exist" in result.content


async def test_an_aborted_edit_changes_nothing(
    tmp_path: Path, make_context: Callable[..., ToolContext], files: FileLedger, call: Call
) -> None:
    (tmp_path / "a").write_text("one")
    abort = AbortSignal()
    abort.abort()
    with pytest.raises(AbortedError):
        await call(
            edit_tool(files), make_context(tmp_path, abort=abort), file_path="a", old_string="one", new_string="two"
        )
    assert (tmp_path / "a").read_text() == "one"
