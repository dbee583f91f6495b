"""What `import agentframework` and the command line's help cost: each is looked at in a fresh process."""

import json
import subprocess
import sys
from pathlib import Path

import agentframework

HEAVY = {
    "PIL", "anthropic", "bs4", "commands", "ddgs", "httpx2", "jsonschema", "markdownify", "mcp", "openai",
    "prompt_toolkit", "pydantic", "pyee", "pypdf", "rich", "starlette", "tools_builtin", "tree_sitter",
    "tree_sitter_bash", "uvicorn", "xllamacpp", "yaml",
}  # fmt: skip
SDKS = {"anthropic", "mcp", "openai"}


def _loaded_after(code: str, folder: Path) -> set[str]:
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    run = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=True
    )
    return set(json.loads(run.stdout))


def test_importing_the_package_loads_nothing_heavy(tmp_path: Path) -> None:
    assert _loaded_after("import agentframework", tmp_path) & HEAVY == set()


def test_asking_the_command_line_for_help_loads_no_sdk(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "agentframework", "--help"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    loaded = {line.rpartition("|")[2].strip() for line in run.stderr.splitlines()}
    assert "agentframework" in loaded
    assert loaded & SDKS == set()


def test_every_public_name_leads_to_something() -> None:
    for name in agentframework.__all__:
        assert getattr(agentframework, name) is not None, name


def test_public_names_are_sorted_and_listed() -> None:
    assert list(agentframework.__all__) == sorted(agentframework.__all__)
    assert set(agentframework.__all__) <= set(dir(agentframework))
