"""Command lines that try to get past the gate, and ordinary ones that must not be asked about, one a line.

`⏎` stands for a newline. Among them are lines that do nothing harmful on a usual machine; nobody can tell before.
"""

import subprocess
from pathlib import Path

import pytest
from gatekit import Bench
from shellkit import entries

FOLDER = Path(__file__).with_name("attempts")


def attempts(name: str) -> list[str]:
    return entries((FOLDER / f"{name}.txt").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a secret, a guarded folder and a link out."""
    home = tmp_path_factory.mktemp("home")
    root = home / "ws"
    for folder in (root / "src", root / "tests", root / ".github", home / ".ssh"):
        folder.mkdir(parents=True)
    texts = {
        ".env": "KEY=1", "README.md": "r\n", "a.log": "x\n", "a.txt": "x\n", "d.json": "{}", "data.csv": "a,b,c\n",
        "package.json": "{}", "src/k.py": "x=1\n", "tests/t.py": "x\n",
    }  # fmt: skip
    for name, text in texts.items():
        (root / name).write_text(text)
    (root / "link").symlink_to(home)
    (root / "envlink").symlink_to(".env")
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home), "GIT_CONFIG_GLOBAL": "/dev/null"}
    line = "git init -q -b main && git add -A && git -c user.name=x -c user.email=x@example.org commit -qm one"
    subprocess.run(["bash", "-c", line], cwd=root, env=environment, check=True, timeout=60)
    return root


@pytest.fixture(scope="module")
def denying(project: Path) -> Bench:
    deny = ["Bash(rm:*)", "Bash(curl:*)", "Bash(unlink:*)"]
    return Bench(project, home=project.parent, mode="bypassPermissions", allow=["Bash"], deny=deny)


@pytest.fixture(scope="module")
def guarding(project: Path) -> Bench:
    deny = ["Read(**/.env)", "Edit(.github/**)"]
    return Bench(project, home=project.parent, mode="bypassPermissions", allow=["Bash"], deny=deny)


@pytest.fixture(scope="module")
def allowing(project: Path) -> Bench:
    rules = ["git status:*", "npm run *", "cat:*", "echo *", "cd:*", "true", "read:*", "eval git status"]
    return Bench(project, home=project.parent, allow=[f"Bash({rule})" for rule in rules])


@pytest.fixture(scope="module")
def reading(project: Path) -> Bench:
    return Bench(project, home=project.parent, read_only_commands=True)


@pytest.fixture(scope="module")
def planning(project: Path) -> Bench:
    return Bench(project, home=project.parent, mode="plan", read_only_commands=True, allow=["Bash"])


@pytest.mark.parametrize("line", attempts("programs"))
def test_a_denied_program_is_not_run_by_another_way(line: str, denying: Bench) -> None:
    assert denying.bash(line) != "allow"


@pytest.mark.parametrize("line", attempts("files"))
def test_a_denied_file_is_not_reached_by_another_way(line: str, guarding: Bench) -> None:
    assert guarding.bash(line) != "allow"


@pytest.mark.parametrize("line", attempts("beyond_allow_rules"))
def test_allow_rules_cover_nothing_beyond_their_commands(line: str, allowing: Bench) -> None:
    assert allowing.bash(line) == "ask"


@pytest.mark.parametrize("line", attempts("beyond_reading"))
def test_the_read_only_set_covers_nothing_that_does_more(line: str, reading: Bench, planning: Bench) -> None:
    assert reading.bash(line) == "ask"
    assert planning.bash(line) == "deny"


@pytest.mark.parametrize("line", attempts("ordinary"))
def test_what_developers_look_at_all_day_is_not_asked_about(line: str, reading: Bench, planning: Bench) -> None:
    assert reading.explain("Bash", command=line).message == "it only reads"
    assert planning.bash(line) == "allow"
