import dataclasses
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agentframework._base.abort import AbortedError, AbortSignal
from agentframework.sandbox import LocalSandbox, OutsideWorkspaceError, ResolvedPath
from agentframework.tools import ToolContext, ToolResult
from agentframework.tools.executor import MAX_RESULT_CHARACTERS
from tools_builtin._atomic import TEMPORARY_SUFFIX
from tools_builtin.glob import MAX_FILES, glob_tool

Call = Callable[..., Awaitable[ToolResult]]
GLOB = glob_tool()


def make(root: Path, *names: str) -> None:
    for number, name in enumerate(names):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(os.fsencode(name))
        os.utime(root / name, (number, number))


async def test_the_newest_files_come_first(tmp_path: Path, context: ToolContext, call: Call) -> None:
    make(tmp_path, "c.py", "sub/a.py", "b.py", "x.txt")
    result = await call(GLOB, context, pattern="**/*.py")
    assert result.content == "b.py\nsub/a.py\nc.py"
    assert (await call(GLOB, context, pattern="*.py", path="sub")).content == "sub/a.py"
    assert (await call(GLOB, context, pattern="*.py", path=str(tmp_path / "sub"))).content == "sub/a.py"


async def test_hidden_files_are_found_but_nothing_in_git_and_node_modules(
    tmp_path: Path, context: ToolContext, call: Call
) -> None:
    make(tmp_path, ".env", ".git/config", "a/.git/x", "node_modules/m/index.js", "a/node_modules/x", ".github/a.yml")
    make(tmp_path, f".abc{TEMPORARY_SUFFIX}")
    result = await call(GLOB, context, pattern="**/*")
    assert set(result.content.split("\n")) == {".env", ".github/a.yml"}


async def test_no_match_says_so(context: ToolContext, call: Call) -> None:
    result = await call(GLOB, context, pattern="*.nope")
    assert not result.is_error
    assert result.content == "[no files match *.nope]"


async def test_more_files_than_fit_are_counted(tmp_path: Path, context: ToolContext, call: Call) -> None:
    for number in range(MAX_FILES + 34):
        (tmp_path / f"{number}").touch()
        os.utime(tmp_path / f"{number}", (number, number))
    lines = (await call(GLOB, context, pattern="*")).content.split("\n")
    assert lines[:-1] == [str(number) for number in range(MAX_FILES + 33, 33, -1)]
    assert "1000 of 1034 files" in lines[-1]


async def test_long_paths_stay_within_the_limit_of_a_result(tmp_path: Path, context: ToolContext, call: Call) -> None:
    folder = tmp_path / ("d" * 200)
    folder.mkdir()
    for number in range(300):
        (folder / f"{number:0>200}").touch()
    result = await call(GLOB, context, pattern="**/*")
    assert len(result.content) <= MAX_RESULT_CHARACTERS
    *paths, note = result.content.split("\n")
    assert note.startswith(f"[{len(paths)} of 300 files")
    assert all(len(path) == 401 for path in paths)


async def test_each_result_is_one_line_whatever_its_name(tmp_path: Path, context: ToolContext, call: Call) -> None:
    names = ["a\nb", "a\rb", "a\x1b[31mb", '"q', "tab\tname", os.fsdecode(b"caf\xe9")]
    make(tmp_path, *names)
    result = await call(GLOB, context, pattern="*")
    assert len(result.content.splitlines()) == len(names)
    assert '"a\\nb"' in result.content
    result.content.encode()


async def test_links_to_directories_are_not_followed_and_those_to_files_must_lead_inside(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    make(outside, "secret.txt", "sub/secret.txt")
    make(work, "real/a.txt")
    (work / "d").symlink_to(outside)
    (work / "pub").symlink_to("real")
    (work / "loop").symlink_to(".")
    (work / "h").symlink_to(outside / "secret.txt")
    (work / "in").symlink_to("real/a.txt")
    context = make_context(work)
    every = await call(GLOB, context, pattern="**/*")
    assert set(every.content.split("\n")[:-1]) == {"real/a.txt", "in"}
    assert every.content.endswith("[1 file withheld: not within the working directory, or not to be read]")
    assert (await call(GLOB, context, pattern="d/**")).content == "[no files match d/**]"
    for arguments in (
        {"pattern": "*", "path": "d"},
        {"pattern": "*", "path": ".."},
        {"pattern": "../*"},
        {"pattern": f"{outside}/*"},
        {"pattern": "d/../../outside/*"},
    ):
        result = await call(GLOB, context, **arguments)
        assert "secret" not in result.content
    assert (await call(GLOB, context, pattern="*", path="pub")).content == "real/a.txt"


async def test_absolute_patterns_and_those_with_dots_work_inside(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    make(tmp_path, "work/a/x.py", "work/b/y.py", "more/z.py")
    context = make_context(tmp_path / "work", additional_directories=[tmp_path / "more"])
    assert (await call(GLOB, context, pattern=f"{tmp_path}/work/a/*.py")).content == "a/x.py"
    assert (await call(GLOB, context, pattern=f"{tmp_path}/work/a/x.py")).content == "a/x.py"
    assert (await call(GLOB, context, pattern="../b/*.py", path="a")).content == "b/y.py"
    assert (await call(GLOB, context, pattern="./a//*.py")).content == "a/x.py"
    assert (await call(GLOB, context, pattern=f"{tmp_path}/more/*.py")).content == f"{tmp_path}/more/z.py"
    both = await call(GLOB, context, pattern=f"{{a/*,{tmp_path}/work/a/*,b/*}}")
    assert sorted(both.content.split("\n")) == ["a/x.py", "b/y.py"]


@pytest.mark.parametrize("pattern", ["a/*/../b", "/", "a\0b", "{a,b}" * 20])
async def test_a_pattern_that_makes_no_sense_is_refused(context: ToolContext, call: Call, pattern: str) -> None:
    assert (await call(GLOB, context, pattern=pattern)).is_error


async def test_where_there_is_no_directory_is_told(tmp_path: Path, context: ToolContext, call: Call) -> None:
    make(tmp_path, "file")
    missing = await call(GLOB, context, pattern="*", path="nope")
    assert missing.is_error
    assert "nope does not exist" in missing.content
    assert "not a directory" in (await call(GLOB, context, pattern="*", path="file")).content


async def test_a_directory_that_cannot_be_read_is_named(tmp_path: Path, context: ToolContext, call: Call) -> None:
    make(tmp_path, "a", "shut/b")
    # Deeper than a path may be long: nobody can open it by its path, not even root.
    fd = os.open(tmp_path / "shut", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("x" * 250, dir_fd=fd)
        below = os.open("x" * 250, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    lines = (await call(GLOB, context, pattern="**/*")).content.split("\n")
    assert set(lines[:-1]) == {"a", "shut/b"}
    assert lines[-1].startswith("[not read, for lack of permission or another fault: shut/xxx")
    assert len(lines[-1]) < 400


async def test_what_the_sandbox_refuses_is_withheld_and_counted(
    tmp_path: Path, make_context: Callable[..., ToolContext], call: Call
) -> None:
    class Strict(LocalSandbox):
        def resolve(self, path: str) -> ResolvedPath:
            place = super().resolve(path)
            if place.path.endswith(".env"):
                raise OutsideWorkspaceError("not to be read")
            return place

    make(tmp_path, ".env", "a", "b/.env")
    context = dataclasses.replace(make_context(tmp_path), sandbox=Strict(tmp_path))
    lines = (await call(GLOB, context, pattern="**/*")).content.split("\n")
    assert lines[0] == "a"
    assert lines[1].startswith("[2 files withheld")


async def test_an_aborted_search_ends(tmp_path: Path, make_context: Callable[..., ToolContext], call: Call) -> None:
    make(tmp_path, "a")
    abort = AbortSignal()
    abort.abort()
    with pytest.raises(AbortedError):
        await call(GLOB, make_context(tmp_path, abort=abort), pattern="*")
