import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agentframework.tools import ToolContext, ToolResult
from tools_builtin.grep import grep_tool

Call = Callable[..., Awaitable[ToolResult]]
Grep = Callable[..., Awaitable[str]]
GREP = grep_tool()


@pytest.fixture
def grep(tmp_path: Path, context: ToolContext, call: Call) -> Grep:
    """``await grep("x", {"-i": True}, path="src")`` → the text of a result that is no error."""

    async def grep(pattern: str, more: dict[str, object] | None = None, **arguments: object) -> str:
        result = await call(GREP, context, {"pattern": pattern, **(more or {})}, **arguments)
        assert not result.is_error, result.content
        return result.content

    return grep


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "a.py").write_text("one\nneedle 1\nthree\nfour\nfive\nsix\nneedle 2\n")
    (tmp_path / "src" / "b.ts").write_text("Needle\nneedle\n")
    (tmp_path / "src" / "deep" / "c.js").write_text("no\n")
    (tmp_path / "src" / "deep" / "d.tsx").write_text("needle")
    for number, name in enumerate(["src/b.ts", "a.py", "src/deep/d.tsx"]):
        os.utime(tmp_path / name, (number, number))
    return tmp_path


@pytest.mark.usefixtures("tree")
class TestModes:
    async def test_files_are_listed_newest_first(self, grep: Grep) -> None:
        assert await grep("needle") == "src/deep/d.tsx\na.py\nsrc/b.ts"

    async def test_content_shows_path_line_and_text(self, grep: Grep) -> None:
        assert await grep("needle", output_mode="content") == "\n".join(
            ["a.py:2:needle 1", "a.py:7:needle 2", "src/b.ts:2:needle", "src/deep/d.tsx:1:needle"]
        )

    async def test_line_numbers_can_be_left_out(self, grep: Grep) -> None:
        assert await grep("1", {"-n": False}, output_mode="content") == "a.py:needle 1"

    async def test_context_lines_have_a_dash_and_groups_a_separator(self, grep: Grep) -> None:
        assert await grep("needle", {"-C": 1}, output_mode="content", path="a.py") == "\n".join(
            ["a.py:1-one", "a.py:2:needle 1", "a.py:3-three", "--", "a.py:6-six", "a.py:7:needle 2"]
        )
        assert await grep("needle", {"-A": 1}, output_mode="content", glob="*.py") == "\n".join(
            ["a.py:2:needle 1", "a.py:3-three", "--", "a.py:7:needle 2"]
        )
        assert await grep("needle 2", {"-B": 2, "-n": False}, output_mode="content") == "\n".join(
            ["a.py-five", "a.py-six", "a.py:needle 2"]
        )

    async def test_counts_are_of_lines(self, grep: Grep) -> None:
        assert await grep("needle", output_mode="count") == "\n".join(
            ["a.py:2", "src/b.ts:1", "src/deep/d.tsx:1", "[4 matching lines in 3 files]"]
        )

    async def test_case_can_be_ignored(self, grep: Grep) -> None:
        assert "src/b.ts:2\n" in await grep("needle", {"-i": True}, output_mode="count")

    async def test_a_match_over_several_lines_is_shown_line_by_line(self, grep: Grep) -> None:
        assert await grep("one.needle", multiline=True, output_mode="content") == "a.py:1:one\na.py:2:needle 1"
        assert await grep("one\\nneedle", multiline=True) == "a.py"

    @pytest.mark.parametrize(
        ("glob", "expected"),
        [
            ("*.ts", {"src/b.ts"}),
            ("*.{ts,tsx}", {"src/b.ts", "src/deep/d.tsx"}),
            ("*.{p{y,yi},ts}", {"a.py", "src/b.ts"}),
            ("src/**/*.tsx", {"src/deep/d.tsx"}),
            ("src/*.ts", {"src/b.ts"}),
            ("?.py", {"a.py"}),
            ("!*.{ts,tsx}", {"a.py"}),
        ],
    )
    async def test_globs_choose_files(self, grep: Grep, glob: str, expected: set[str]) -> None:
        assert set((await grep("needle", glob=glob)).split("\n")) == expected

    async def test_types_choose_files(self, grep: Grep) -> None:
        assert await grep("needle", type="py") == "a.py"

    async def test_a_directory_or_a_file_can_be_searched(self, grep: Grep, tree: Path) -> None:
        assert await grep("needle", path="src/deep") == "src/deep/d.tsx"
        assert await grep("needle", path=str(tree / "src" / "b.ts")) == "src/b.ts"
        assert await grep("needle", path="src/b.ts", output_mode="content") == "src/b.ts:2:needle"
        assert await grep("needle", path="a.py", glob="*.ts") == "a.py"  # a file named is searched, whatever the glob

    async def test_the_rest_is_counted_when_the_head_is_limited(self, grep: Grep) -> None:
        files = await grep("needle", head_limit=2)
        assert files.split("\n")[:2] == ["src/deep/d.tsx", "a.py"]
        assert "2 of 3 files" in files
        lines = await grep("needle", output_mode="content", head_limit=1)
        assert lines.startswith("a.py:2:needle 1\n[1 of 4 lines")
        assert "1 of 3 files" in await grep("needle", output_mode="count", head_limit=1)
        assert "of" not in await grep("needle", head_limit=3)
        assert await grep("needle", head_limit=0) == await grep("needle")

    async def test_no_match_says_so(self, grep: Grep) -> None:
        for mode in ("files_with_matches", "content", "count"):
            assert await grep("no such text", output_mode=mode) == "[no matches for no such text]"


@pytest.mark.parametrize("pattern", ["-e", "--files", "-", "--", "--pre=rm"])
async def test_a_pattern_that_looks_like_an_option_is_a_pattern(tmp_path: Path, grep: Grep, pattern: str) -> None:
    (tmp_path / "a").write_text(f"x {pattern} y\n")
    (tmp_path / "b").write_text("nothing\n")
    assert await grep(pattern) == "a"


@pytest.mark.parametrize("name", ["-a", "--help", "a b", "a:1:b", 'q"', "é", "a\nb", "a\x1b[31m"])
async def test_any_file_name_works(tmp_path: Path, grep: Grep, name: str) -> None:
    (tmp_path / name).write_text("needle\n")
    for mode in ("files_with_matches", "content", "count"):
        text = await grep("needle", output_mode=mode)
        assert len(text.splitlines()) == (2 if mode == "count" else 1)
        assert text == await grep("needle", output_mode=mode, path=name)


async def test_names_and_text_that_are_no_utf8_are_shown_escaped(tmp_path: Path, grep: Grep) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9")).write_bytes(b"needle \xff\n")
    assert await grep("needle", output_mode="content") == '"caf\\udce9":1:needle \\xff'
    assert await grep("needle") == '"caf\\udce9"'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pattern": "("}, "unclosed group"),
        ({"pattern": "(?=a)"}, "look-around"),
        ({"pattern": "a\nb"}, "multiline"),
        ({"pattern": "a", "type": "nope"}, "unrecognized file type: nope"),
        ({"pattern": "a", "glob": "[a"}, "unclosed character class"),
        ({"pattern": "a\0b"}, "NUL"),
        ({"pattern": "\ud800"}, "surrogate"),
        ({"pattern": "a", "path": "nope"}, "nope cannot be searched"),
        ({"pattern": "a", "path": ".."}, "outside the working directory"),
    ],
)
async def test_what_cannot_be_searched_is_an_error_with_the_reason(
    tmp_path: Path, context: ToolContext, call: Call, arguments: dict[str, str], message: str
) -> None:
    (tmp_path / "a").write_text("a")
    result = await call(GREP, context, arguments)
    assert result.is_error
    assert message in result.content


async def test_crlf_files_are_shown_without_the_carriage_return(tmp_path: Path, grep: Grep) -> None:
    (tmp_path / "a").write_bytes(b"one\r\nneedle\r\ntwo\r\n")
    assert await grep("needle", {"-C": 1}, output_mode="content") == "a:1-one\na:2:needle\na:3-two"


async def test_utf16_files_with_a_signature_are_searched(tmp_path: Path, grep: Grep) -> None:
    (tmp_path / "a").write_bytes("\ufeffnéedle\r\n".encode("utf-16-le"))
    assert await grep("néedle", output_mode="content") == "a:1:néedle"
