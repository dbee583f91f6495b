from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from gatekit import TOOLS, Bench

from agentframework.events import WarningEvent
from agentframework.permissions import PermissionAnswer
from agentframework.permissions.entries import entries_for
from agentframework.permissions.subject import Surroundings, subject_of


class Kept:
    """Rules of a project, kept in memory."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.entries: list[str] = []
        self._failure = failure

    async def add(self, entries: Sequence[str]) -> None:
        if self._failure is not None:
            raise self._failure
        self.entries.extend(entries)


def entries(bench: Bench, name: str, **arguments: Any) -> tuple[tuple[str, ...], bool]:
    around = Surroundings(bench.sandbox, bench.sandbox.roots[0], None)
    return entries_for(subject_of(TOOLS[name], arguments, around))


async def test_an_answer_for_the_project_is_written_down_and_holds_at_once(tmp_path: Path) -> None:
    kept = Kept()
    bench = Bench(tmp_path, project_rules=kept)
    answers: list[Any] = ["allow-project"]
    bench.answer_with(lambda event: answers[0])
    assert (await bench.run("Bash", command="npm test && make 'a b' > log")).kind == "allow"
    assert kept.entries == ["Bash(npm test)", "Bash(make 'a b')", "Edit(log)"]
    answers[0] = False
    assert (await bench.run("Bash", command="npm test")).kind == "allow"
    assert bench.seen(WarningEvent) == []
    later = Bench(tmp_path, allow=kept.entries)
    assert later.bash("npm test && make 'a b' > log") == "allow"
    for command in ("npm test x", "make a b", "make 'a b' > other", "npm install"):
        assert later.bash(command) == "ask", command


async def test_an_edited_rule_is_written_down_instead(tmp_path: Path) -> None:
    kept = Kept()
    bench = Bench(tmp_path, project_rules=kept)
    bench.answer_with(lambda event: PermissionAnswer(True, "project", rule="Bash(npm run *)"))
    await bench.run("Bash", command="npm run build")
    assert kept.entries == ["Bash(npm run *)"]
    assert bench.bash("npm run lint") == "allow"


async def test_an_answer_for_the_session_is_not_written_down(tmp_path: Path) -> None:
    kept = Kept()
    bench = Bench(tmp_path, project_rules=kept)
    bench.answer_with(lambda event: "allow-session")
    await bench.run("Bash", command="npm test")
    assert kept.entries == []


@pytest.mark.parametrize("port", [None, Kept(OSError("read-only file system")), Kept(ValueError("broken file"))])
async def test_what_cannot_be_written_down_holds_for_the_session_and_warns(port: Kept | None, tmp_path: Path) -> None:
    bench = Bench(tmp_path, project_rules=port)
    bench.answer_with(lambda event: "allow-project")
    assert (await bench.run("Bash", command="npm test")).kind == "allow"
    assert bench.bash("npm test") == "allow"
    (warning,) = bench.seen(WarningEvent)
    assert "until the session ends" in warning.message


LITERAL = (
    ("Bash", {"command": "make"}, ["Bash(make)"]),
    ("Bash", {"command": "make && make all; make"}, ["Bash(make)", "Bash(make all)"]),
    ("Bash", {"command": "git commit -m 'a (b) c'"}, ["Bash(git commit -m 'a (b) c')"]),
    ("Bash", {"command": 'make "a b" c\\ d ""'}, ["Bash(make 'a b' 'c d' '')"]),
    ("Bash", {"command": "CI=1 make"}, ["Bash(make)"]),
    ("Bash", {"command": "FOO='a b' make"}, ["Bash(FOO='a b' make)"]),
    ("Bash", {"command": "timeout 5 make"}, ["Bash(make)"]),
    ("Bash", {"command": "bash -c 'make all'"}, ["Bash(bash -c 'make all')", "Bash(make all)"]),
    ("Bash", {"command": "cat <<EOF > notes\nlong text\nEOF"}, ["Bash(cat)", "Edit(notes)"]),
    ("Bash", {"command": "(cd sub && make) | tee log"}, ["Bash(cd sub)", "Bash(make)", "Bash(tee log)"]),
    ("Write", {"file_path": "src/a.py", "content": "x"}, ["Write(src/a.py)"]),
    ("Edit", {"file_path": "./x/../b"}, ["Edit(b)"]),
    ("Read", {"file_path": "[a]?"}, ["Read([a]?)"]),
    ("WebFetch", {"url": "https://x.org/a"}, ["WebFetch(https://x.org/a)"]),
)


@pytest.mark.parametrize(("name", "arguments", "expected"), LITERAL)
def test_an_entry_says_exactly_what_was_allowed(
    name: str, arguments: dict[str, str], expected: list[str], tmp_path: Path
) -> None:
    bench = Bench(tmp_path)
    assert entries(bench, name, **arguments) == (tuple(expected), True)
    assert Bench(tmp_path, allow=expected).outcome(name, **arguments) == "allow"


UNSAYABLE = (
    ("Bash", {"command": "rm *.o"}),
    ("Bash", {"command": "make '*'"}),
    ("Bash", {"command": 'make "$X"'}),
    ("Bash", {"command": "python3 -c 'import os\nprint(os)'"}),
    ("Bash", {"command": "git commit -m \"$(cat <<'EOF'\nlong\nEOF\n)\""}),
    ("Bash", {"command": 'for f in a b; do make "$f"; done'}),
    ("Bash", {"command": "make > ../x"}),
    ("Bash", {"command": 'make > "$F"'}),
    ("Bash", {"command": "X=1; make"}),
    ("Bash", {"command": "make ~/x"}),
    ("Bash", {"command": 'eval "$X"'}),
    ("Bash", {"command": "make a\x1bb"}),
    ("Write", {"file_path": "a*b", "content": ""}),
    ("Glob", {"pattern": "**/*.py"}),
    ("WebFetch", {"url": "https://x.org/*"}),
    ("WebFetch", {"url": "https://x.org", "prompt": "p"}),
    ("mcp__srv__a", {"q": "1"}),
    ("note", {"text": "x"}),
)


@pytest.mark.parametrize(("name", "arguments"), UNSAYABLE)
def test_what_no_rule_can_say_exactly_is_not_widened(name: str, arguments: dict[str, str], tmp_path: Path) -> None:
    found, complete = entries(Bench(tmp_path), name, **arguments)
    assert not complete
    assert not any("*" in text or "\n" in text or "$" in text for text in found)


async def test_a_part_that_no_rule_can_say_is_left_out_and_named(tmp_path: Path) -> None:
    kept = Kept()
    bench = Bench(tmp_path, project_rules=kept)
    bench.answer_with(lambda event: "allow-project")
    await bench.run("Bash", command="make && touch *.o")
    assert kept.entries == ["Bash(make)"]
    assert "no rule says exactly" in bench.seen(WarningEvent)[0].message
    assert bench.bash("make && touch *.o") == "allow"
