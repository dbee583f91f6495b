from pathlib import Path

import pytest
from pagekit import PAGES, Block, Reader, Stage, blocks_of, compare, runnable
from scenes import SCENES

SCENES_OF_THE_README = {"summary_is_written", "a_title"}
KNOWN = {"json", "python", "sh", "text"}


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stage:
    monkeypatch.chdir(tmp_path)
    for name in ("ANTHROPIC", "OPENAI"):
        monkeypatch.setenv(f"{name}_API_KEY", "a key for no server")
        monkeypatch.delenv(f"{name}_BASE_URL", raising=False)
    return Stage(tmp_path)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_blocks_of_a_page_run_and_print_what_it_quotes(path: Path, stage: Stage) -> None:
    with Reader(path, stage, SCENES) as reader:
        for block, quoted in runnable(blocks_of(path.read_text(encoding="utf-8"))):
            reader.read(block, quoted)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_quoted_output_follows_the_block_that_prints_it(path: Path) -> None:
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    quoted = [block for block in blocks if block.language in ("json", "text")]
    assert quoted == [after for _, after in runnable(blocks) if after is not None]
    assert {block.language for block in blocks} <= KNOWN


def test_every_scene_is_played_on_some_page() -> None:
    asked = {block.scene for path in PAGES for block in blocks_of(path.read_text(encoding="utf-8"))}
    assert asked - {None} | SCENES_OF_THE_README == set(SCENES)


def test_a_wrong_quote_does_not_pass() -> None:
    compare(Block("text", "one … three", 1, ""), "one two three\n")
    with pytest.raises(AssertionError, match="line 7 quotes"):
        compare(Block("text", "one … three", 7, ""), "one two four\n")
    with pytest.raises(AssertionError, match="line 9 quotes"):
        compare(Block("json", '{"id": "…", "n": 1}', 9, ""), '{"id": "x", "n": 2}')


def test_blocks_share_names_unless_one_stands_alone(stage: Stage) -> None:
    page = "```python\nname = 1\n```\n\n```python\nprint(name)\n```\n\n<!-- alone -->\n```python\nprint(name)\n```\n"
    first, second, third = (block for block, _ in runnable(blocks_of(page)))
    with Reader(Path("page.md"), stage, SCENES) as reader:
        reader.read(first)
        assert reader.read(second) == "1\n"
        with pytest.raises(NameError):
            reader.read(third)
