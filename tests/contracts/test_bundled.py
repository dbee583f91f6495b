"""Loading the bundled folders in a checkout, where strangers may own their names (wheels: test_wheel.py)."""

import shutil
import subprocess
import sys
from pathlib import Path

import commands
import tools_builtin
from agentframework.bundled import load_commands, load_tools_builtin

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "import pathlib\npathlib.Path('ran').touch()\n"


def _run(code: str, folder: Path) -> str:
    run = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


def _plant_strangers(folder: Path) -> None:
    for name in ("tools_builtin", "commands"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(HOSTILE, encoding="utf-8")


def test_a_checkout_gives_the_same_modules_as_a_plain_import() -> None:
    assert load_tools_builtin() is tools_builtin
    assert load_commands() is commands


def test_a_stranger_in_the_current_directory_is_never_run(tmp_path: Path) -> None:
    _plant_strangers(tmp_path)
    code = """
from agentframework.bundled import load_commands, load_tools_builtin
print(load_tools_builtin().__file__, load_commands().__file__)
"""
    files = _run(code, tmp_path).split()
    assert files == [str(ROOT / "tools_builtin/__init__.py"), str(ROOT / "commands/__init__.py")]
    assert not (tmp_path / "ran").exists()


def test_a_stranger_that_is_already_imported_keeps_its_name(tmp_path: Path) -> None:
    _plant_strangers(tmp_path)
    code = """
import commands
from agentframework.bundled import load_commands
ours = load_commands()
import commands as still
assert still is commands is not ours and load_commands() is ours
print(ours.__name__)
"""
    assert _run(code, tmp_path) == "agentframework._bundled.commands"


def test_what_lies_beside_an_installed_package_is_not_taken_for_ours(tmp_path: Path) -> None:
    installed = tmp_path / "agentframework"
    installed.mkdir()
    for name in ("__init__.py", "bundled.py"):
        shutil.copy(ROOT / "agentframework" / name, installed)
    shutil.copytree(ROOT / "agentframework" / "errors", installed / "errors")
    _plant_strangers(tmp_path)
    code = """
from agentframework.bundled import load_commands
from agentframework.errors import ConfigurationError
try:
    load_commands()
except ConfigurationError as error:
    print(error)
"""
    assert "commands" in _run(code, tmp_path)
    assert not (tmp_path / "ran").exists()
