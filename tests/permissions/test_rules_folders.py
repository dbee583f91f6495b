"""Commands that read whole folders, under a rule that denies some file: what lies there now decides."""

from pathlib import Path

import pytest
from gatekit import Bench

LOOKS = ("grep -rn x src", "rg x src", "grep -r x src | head", "cat src/*", "cat src/.e*", "cd src && grep -r x .")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "src" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "a.py").write_text("x\n")
    return Bench(tmp_path, allow=["Bash"], deny=["Read(**/.env)"])


@pytest.mark.parametrize("line", LOOKS)
def test_a_folder_without_the_denied_file_is_read_unasked(line: str, bench: Bench) -> None:
    assert bench.bash(line) == "allow"


@pytest.mark.parametrize("line", LOOKS[:3])
def test_a_folder_with_it_is_asked_about(line: str, bench: Bench) -> None:
    (bench.cwd / "src" / "deep" / ".env").write_text("KEY=1\n")
    assert bench.bash(line) == "ask"


@pytest.mark.parametrize(
    "line", ["git stash pop; grep -r x src", "make && rg x src", "echo x > src/y; grep -r x src", "cp -r src z"]
)
def test_what_may_come_to_be_there_first_is_asked_about(line: str, bench: Bench) -> None:
    assert bench.bash(line) == "ask"


def test_a_link_below_is_asked_about(bench: Bench) -> None:
    (bench.cwd / "src" / "link").symlink_to(bench.cwd.parent)
    assert bench.bash("grep -r x src") == "ask"


def test_a_folder_of_very_many_files_is_asked_about(bench: Bench) -> None:
    for number in range(3_001):
        (bench.cwd / "src" / f"f{number}").touch()
    assert bench.bash("grep -r x src") == "ask"


@pytest.mark.parametrize(
    ("first", "second"), [("grep -r y src", "allow"), ("git stash pop", "deny"), ("echo x > src/y", "deny")]
)
async def test_an_earlier_call_of_the_round_may_change_what_lies_there(first: str, second: str, bench: Bench) -> None:
    calls = [bench.call("Bash", command=first), bench.call("Bash", command="grep -r x src")]
    assert [decision.kind for decision in await bench.decide(*calls)][1] == second
