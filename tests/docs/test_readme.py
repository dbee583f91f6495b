import ast
import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

import agentframework
from agentframework.testing import ScriptedProvider, call, say

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """The README's code blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.M | re.S)


class Stand:
    """Stands in for the provider classes that the README names."""

    def __init__(self, *steps: Any) -> None:
        self.provider = ScriptedProvider(*steps)

    def __call__(self) -> ScriptedProvider:
        return self.provider


def test_the_first_program_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    stand = Stand(say(call("Write", file_path="SUMMARY.md", content="Short.")), "Done.")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(agentframework, "AnthropicProvider", stand, raising=False)
    exec(compile(blocks("python")[0], "README.md", "exec"), {"__name__": "__main__"})
    assert (tmp_path / "SUMMARY.md").read_text() == "Short."
    assert capsys.readouterr().out.split() == ["Done.", "1", "tool", "calls,", "30", "tokens"]


def test_the_query_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(agentframework, "LocalProvider", Stand("A title."), raising=False)
    space: dict[str, Any] = {}
    exec(compile(blocks("python")[1], "README.md", "exec"), space)
    asyncio.run(space["ask"]())
    assert capsys.readouterr().out == "A title.\n"


def test_every_python_block_is_run_by_a_test_above() -> None:
    assert len(blocks("python")) == 2
    for block in blocks("python"):
        ast.parse(block)


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
