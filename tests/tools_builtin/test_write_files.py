import asyncio
import os
import socket
import stat
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from agentframework.tools import ToolContext, ToolResult
from tools_builtin._ledger import MAX_FILES, MAX_SESSIONS, FileLedger, digest_of
from tools_builtin.edit import edit_tool
from tools_builtin.read import read_tool
from tools_builtin.write import write_tool

Call = Callable[..., Awaitable[ToolResult]]
Do = Callable[..., Awaitable[ToolResult]]


@pytest.fixture
def files() -> FileLedger:
    return FileLedger()


@pytest.fixture
def write(files: FileLedger, context: ToolContext, call: Call) -> Do:
    async def write(path: str, content: str) -> ToolResult:
        return await call(write_tool(files), context, file_path=path, content=content)

    return write


@pytest.fixture
def read(files: FileLedger, context: ToolContext, call: Call) -> Do:
    async def read(path: str) -> ToolResult:
        return await call(read_tool(files), context, file_path=path)

    return read


@pytest.fixture
def umask() -> Iterator[Callable[[int], int]]:
    before = os.umask(0o022)
    yield os.umask
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_new_file_is_created_with_its_directories(tmp_path: Path, write: Do) -> None:
    result = await write("a/b/c.txt", "Été\n")
    assert not result.is_error
    assert result.content == "Created a/b/c.txt: 6 bytes."
    assert (tmp_path / "a/b/c.txt").read_bytes() == "Été\n".encode()
    assert [path.name for path in (tmp_path / "a/b").iterdir()] == ["c.txt"]


@pytest.mark.parametrize("content", ["", "no newline", "a\r\nb\r\n", "a\r\nb\n", "\n\n\n", "\ufeffx", "a\rb", "\0"])
async def test_a_new_file_holds_exactly_what_was_given(tmp_path: Path, write: Do, content: str) -> None:
    await write("a", content)
    assert (tmp_path / "a").read_bytes() == content.encode()


async def test_an_existing_unread_file_is_overwritten_and_that_is_said(tmp_path: Path, write: Do, read: Do) -> None:
    (tmp_path / "a").write_text("old\n")
    result = await write("a", "new\n")
    assert result.content == "Overwrote a: 4 bytes. It had not been read in this session."
    assert (await write("a", "newer\n")).content == "Overwrote a: 6 bytes."
    (tmp_path / "b").write_text("old\n")
    await read("b")
    assert (await write("b", "new\n")).content == "Overwrote b: 4 bytes."


async def test_the_diff_shows_what_changed(tmp_path: Path, write: Do) -> None:
    lines = [f"{i}\n" for i in range(1, 21)]
    (tmp_path / "a").write_text("".join(lines))
    lines[9:11] = ["ten\n"]
    diff = (await write("a", "".join(lines))).diff
    assert diff is not None
    assert diff.path == "a"
    assert [(line.kind, line.text, line.line) for line in diff.lines] == [
        ("hunk", "@@ -7,8 +7,7 @@", 7),
        ("context", "7", 7),
        ("context", "8", 8),
        ("context", "9", 9),
        ("remove", "10", 10),
        ("remove", "11", 11),
        ("add", "ten", 10),
        ("context", "12", 11),
        ("context", "13", 12),
        ("context", "14", 13),
    ]


@pytest.mark.parametrize("permissions", [0o755, 0o600, 0o640, 0o666])
async def test_the_mode_of_an_existing_file_is_kept(tmp_path: Path, write: Do, permissions: int) -> None:
    path = tmp_path / "run.sh"
    path.write_text("old")
    path.chmod(permissions)
    await write("run.sh", "new")
    assert path.read_text() == "new"
    assert mode(path) == permissions


@pytest.mark.parametrize(("mask", "expected"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
async def test_the_mode_of_a_new_file_follows_the_umask(
    tmp_path: Path, write: Do, umask: Callable[[int], int], mask: int, expected: int
) -> None:
    umask(mask)
    await write("new", "x")
    assert mode(tmp_path / "new") == expected


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another group")
async def test_owner_and_group_are_kept(tmp_path: Path, write: Do) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    os.chown(path, 1234, 5678)
    path.chmod(0o4750)
    await write("a", "new")
    status = path.stat()
    assert (status.st_uid, status.st_gid, mode(path)) == (1234, 5678, 0o4750)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to another group")
async def test_a_new_file_takes_the_group_of_a_directory_that_passes_it_on(tmp_path: Path, write: Do) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    os.chown(folder, -1, 5678)
    folder.chmod(0o2775)
    await write("shared/new", "x")
    assert (folder / "new").stat().st_gid == 5678


async def test_a_read_only_file_is_left_alone(tmp_path: Path, write: Do) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o444)
    result = await write("a", "new")
    assert result.is_error
    assert "read-only" in result.content
    assert path.read_text() == "old"
    assert mode(path) == 0o444


async def test_a_byte_order_mark_is_kept_and_never_added(tmp_path: Path, write: Do) -> None:
    (tmp_path / "with").write_bytes(b"\xef\xbb\xbfusing X;\n")
    (tmp_path / "without").write_bytes(b"using X;\n")
    assert "byte order mark" in (await write("with", "using Y;\n")).content
    await write("without", "using Y;\n")
    assert (tmp_path / "with").read_bytes() == b"\xef\xbb\xbfusing Y;\n"
    assert (tmp_path / "without").read_bytes() == b"using Y;\n"
    await write("with", "\ufeffusing Z;\n")
    assert (tmp_path / "with").read_bytes() == b"\xef\xbb\xbfusing Z;\n"


async def test_the_encoding_of_a_utf16_file_is_kept(tmp_path: Path, write: Do) -> None:
    (tmp_path / "a").write_bytes("\ufeffold\r\n".encode("utf-16-le"))
    await write("a", "Été 😀\n")
    assert (tmp_path / "a").read_bytes() == "\ufeffÉté 😀\r\n".encode("utf-16-le")


@pytest.mark.parametrize(
    ("old", "content", "new"),
    [
        (b"a\r\nb\r\n", "x\ny\n", b"x\r\ny\r\n"),  # CRLF throughout: kept, as the model never sees the CR
        (b"a\r\nb\n", "x\ny\n", b"x\ny\n"),  # mixed: as given
        (b"a\nb\n", "x\r\ny\r\n", b"x\r\ny\r\n"),  # as given
        (b"a\r\nb\r\n", "x\r\ny\n", b"x\r\ny\n"),  # whoever writes CR means it
        (b"a", "x\ny\n", b"x\ny\n"),
    ],
)
async def test_the_line_endings_of_a_crlf_file_are_kept(
    tmp_path: Path, write: Do, old: bytes, content: str, new: bytes
) -> None:
    (tmp_path / "a").write_bytes(old)
    result = await write("a", content)
    assert (tmp_path / "a").read_bytes() == new
    assert ("CRLF" in result.content) is (new == b"x\r\ny\r\n" and old != b"a\nb\n")


async def test_writing_through_links_changes_the_target(tmp_path: Path, write: Do) -> None:
    (tmp_path / "sub").mkdir()
    target = tmp_path / "AGENTS.md"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    (tmp_path / "sub" / "LINK.md").symlink_to("../CLAUDE.md")
    for number, link in enumerate(("CLAUDE.md", "sub/LINK.md")):
        result = await write(link, f"new {number}")
        assert "Overwrote AGENTS.md" in result.content
        assert (tmp_path / link).is_symlink()
        assert target.read_text() == f"new {number}"
        assert mode(target) == 0o640


async def test_writing_through_a_dangling_link_creates_its_target_only_inside(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call, files: FileLedger
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "in").symlink_to("target")
    (work / "out").symlink_to(tmp_path / "new.txt")
    (work / "folder").symlink_to(tmp_path)
    (work / "loop").symlink_to("loop")
    context = make_context(work)
    assert not (await call(write_tool(files), context, file_path="in", content="x")).is_error
    assert (work / "target").read_text() == "x"
    for path in ("out", "folder/new.txt", "../new.txt", str(tmp_path / "new.txt"), "loop"):
        assert (await call(write_tool(files), context, file_path=path, content="x")).is_error
    assert not (tmp_path / "new.txt").exists()


async def test_what_is_no_file_is_refused(
    tmp_path: Path, write: Do, files: FileLedger, context: ToolContext, call: Call
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "sock"))
    try:
        for path in ("pipe", "folder", "sock", ".", "new/", "file/below"):
            async with asyncio.timeout(1):
                assert (await write(path, "x")).is_error
        async with asyncio.timeout(1):
            edited = await call(edit_tool(files), context, file_path="pipe", old_string="a", new_string="b")
        assert "FIFO" in edited.content
    finally:
        listener.close()
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "pipe", "sock"]


async def test_lone_surrogates_are_refused(tmp_path: Path, write: Do) -> None:
    assert (await write("a", "x\ud800")).is_error
    assert list(tmp_path.iterdir()) == []


async def test_an_unchanged_file_may_be_written_whatever_its_time(tmp_path: Path, write: Do, read: Do) -> None:
    path = tmp_path / "a"
    path.write_text("same\n")
    await read("a")
    os.utime(path, (1, 1))
    assert not (await write("a", "one\n")).is_error
    path.write_text("one\n")
    assert not (await write("a", "two\n")).is_error


async def test_a_file_changed_since_it_was_read_is_not_overwritten(tmp_path: Path, write: Do, read: Do) -> None:
    path = tmp_path / "a"
    path.write_text("1\n2\n")
    await read("a")
    status = path.stat()
    path.write_text("1\n3\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    result = await write("a", "mine\n")
    assert result.is_error
    assert "changed since it was read" in result.content
    assert path.read_text() == "1\n3\n"
    await read("a")
    assert not (await write("a", "mine\n")).is_error


async def test_a_file_changed_since_it_was_written_is_not_overwritten(tmp_path: Path, write: Do) -> None:
    await write("a", "1\n")
    (tmp_path / "a").write_text("2\n")
    assert (await write("a", "3\n")).is_error
    assert (tmp_path / "a").read_text() == "2\n"


async def test_a_deleted_file_is_reported_once(tmp_path: Path, write: Do, read: Do) -> None:
    (tmp_path / "a").write_text("1\n")
    await read("a")
    (tmp_path / "a").unlink()
    result = await write("a", "2\n")
    assert result.is_error
    assert "does not exist" in result.content
    assert not (tmp_path / "a").exists()
    assert (await write("a", "2\n")).content.startswith("Created")


async def test_reading_a_page_counts_as_reading_the_file(
    tmp_path: Path, files: FileLedger, context: ToolContext, call: Call, write: Do
) -> None:
    (tmp_path / "a").write_text("1\n2\n3\n")
    await call(read_tool(files), context, file_path="a", offset=2, limit=1)
    (tmp_path / "a").write_text("1\n2\nchanged\n")
    assert (await write("a", "x")).is_error


async def test_sessions_do_not_know_what_others_have_read(
    tmp_path: Path, files: FileLedger, make_context: Callable[..., ToolContext], call: Call, read: Do
) -> None:
    (tmp_path / "a").write_text("1\n")
    await read("a")
    (tmp_path / "a").write_text("2\n")
    other = make_context(tmp_path, session_id="other")
    result = await call(write_tool(files), other, file_path="a", content="3\n")
    assert "had not been read" in result.content


def test_a_forgotten_session_has_read_nothing() -> None:
    files = FileLedger()
    files.remember("one", "/a", digest_of(b"x"))
    files.remember("two", "/a", digest_of(b"x"))
    files.forget("one")
    assert files.known("one", "/a") is None
    assert files.known("two", "/a") == digest_of(b"x")


def test_the_memory_of_files_is_bounded() -> None:
    files = FileLedger()
    for number in range(MAX_FILES + 5):
        files.remember("one", f"/{number}", b"")
    assert files.known("one", "/4") is None
    assert files.known("one", "/5") is not None
    for number in range(MAX_SESSIONS):
        files.remember(f"s{number}", "/a", b"")
    assert files.known("one", "/5") is None


async def test_two_tools_that_change_one_file_at_a_time_lose_nothing(
    tmp_path: Path, files: FileLedger, make_context: Callable[..., ToolContext], call: Call
) -> None:
    (tmp_path / "a").write_text("".join(f"<{i}>\n" for i in range(24)))

    async def edit(number: int) -> ToolResult:
        context = make_context(tmp_path, session_id=str(number))
        return await call(edit_tool(files), context, file_path="a", old_string=f"<{number}>", new_string=f"[{number}]")

    results = await asyncio.gather(*(edit(number) for number in range(24)))
    assert [result.content for result in results if result.is_error] == []
    assert (tmp_path / "a").read_text() == "".join(f"[{i}]\n" for i in range(24))
