import asyncio
import dataclasses
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agentframework._base.abort import AbortedError, AbortSignal
from agentframework.errors import MissingDependencyError
from agentframework.sandbox import LocalSandbox, OutsideWorkspaceError, ResolvedPath
from agentframework.tools import ToolContext, ToolResult
from agentframework.tools.executor import MAX_RESULT_CHARACTERS
from tools_builtin import _matches
from tools_builtin._matches import CountReader, PathReader, RowReader
from tools_builtin._ripgrep import find_program, search
from tools_builtin.grep import grep_tool

Call = Callable[..., Awaitable[ToolResult]]
GREP = grep_tool()


async def test_hidden_files_are_searched_but_not_git_node_modules_binaries_and_links(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    for name in (".env", ".git/config", "sub/.git/x", "node_modules/m/a.js", "sub/node_modules/a.js", "sub/ok"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("needle\n")
    (tmp_path / "binary").write_bytes(b"needle\0\n")
    (tmp_path / "link").symlink_to("sub/ok")
    (tmp_path / "linked").symlink_to("sub")
    result = await call(GREP, context, pattern="needle")
    assert set(result.content.split("\n")) == {".env", "sub/ok"}
    assert (await call(GREP, context, pattern="needle", glob="**/*.js")).content.startswith("[no matches")


async def test_nothing_outside_is_ever_found(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    work.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("needle\n")
    (work / "file").symlink_to(outside / "secret")
    (work / "folder").symlink_to(outside)
    (work / "loop").symlink_to(".")
    context = make_context(work)
    assert (await call(GREP, context, pattern="needle")).content.startswith("[no matches")
    for path in ("file", "folder", "folder/secret", "../outside", str(outside)):
        result = await call(GREP, context, pattern="needle", path=path, output_mode="content")
        assert result.is_error
        assert "outside the working directory" in result.content
    for glob in ("../**", f"{outside}/**"):
        assert (await call(GREP, context, pattern="needle", glob=glob)).content.startswith("[no matches")


async def test_a_search_path_may_be_a_link_to_a_place_inside(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("needle\n")
    (tmp_path / "pub").symlink_to("real")
    assert (await call(GREP, context, pattern="needle", path="pub")).content == "real/a"


async def test_files_that_gitignore_excludes_are_searched_only_when_asked_for(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("build/\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "out.js").write_text("needle generated\n")
    (tmp_path / "a.js").write_text("needle\n")
    assert (await call(GREP, context, pattern="needle")).content == "a.js"
    missed = await call(GREP, context, pattern="generated")
    assert "files that .gitignore excludes were not searched" in missed.content
    assert (await call(GREP, context, pattern="generated", glob="**")).content == "build/out.js"
    assert (await call(GREP, context, pattern="generated", path="build/out.js")).content == "build/out.js"
    assert (await call(GREP, context, pattern="nowhere", glob="**")).content == "[no matches for nowhere]"


async def test_settings_of_whoever_runs_the_process_do_not_count(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / ".ignore").write_text("*\n")
    (work / "a").write_text("needle\n")
    assert (await call(GREP, make_context(work), pattern="needle")).content == "a"


async def test_what_the_sandbox_refuses_is_withheld_and_counted(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    class Strict(LocalSandbox):
        def resolve(self, path: str) -> ResolvedPath:
            place = super().resolve(path)
            if place.path.endswith(".env"):
                raise OutsideWorkspaceError("not to be read")
            return place

    (tmp_path / ".env").write_text("KEY=1\nKEY=2\n")
    (tmp_path / "a").write_text("KEY=x\n")
    context = dataclasses.replace(make_context(tmp_path), sandbox=Strict(tmp_path))
    for mode in ("files_with_matches", "content", "count"):
        text = (await call(GREP, context, pattern="KEY", output_mode=mode)).content
        assert "KEY=1" not in text
        assert ".env" not in text
        assert "1 file withheld" in text
        assert " of " not in text
    assert (await call(GREP, context, pattern="KEY", path=".env")).is_error


async def test_nothing_but_files_and_directories_is_opened(tmp_path: Path, context: ToolContext, call: Call) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").write_text("needle\n")
    async with asyncio.timeout(5):
        assert (await call(GREP, context, pattern="needle")).content == "a"
        assert "FIFO" in (await call(GREP, context, pattern="needle", path="pipe")).content


async def test_a_result_is_never_longer_than_its_limit(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a").write_text("".join(f"needle {i} {'x' * 100}\n" for i in range(3_000)))
    for i in range(1_500):
        (tmp_path / f"{'n' * 40}{i}").write_text("other\n")
    for pattern, mode in (("needle", "content"), ("other", "files_with_matches"), ("other", "count")):
        text = (await call(GREP, context, pattern=pattern, output_mode=mode)).content
        assert 20_000 < len(text) <= MAX_RESULT_CHARACTERS
        assert "characters in all" not in text
        rows = [line for line in text.split("\n") if not line.startswith("[")]
        assert f"[{len(rows)} of {3_000 if mode == 'content' else 1_500} " in text


async def test_a_search_with_very_many_matches_is_stopped(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a").write_text("needle\n" * 400_000)
    async with asyncio.timeout(30):
        text = (await call(GREP, context, pattern="needle", output_mode="content", head_limit=5)).content
    assert text.startswith("a:1:needle\na:2:needle\n")
    assert "stopped at 5000 results; there are more" in text


async def test_of_a_long_line_the_part_with_the_match_is_shown(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    (tmp_path / "min.js").write_text("é" * 1_000_000 + "needle" + "z" * 1_000_000 + "\nneedle\n")
    first, second = (await call(GREP, context, pattern="needle", output_mode="content")).content.split("\n")
    assert first.startswith("min.js:1:[...] é")
    assert "needle" in first
    assert "3000006 bytes" in first
    assert "\\x" not in first
    assert len(first) < 700
    assert second == "min.js:2:needle"


async def test_a_directory_that_cannot_be_read_is_named(tmp_path: Path, context: ToolContext, call: Call) -> None:
    (tmp_path / "a").write_text("needle\n")
    (tmp_path / "shut").mkdir()
    fd = os.open(tmp_path / "shut", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("x" * 250, dir_fd=fd)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    lines = (await call(GREP, context, pattern="needle")).content.split("\n")
    assert lines[0] == "a"
    assert lines[1].startswith("[not read, for lack of permission or another fault: shut/xxx")


def running(directory: Path) -> list[str]:
    """Processes whose working directory is below ``directory``."""
    found: list[str] = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(str(directory)):
                found.append(pid)
        except OSError:
            continue
    return found


needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@needs_proc
@pytest.mark.parametrize("rounds", [0, 1, 3, 10, 30])
async def test_an_aborted_search_leaves_no_process(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call, rounds: int
) -> None:
    (tmp_path / "a").write_text("needle\n" * 400_000)
    abort = AbortSignal()
    task = asyncio.ensure_future(
        call(GREP, make_context(tmp_path, abort=abort), pattern="needle", output_mode="content")
    )
    for _ in range(rounds):
        await asyncio.sleep(0)
    abort.abort()
    with pytest.raises(AbortedError):
        await task
    assert running(tmp_path) == []


@needs_proc
async def test_a_cancelled_search_leaves_no_process(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("needle\n" * 400_000)
    began = asyncio.Event()

    def take(piece: bytes) -> bool:
        began.set()
        return True

    arguments = ["--no-config", "--json", "--regexp=needle", "./"]
    task = asyncio.ensure_future(search(arguments, str(tmp_path.resolve()), take))
    async with asyncio.timeout(20):
        await began.wait()
        assert running(tmp_path) != []
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert running(tmp_path) == []


async def test_a_search_that_was_aborted_before_never_begins(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    abort = AbortSignal()
    abort.abort()
    with pytest.raises(AbortedError):
        await call(GREP, make_context(tmp_path, abort=abort), pattern="a")


async def test_a_reader_that_has_enough_ends_the_process(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("needle\n" * 100_000)
    taken: list[bytes] = []

    def take(piece: bytes) -> bool:
        taken.append(piece)
        return False

    outcome = await search(["--no-config", "--regexp=needle", "./"], str(tmp_path.resolve()), take)
    assert not outcome.complete
    assert outcome.failure is None
    assert len(taken) == 1


def test_without_the_package_it_says_how_to_install_it() -> None:
    with pytest.raises(MissingDependencyError, match=r"pip install ripgrep==14\.1\.0"):
        find_program("no-such-distribution-at-all", "no-such-program")


def test_the_program_is_the_one_of_the_package() -> None:
    version = subprocess.run([find_program(), "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert version.stdout.startswith("ripgrep 14.1.0")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_readers_do_not_care_how_the_output_is_cut(size: int) -> None:
    paths, counts, rows = PathReader(), CountReader(), RowReader()
    records = (
        b'{"type":"begin","data":{"path":{"text":"./a"}}}\n'
        b'{"type":"match","data":{"path":{"bytes":"Li9jYWbp"},"lines":{"text":"x\\ny\\n"},"line_number":3,'
        b'"absolute_offset":0,"submatches":[{"match":{"text":"x"},"start":0,"end":1}]}}\n'
        b'{"type":"end","data":{}}\n'
    )
    for reader, output in ((paths, b"./a\0./b\nc\0"), (counts, b"./a\x0012\n./b\nc\x003\n"), (rows, records)):
        for at in range(0, len(output), size):
            assert reader.take(output[at : at + size])
    assert paths.paths == ["a", "b\nc"]
    assert counts.counts == [("a", 12), ("b\nc", 3)]
    assert [(row.path, row.number, row.text) for row in rows.rows] == [
        (os.fsdecode(b"caf\xe9"), 3, "x"),
        (os.fsdecode(b"caf\xe9"), 4, "y"),
    ]


def test_an_enormous_record_is_passed_over_and_counted() -> None:
    reader = RowReader()
    piece = b"x" * (1 << 20)
    for _ in range(40):
        assert reader.take(piece)
    match = b'{"type":"match","data":{"path":{"text":"./a"},"lines":{"text":"x\\n"},"line_number":1,"submatches":[]}}\n'
    assert reader.take(b"rest\n" + match)
    assert reader.oversized == 1
    assert [row.path for row in reader.rows] == ["a"]


def test_readers_stop_one_after_their_capacity() -> None:
    paths = PathReader()
    assert paths.take(b"a\0" * _matches.MAX_PATHS)
    assert not paths.take(b"a\0")
