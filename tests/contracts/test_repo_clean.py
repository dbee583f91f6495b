"""What must not get into the repository, and what its locks must hold."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Written so that no pattern matches this file.
FORBIDDEN = {
    "a path of the machine it was written on": rf"{re.escape(str(ROOT))}\b|/wor[k]/(?:main|shared)\b",
    "the host of a package registry": r"pypi\.[o]rg|pythonhosted\.[o]rg|registry\.npmjs\.[o]rg",
    "a credential": r"\bsk-(?:ant|proj)-[A-Za-z0-9_-]{20,}|-----BEGIN [A-Z ]*PRIVATE KE[Y]-----",
    "notes that are not part of it": r"\bseeds? 00\d\b|\b(?:DESIG[N]|CONTRAC[T])\.md\b|\B/shared/[a-z]+/",
    "a merge conflict": r"^(?:<{7}|>{7}) ",
}
UNFINISHED = r"\b(?:TOD[O]|FIXM[E]|XX[X]|NotImplementedErro[r])\b"


def _files() -> list[Path]:
    """Everything that is in the repository or about to be."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    if run.returncode != 0:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in run.stdout.split("\0") if name and (ROOT / name).is_file()]


def _texts() -> list[tuple[str, str]]:
    texts: list[tuple[str, str]] = []
    for path in _files():
        data = path.read_bytes()
        if b"\0" not in data:
            texts.append((path.relative_to(ROOT).as_posix(), data.decode("utf-8")))
    return texts


def _places(pattern: str, texts: list[tuple[str, str]]) -> list[str]:
    found = re.compile(pattern, re.MULTILINE)
    return [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}"
        for name, text in texts
        for match in found.finditer(text)
    ]


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_repository_does_not_hold(what: str) -> None:
    assert _places(FORBIDDEN[what], _texts()) == []


def test_no_code_is_left_unfinished() -> None:
    assert _places(UNFINISHED, [(name, text) for name, text in _texts() if name.endswith(".py")]) == []


def _locked(name: str) -> set[str]:
    text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
    return set(re.findall(r"^([a-z0-9-]+)==", text, re.MULTILINE))


def test_the_locks_hold_every_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    for extra in project["project"]["optional-dependencies"].values():
        declared += extra
    names = {re.split(r"[^A-Za-z0-9._-]", requirement)[0].lower() for requirement in declared}
    assert names - _locked("dev.lock") - _locked("local.lock") == set()


@pytest.mark.parametrize("lock", ["dev.lock", "local.lock"])
def test_a_lock_pins_by_hash_and_names_no_place(lock: str) -> None:
    text = (ROOT / "requirements" / lock).read_text(encoding="utf-8")
    requirements = [line for line in text.splitlines() if line and not line.startswith((" ", "#"))]
    assert requirements
    assert all("==" in line and line.endswith("\\") for line in requirements)
    assert re.findall(r"://|file:|^-|--(?!hash=)", text, re.MULTILINE) == []
