"""The house rules about modules that no linter knows."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("agentframework", "tools_builtin", "commands", "examples", "benchmarks")
MAX_LINES = 400
DRAWERS = {"common", "helpers", "misc", "util", "utils"}


def _written_here() -> list[Path]:
    """The modules of the project, without the environments that the benchmarks make in a hidden folder."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return sorted(path for path in found if not any(part.startswith(".") for part in path.relative_to(ROOT).parts))


MODULES = _written_here()


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_no_module_is_longer_than_400_lines() -> None:
    lengths = {_name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {name: lines for name, lines in lengths.items() if lines > MAX_LINES} == {}


def test_no_module_or_folder_is_a_drawer_for_anything() -> None:
    assert [_name(path) for path in MODULES if DRAWERS & {*path.relative_to(ROOT).parts, path.stem}] == []


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_every_module_says_why_it_exists(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
