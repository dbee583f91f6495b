import ast
import importlib.util
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agentframework.testing import ScriptedProvider, call, say

EXAMPLES = Path(__file__).parents[2] / "examples"

SCRIPTS = {
    "01_hello": (say("I will look. ", call("Glob", pattern="*")), "There is one file, notes.txt."),
}


def load(path: Path) -> Callable[..., Awaitable[object]]:
    """The example's ``main``."""
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def test_every_example_is_numbered_once_and_has_a_script_here() -> None:
    names = sorted(path.stem for path in EXAMPLES.glob("*.py"))
    assert names == sorted(SCRIPTS)
    numbers = [re.match(r"(\d\d)_", name) for name in names]
    assert all(numbers)
    assert len({found.group(1) for found in numbers if found}) == len(names)


@pytest.mark.parametrize("name", sorted(SCRIPTS))
async def test_the_example_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    monkeypatch.chdir(tmp_path)
    with ScriptedProvider(*SCRIPTS[name]) as provider:
        await load(EXAMPLES / f"{name}.py")(provider)
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_one_screen_and_says_what_it_shows(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    assert ast.get_docstring(ast.parse(text))
