from pathlib import Path

import pytest
from gatekit import Bench

from agentframework.errors import ConfigurationError
from agentframework.permissions import PermissionMode, parse_mode
from agentframework.permissions.modes import mode_outcome, mode_reason
from agentframework.tools import RiskClass

TABLE = {
    "plan": ("allow", "deny", "deny", "deny"),
    "default": ("allow", "ask", "ask", "ask"),
    "acceptEdits": ("allow", "allow", "ask", "ask"),
    "bypassPermissions": ("allow", "allow", "allow", "allow"),
    "auto": ("allow", "allow", "ask", "ask"),
}
CALLS = (
    ("Read", {"file_path": "a"}),
    ("Write", {"file_path": "a", "content": "x"}),
    ("Bash", {"command": "ls"}),
    ("note", {"text": "x"}),
)


@pytest.mark.parametrize("mode", list(PermissionMode))
def test_the_table_holds_for_every_mode_and_class(mode: PermissionMode) -> None:
    classes = (RiskClass.INSPECT, RiskClass.MODIFY, RiskClass.EXECUTE, None)
    assert tuple(mode_outcome(mode, risk) for risk in classes) == TABLE[mode]


@pytest.mark.parametrize("mode", list(PermissionMode))
def test_the_gate_decides_by_the_table_when_no_rule_speaks(mode: PermissionMode, tmp_path: Path) -> None:
    bench = Bench(tmp_path, mode=mode)
    assert tuple(bench.outcome(name, **arguments) for name, arguments in CALLS) == TABLE[mode]


@pytest.mark.parametrize("mode", ["acceptEdits", "bypassPermissions", "auto"])
@pytest.mark.parametrize("path", ["../b.txt", "/etc/b.txt", "sub/../../b.txt"])
def test_changing_a_file_outside_the_roots_is_asked_in_every_mode(mode: str, path: str, tmp_path: Path) -> None:
    bench = Bench(tmp_path, mode=mode)
    for tool in ("Write", "Edit"):
        assert bench.outcome(tool, file_path=path) == "ask"
    assert bench.outcome("save", path=path) == "ask"


def test_a_link_to_the_outside_counts_as_outside(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "d").symlink_to(tmp_path)
    (root / "n").symlink_to(tmp_path / "not-there-yet")
    bench = Bench(root, mode="acceptEdits")
    assert bench.outcome("Write", file_path="d/x") == "ask"
    assert bench.outcome("Write", file_path="n") == "ask"
    assert bench.outcome("Write", file_path="x") == "allow"


def test_a_sibling_with_the_same_beginning_is_outside(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws-evil").mkdir()
    bench = Bench(tmp_path / "ws", mode="acceptEdits")
    for path in ("../ws-evil/a", f"{tmp_path}/ws-evil/a", "src/../../ws-evil/a", f"/{tmp_path}//ws-evil/a"):
        assert bench.outcome("Write", file_path=path) == "ask", path


def test_plan_refuses_whatever_the_allow_rules_say(tmp_path: Path) -> None:
    bench = Bench(tmp_path, mode="plan", allow=["Bash", "Write", "Edit(**)", "note", "mcp__*"])
    for name, arguments in CALLS[1:]:
        assert bench.outcome(name, **arguments) == "deny"
    assert bench.outcome("mcp__srv__a") == "deny"


def test_reasons_are_words() -> None:
    assert mode_reason(PermissionMode.DEFAULT, RiskClass.EXECUTE) == "default mode asks before running commands"
    assert mode_reason(PermissionMode.PLAN, RiskClass.MODIFY) == "plan mode refuses changing files"


def test_an_unknown_mode_is_refused_with_the_known_ones_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="acceptEdits"):
        parse_mode("yolo")
    bench = Bench(tmp_path)
    with pytest.raises(ConfigurationError):
        bench.gate.mode = "yolo"  # type: ignore[assignment]
    assert bench.gate.mode is PermissionMode.DEFAULT


def test_changing_the_mode_changes_the_next_decision(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    assert bench.outcome("Write", file_path="a") == "ask"
    bench.gate.mode = PermissionMode.ACCEPT_EDITS
    assert bench.outcome("Write", file_path="a") == "allow"
    bench.gate.mode = PermissionMode.PLAN
    assert bench.outcome("Write", file_path="a") == "deny"
