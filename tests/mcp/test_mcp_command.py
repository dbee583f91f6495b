import json
import stat
import sys
from pathlib import Path

import pytest
from mcpkit import HERE

from agentframework.cli.main import main


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / ".mcp.json"
    server = {"command": sys.executable, "args": ["-S", "-E", str(HERE / "raw_server.py")]}
    path.write_text(json.dumps({"mcpServers": {"raw": server}, "other": {"kept": True}}), encoding="utf-8")
    return path


def test_servers_of_a_file_are_listed_without_starting_them(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "list"]) == 0
    assert capfd.readouterr().out == f"raw  stdio  {sys.executable}\n"


def test_servers_are_tried_and_their_tools_shown(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "test", "raw"]) == 0
    assert "raw: connected (2025-06-18)\n  1 tools" in capfd.readouterr().out
    assert main(["mcp", "tools", "--json"]) == 0
    (server,) = json.loads(capfd.readouterr().out)["servers"]
    assert server["tools"][0]["model_name"] == "mcp__raw__echo"


def test_a_server_that_fails_is_an_exit_code_and_a_reason(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "add", "gone", "/no/such/program"]) == 0
    assert main(["mcp", "test"]) == 1
    out = capfd.readouterr().out
    assert "raw: connected" in out
    assert "gone: failed – cannot start" in out


def test_a_tool_is_called(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["mcp", "call", "raw", "echo", '{"text": "hello"}']) == 0
    assert capfd.readouterr().out == "hello\n"
    assert main(["mcp", "call", "raw", "nothing"]) == 1
    assert "unknown tool nothing" in capfd.readouterr().err
    assert main(["mcp", "call", "raw", "echo", "[]"]) == 2
    assert main(["mcp", "call", "nobody", "echo"]) == 2
    assert "there are: raw" in capfd.readouterr().err


def test_the_file_is_changed_and_the_rest_of_it_stays(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.chmod(0o640)
    assert main(["mcp", "add", "--env", "A=b=c", "notes", "notes-server", "--dir", "."]) == 0
    assert main(["mcp", "add", "--header", "X-Team: docs", "web", "https://example.com/mcp"]) == 0
    assert main(["mcp", "remove", "raw"]) == 0
    content = json.loads(file.read_text(encoding="utf-8"))
    assert content == {
        "mcpServers": {
            "notes": {"command": "notes-server", "args": ["--dir", "."], "env": {"A": "b=c"}},
            "web": {"type": "http", "url": "https://example.com/mcp", "headers": {"X-Team": "docs"}},
        },
        "other": {"kept": True},
    }
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert [path.name for path in file.parent.iterdir()] == [".mcp.json"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["add", "raw", "x"], "already"),
        (["add", "a b", "x"], "server id"),
        (["add", "web", "http://example.com/mcp"], "https"),
        (["add", "web", "https://u:p@example.com/mcp"], "credentials"),
        (["add", "--header", "X: y", "prog", "x"], "--header"),
        (["remove", "gone"], "there are: raw"),
    ],
)
def test_what_cannot_be_is_refused_and_the_file_left(
    words: list[str], problem: str, file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = file.read_bytes()
    assert main(["mcp", *words]) == 2
    assert problem in capfd.readouterr().err
    assert file.read_bytes() == before


def test_a_broken_file_is_left_as_it_is(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text("{", encoding="utf-8")
    assert main(["mcp", "add", "x", "y"]) == 2
    assert main(["mcp", "list"]) == 2
    assert file.read_text(encoding="utf-8") == "{"
    assert "cannot be read" in capfd.readouterr().err


def test_a_new_file_is_for_its_owner_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["mcp", "add", "--config", "servers.json", "x", "y", "-z"]) == 0
    path = tmp_path / "servers.json"
    assert json.loads(path.read_text(encoding="utf-8")) == {"mcpServers": {"x": {"command": "y", "args": ["-z"]}}}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
