"""The wheel: built once, installed into an environment of its own, and used in a folder full of strangers."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "import pathlib\npathlib.Path({marker!r}).touch()\n"
STRANGERS = ("commands", "tools_builtin")
# Third-party names that the program imports once it runs.
SHADOWS = ("anyio", "httpx2", "prompt_toolkit", "pydantic", "rich", "yaml")


def _checked(command: list[str], folder: Path) -> str:
    run = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = ["build", "--target", "wheel", "--directory", str(folder)]
    _checked([sys.executable, "-m", "hatchling", *build], ROOT)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment with the wheel in it, and a stranger's `commands` beside it."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)]
    _checked([sys.executable, "-m", "pip", "--python", str(python), *install], folder)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site_packages = Path(_checked([str(python), "-c", where], folder).strip())
    # The dependencies come from the environment of this run; its .pth files, and with them the editable
    # install of this checkout, are not followed from there.
    (site_packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    _plant_strangers(site_packages, folder / "ran")
    return python


@pytest.fixture
def project(tmp_path: Path) -> Path:
    _plant_strangers(tmp_path, tmp_path / "ran")
    return tmp_path


def _plant_strangers(folder: Path, marker: Path) -> None:
    for name in STRANGERS:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(HOSTILE.format(marker=str(marker)), encoding="utf-8")


def _nobody_else_ran(project: Path, python: Path) -> bool:
    return not (project / "ran").exists() and not (python.parents[1] / "ran").exists()


def test_the_wheel_installs_one_name_only(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {"agentframework", "agentframework-0.1.0.dist-info"}
    assert "agentframework/py.typed" in names
    assert not any("__pycache__" in name for name in names)


def test_the_wheel_holds_every_bundled_file(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    files = [path.relative_to(ROOT) for folder in STRANGERS for path in (ROOT / folder).rglob("*.py")]
    assert files
    assert {f"agentframework/_bundled/{path.as_posix()}" for path in files} <= names


def test_installed_the_bundled_folders_come_from_the_wheel(python: Path, project: Path) -> None:
    code = """
from agentframework.bundled import load_commands, load_tools_builtin
print(load_tools_builtin().__name__, load_commands().__name__)
"""
    loaded = _checked([str(python), "-c", code], project).split()
    assert loaded == ["agentframework._bundled.tools_builtin", "agentframework._bundled.commands"]
    assert _nobody_else_ran(project, python)


def test_installed_the_built_in_tools_and_commands_are_found(python: Path, project: Path) -> None:
    code = """
from agentframework import builtin_commands, builtin_tools
tools = builtin_tools()
tools.pick("Read", "Write", "Edit", "Glob", "Grep", "Bash")
print(len(list(tools)), len(list(builtin_commands())))
"""
    tools, commands = _checked([str(python), "-c", code], project).split()
    assert int(tools) > 0
    assert int(commands) > 0
    assert _nobody_else_ran(project, python)


def test_the_program_imports_nothing_from_the_folder_it_is_started_in(python: Path, project: Path) -> None:
    for name in SHADOWS:
        (project / f"{name}.py").write_text(HOSTILE.format(marker=str(project / "ran")), encoding="utf-8")
    assert "agentframework" in _checked([str(python), "-m", "agentframework", "--help"], project)
    assert "agentframework" in _checked([str(python.with_name("agentframework")), "--help"], project)
    assert _nobody_else_ran(project, python)
