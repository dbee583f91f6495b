import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from pagekit import ROOT, Block, Reader, Stage, blocks_of, runnable
from scenes import SCENES

from agentframework.cli.arguments import parse

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_program_and_the_query_run_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key for no server")
    program, query = (block for block, _ in runnable(blocks_of(README)))
    with Reader(ROOT / "README.md", Stage(tmp_path), SCENES) as reader:
        printed = reader.read(replace(program, note="scene: summary_is_written"))
        assert printed.split() == ["Done.", "1", "tool", "calls,", "30", "tokens"]
        reader.read(query)
        assert reader.read(Block("python", "await ask()", 1, "scene: a_title")) == "A title.\n"


def test_every_command_line_that_is_shown_can_be_parsed() -> None:
    shown = [block for block in blocks_of(README) if block.language == "sh"]
    lines = [line for block in shown for line in block.text.splitlines() if "agentframework" in line]
    assert lines
    for line in lines:
        words = shlex.split(line.rpartition("| ")[2], comments=True)
        if words[1:] == ["--help"]:
            continue
        arguments = parse(words[1:])
        assert arguments is not None
        assert arguments.prompt


def test_the_layer_list_names_the_packages_there_are() -> None:
    table = README.split("## Layers")[1].split("## Licence")[0]
    listed = set(re.findall(r"`([a-z_]+)`", "\n".join(row.split("|")[1] for row in table.splitlines() if "|" in row)))
    package = ROOT / "agentframework"
    parts = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert listed - {"layer"} == parts - {"__init__", "__main__", "__pycache__"}


def test_make_knows_the_commands_that_are_named() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"^make (\w+)", README, re.M):
        assert re.search(rf"^{target}:", makefile, re.M)
