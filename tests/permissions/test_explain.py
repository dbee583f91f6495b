import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gatekit import Bench

from agentframework import InteractiveSession, PermissionRules
from agentframework.testing import ScriptedProvider


def _stages(found: Any) -> list[str]:
    return [step.name for step in found.steps]


def test_the_stages_tried_are_listed_and_the_last_one_decided(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(npm test)"], deny=["Bash(rm:*)"], ask=["Bash(cp:*)"], read_only_commands=True)
    for command, stage in (
        ("rm x", "deny rules"),
        ("sudo ls", "safeguards"),
        ("cp a b", "ask rules"),
        ("npm test", "allow rules and grants"),
        ("ls", "allow rules and grants"),
        ("make", "the mode"),
    ):
        found = bench.explain("Bash", command=command)
        assert _stages(found)[0] == "arguments"
        assert _stages(found)[-1] == stage, command
        assert found.steps[-1].said == found.reason
    assert bench.explain("Bash", command=3).steps == ()
    assert len(set(_stages(found))) == len(_stages(found))


def test_the_line_is_shown_as_it_was_understood(tmp_path: Path) -> None:
    line = Bench(tmp_path).explain("Bash", command="cd x && env A=1 make > out").line
    assert line is not None
    assert [(one.name, one.via) for one in line.commands] == [("cd", ()), ("env", ()), ("make", ("env",))]
    assert [one.text for one in line.redirections] == ["> out"]
    assert Bench(tmp_path).explain("Read", file_path="a").line is None


async def test_a_session_explains_without_asking_or_running(tmp_path: Path) -> None:
    session = InteractiveSession(
        cwd=tmp_path, provider=ScriptedProvider(), permissions=PermissionRules(deny=["Bash(curl:*)"])
    )
    events: list[Any] = []
    session.on("permission_request", events.append)
    session.on("permission_decision", events.append)
    found = session.explain("Bash", {"command": "ls; touch owned; curl x"})
    assert (found.outcome, found.rule, found.stage) == ("deny", "Bash(curl:*)", "deny")
    assert session.explain("Write", {"file_path": "a", "content": ""}).outcome == "ask"
    assert session.explain("Read", {"file_path": "a"}).outcome == "allow"
    assert session.explain("Gone", {}).outcome == "invalid"
    assert session.explain("Bash", {}).outcome == "invalid"
    session.set_permission_mode("plan")
    assert session.explain("Write", {"file_path": "a", "content": ""}).outcome == "deny"
    assert events == []
    assert not (tmp_path / "owned").exists()
    await session.shutdown()


def _run(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agentframework", "permissions", *words],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path.parent)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "code", "shown"),
    [
        (["explain", "ls -la | head"], 0, ["1. ls -la", "2. head", "allow: it only reads"]),
        (["explain", "ls", "--no-read-only-commands"], 10, ["ask: default mode asks before running commands"]),
        (["explain", "npm test", "--allow", "Bash(npm test:*),Bash(make)"], 0, ["rule: Bash(npm test:*)"]),
        (["explain", "npm test"], 10, ["rules that would allow it: Bash(npm test:*)"]),
        (["explain", "env -S 'rm f'", "--deny", "Bash(rm:*)"], 11, ["run by env", "rule: Bash(rm:*)"]),
        (["explain", "git push", "--ask", "Bash(git push:*)", "--mode", "bypassPermissions"], 10, ["the ask rule"]),
        (["explain", 'bash -c "$X" > "$F"'], 10, ["not known: bash", "writes a file that is known only when it runs"]),
        (["explain", "sudo ls", "--mode", "bypassPermissions"], 10, ["safeguards", "rights of another user"]),
        (["explain", "make", "--mode", "plan"], 11, ["plan mode refuses"]),
        (["explain", "--tool", "Write", ".git/config", "--mode", "acceptEdits"], 10, ["repository's own files"]),
        (["explain", "--tool", "Write", "a.txt", "--mode", "acceptEdits"], 0, ["acceptEdits mode allows"]),
        (["explain", "--tool", "Grep", '{"pattern": "x", "path": "a"}', "--deny", "Read(a/**)"], 11, ["Read(a/**)"]),
        (["explain", "--tool", "mcp__a__b", "{}", "--deny", "mcp__a"], 11, ["rule: mcp__a"]),
        (["explain", "a\x1b[31mb\nls"], 10, ["a\\x1b[31mb"]),
        (["explain", "make", "--allow", "Bash("], 10, ["warning:", "'Bash('"]),
    ],
)  # fmt: skip
def test_the_command_says_what_decides_and_ends_with_its_code(
    words: list[str], code: int, shown: list[str], tmp_path: Path
) -> None:
    ran = _run(tmp_path, *words)
    assert (ran.returncode, ran.stderr) == (code, "")
    for text in shown:
        assert text in ran.stdout
    assert "\x1b" not in ran.stdout


@pytest.mark.parametrize(
    "words",
    [
        [], ["explain"], ["explode", "ls"], ["explain", "ls", "--mode", "yolo"], ["explain", "ls", "--frobnicate"],
        ["explain", "ls", "--cwd", "/not/there"], ["explain", "--tool", "Grep", "{not json"], ["explain", " "],
        ["explain", "--tool", "mcp__a__b", "x"], ["explain", "--tool", "Grep", "{}"],
    ],
)  # fmt: skip
def test_a_usage_error_is_told_from_a_denial(words: list[str], tmp_path: Path) -> None:
    assert _run(tmp_path, *words).returncode == 2


def test_the_answer_is_one_json_object_if_asked_for(tmp_path: Path) -> None:
    ran = _run(tmp_path, "explain", "cd sub; git push 2> log", "--json", "--cwd", str(tmp_path))
    found = json.loads(ran.stdout)
    assert (ran.returncode, found["outcome"], found["stage"], found["tool"]) == (10, "ask", "mode", "Bash")
    assert [one["words"] for one in found["understood"]["commands"]] == [["cd", "sub"], ["git", "push"]]
    assert found["understood"]["redirections"] == [{"text": "2> log", "file": "log", "reads": False, "writes": True}]
    assert found["steps"][-1]["said"] == found["reason"]
    assert found["suggestions"] == ["Bash(git push:*)"]


def test_help_names_the_exit_codes(tmp_path: Path) -> None:
    ran = _run(tmp_path, "explain", "--help")
    assert ran.returncode == 0
    for code in ("0 allowed", "10 a person is asked", "11 denied", "2 usage"):
        assert code in ran.stdout
