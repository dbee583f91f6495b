"""The editable install that development runs on: it shows our packages and nothing else of the checkout."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {"agentframework", "commands", "tools_builtin"}
FIND = """
import importlib.util, json, sys
found = {}
for name in json.loads(sys.argv[1]):
    spec = importlib.util.find_spec(name)
    if spec is not None:
        found[name] = [spec.origin, *(spec.submodule_search_locations or [])]
print(json.dumps(found))
"""


def _taken_from_the_checkout(names: set[str], folder: Path) -> set[str]:
    command = [sys.executable, "-c", FIND, json.dumps(sorted(names))]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    found: dict[str, list[str | None]] = json.loads(run.stdout)
    ours = {str(ROOT / name) for name in names} | {str(ROOT / f"{name}.py") for name in names}
    return {name for name, places in found.items() if ours & set(places)}


def test_an_editable_install_shows_the_three_packages_and_no_other_folder(tmp_path: Path) -> None:
    names = [path.stem for path in ROOT.iterdir() if path.is_dir() or path.suffix == ".py"]
    importable = {name for name in names if name.isidentifier()}
    assert importable > PACKAGES
    assert _taken_from_the_checkout(importable, tmp_path) == PACKAGES
