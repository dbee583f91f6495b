"""Command hooks, with real processes."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hookkit import Desk, assert_gone, command, group_of, on, printing, until

from agentframework.hooks import HookEvent

FAILING = {
    "exit code 1": (command("echo oops >&2; exit 1"), "exit code 1: oops"),
    "not found": (command("no-such-program-anywhere"), "exit code 127"),
    "too slow": (command("sleep 300", timeout=0.3), "timed out after 0.3 s"),
    "killed": (command("kill -9 $$"), "ended by signal SIGKILL"),
    "garbage": (command('printf \'{"decision": "all\''), "cannot be read"),
    "nonsense": (printing({"decision": "perhaps"}), "decision 'perhaps' is not known"),
}


@pytest.mark.parametrize("line", ["echo 'not this' >&2; exit 2", f"{sys.executable} /no/such/guard.py"])
async def test_exit_code_2_blocks_and_standard_error_says_why(line: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("PreToolUse", command(line)))
    outcome = await desk.before(command="ls")
    assert outcome.blocked
    assert outcome.reason in ("not this", outcome.reason if "guard.py" in outcome.reason else "")
    assert desk.errors == []


@pytest.mark.parametrize("fault", FAILING)
async def test_a_hook_that_fails_is_seen_and_holds_nothing_up(fault: str, tmp_path: Path) -> None:
    hook, says = FAILING[fault]
    desk = Desk(tmp_path, on("PreToolUse", hook))
    assert (await desk.before(command="ls")).decision is None
    (error,) = desk.errors
    assert says in error


@pytest.mark.parametrize("fault", FAILING)
async def test_a_hook_that_fails_closed_blocks_when_it_fails(fault: str, tmp_path: Path) -> None:
    hook, says = FAILING[fault]
    for settings, fail_closed in (
        (on("PreToolUse", {**hook, "failClosed": True}), False),
        (on("PreToolUse", hook), True),
    ):
        desk = Desk(tmp_path, settings, fail_closed=fail_closed)
        outcome = await desk.before(command="ls")
        assert outcome.blocked
        assert outcome.reason.startswith("hook failed: ")
        assert says in outcome.reason
        assert len(desk.errors) == 1


async def test_any_block_wins_and_the_first_configured_says_why(tmp_path: Path) -> None:
    slow = command("sleep 0.2; echo first >&2; exit 2")
    quick = command("echo second >&2; exit 2")
    desk = Desk(tmp_path, on("PreToolUse", command("exit 0"), printing({"decision": "approve"}), slow, quick))
    outcome = await desk.before(command="ls")
    assert (outcome.reason, outcome.reasons) == ("first", ("first", "second"))


async def test_hooks_of_an_event_run_side_by_side(tmp_path: Path) -> None:
    # Each waits for the other: one after the other they would never end.
    os.mkfifo(tmp_path / "meet")
    desk = Desk(tmp_path, on("PreToolUse", command("echo here > meet"), command("read x < meet")))
    assert (await desk.before()).decision is None
    assert desk.errors == []


@pytest.mark.parametrize("ignores", ["", "trap '' TERM; "])
async def test_a_timeout_ends_the_whole_process_group(ignores: str, tmp_path: Path) -> None:
    line = f"{ignores}echo $$ > group; bash -c '{ignores}sleep 300 & while :; do sleep 0.1; done'"
    desk = Desk(tmp_path, on("PreToolUse", command(line, timeout=0.3)))
    async with asyncio.timeout(3.5):
        await desk.before()
    assert "timed out" in desk.errors[0]
    assert_gone(await group_of(tmp_path / "group"))


async def test_cancelling_ends_the_process_groups(tmp_path: Path) -> None:
    hooks = [command(f"echo $$ > group{n}; sleep 300 & sleep 300") for n in range(2)]
    desk = Desk(tmp_path, on("PreToolUse", *hooks))
    task = asyncio.create_task(desk.before())
    groups = [await group_of(tmp_path / f"group{n}") for n in range(2)]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 3)
    for group in groups:
        assert_gone(group)


async def test_what_a_hook_leaves_behind_is_ended_with_it(tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("PreToolUse", command("echo $$ > group; sleep 300 & exit 0")))
    async with asyncio.timeout(3):
        await desk.before()
    assert_gone(await group_of(tmp_path / "group"))


async def test_a_hook_reads_its_event_on_standard_input(tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("PreToolUse", command("cat > seen")))
    await desk.before("Write", file_path="ä\ud800.txt", content="x\u2028\0")
    assert json.loads((tmp_path / "seen").read_text()) == {
        "session_id": "session-1",
        "transcript_path": None,
        "cwd": str(tmp_path),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        "tool_name": "Write",
        "tool_input": {"file_path": "ä\ufffd.txt", "content": "x\u2028\0"},
        "tool_use_id": "t1",
    }


@pytest.mark.parametrize("read", ["cat", "cat /dev/stdin", "if [ -p /dev/stdin ]; then cat; fi", "head -c 2000000"])
async def test_large_input_arrives_however_it_is_read(read: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("PreToolUse", command(f"{read} | wc -c > size")))
    await desk.before(content="x" * 1_000_000)
    assert int((tmp_path / "size").read_text()) > 1_000_000


@pytest.mark.parametrize("line", ["exit 0", "exec <&-; sleep 0.1", "head -c 10 >/dev/null", "read x"])
async def test_a_hook_need_not_read_its_input(line: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("PreToolUse", command(line)))
    assert (await desk.before(content="x" * 1_000_000)).decision is None
    assert desk.errors == []


async def test_both_pipes_are_served_while_the_input_is_written(tmp_path: Path) -> None:
    noise = "head -c 300000 /dev/zero | tr '\\0' a"
    desk = Desk(tmp_path, on("PreToolUse", command(f"{noise} >&2; {noise}; cat | tail -c 300000; exit 2", timeout=8)))
    outcome = await desk.before(content="x" * 1_000_000)
    assert outcome.blocked
    assert len(outcome.reason) <= 4_000


async def test_output_beyond_the_limit_is_dropped_and_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("PreToolUse", command("head -c 2000000 /dev/zero | tr '\\0' a")))
    assert (await desk.before()).decision is None
    assert "printed 2000000 bytes" in desk.errors[0]


async def test_no_start_up_file_of_the_shell_is_read(tmp_path: Path) -> None:
    for name in (".bashrc", ".bash_profile", ".profile"):
        (tmp_path / name).write_text("echo chatter; touch ~/was-read\n")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "BASH_ENV": str(tmp_path / ".bashrc")}
    desk = Desk(tmp_path, on("PreToolUse", printing({"decision": "approve"})), environment=environment)
    assert (await desk.before()).decision == "allow"
    assert not (tmp_path / "was-read").exists()


async def test_a_hook_gets_the_variables_it_expects_and_no_secrets(tmp_path: Path) -> None:
    settings = {
        "PreToolUse": [{"env": {"MINE": "1", "CLAUDE_SESSION_ID": "forged"}, "hooks": [command("env -0 > seen")]}]
    }
    desk = Desk(tmp_path, settings)
    await desk.before()
    seen = dict(line.split("=", 1) for line in (tmp_path / "seen").read_text().split("\0") if line)
    assert seen["CLAUDE_PROJECT_DIR"] == str(tmp_path)
    assert seen["CLAUDE_SESSION_ID"] == "session-1"
    assert (seen["MINE"], seen["LANG"]) == ("1", "C.UTF-8")
    assert "SECRET_TOKEN" not in seen


async def test_a_hook_runs_in_the_project_and_reaches_no_terminal(tmp_path: Path) -> None:
    line = "pwd -P > where; (echo hi >/dev/tty) 2>/dev/null && echo tty >> where; exit 0"
    await Desk(tmp_path, on("PreToolUse", command(line))).before()
    assert (tmp_path / "where").read_text() == f"{tmp_path.resolve()}\n"


async def test_a_hook_whose_directory_is_gone_fails(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "gone", on("PreToolUse", command("exit 0", failClosed=True)))
    assert (await desk.before()).blocked
    assert "could not be started" in desk.errors[0]


async def test_input_that_is_no_json_blocks_what_waits_for_hooks(tmp_path: Path) -> None:
    desk = Desk(tmp_path, {**on("PreToolUse", command("exit 0")), **on("PostToolUse", command("exit 0"))})
    for odd in (float("nan"), object(), {1, 2}):
        assert (await desk.before(value=odd)).blocked
    assert (await desk.run("PostToolUse", tool_name="x", value=object())).decision is None
    assert len(desk.errors) == 4


async def test_only_hooks_that_match_run(tmp_path: Path) -> None:
    groups = [
        {"matcher": matcher, "hooks": [command(f"echo >> {name}")]} for matcher, name in (("Bash", "a"), ("Edit", "b"))
    ]
    desk = Desk(tmp_path, {"PreToolUse": groups})
    await desk.before("Bash")
    assert {path.name for path in tmp_path.iterdir()} == {"a"}


async def test_a_hook_under_another_name_hears_of_that_name(tmp_path: Path) -> None:
    groups = [{"matcher": m, "hooks": [command(f"cat > {n}")]} for m, n in (("Bash", "a"), ("Shell", "b"), ("*", "c"))]
    desk = Desk(tmp_path, {"PreToolUse": groups})
    await desk.engine.run(HookEvent.PRE_TOOL_USE, {"tool_name": "Shell", "tool_input": {}}, ("Bash",))
    heard = {path.name: json.loads(path.read_text())["tool_name"] for path in tmp_path.iterdir()}
    assert heard == {"a": "Bash", "b": "Shell", "c": "Shell"}


@pytest.mark.parametrize("event", ["SessionEnd", "Notification", "PermissionDecision", "PreModelCall"])
async def test_a_block_where_nothing_can_be_blocked_is_reported(event: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, on(event, command("echo stop >&2; exit 2")))
    await desk.run(event, reason="other", notification_type="x", tool_name="x")
    assert desk.errors == ["nothing can be blocked here: stop"]


async def test_a_message_for_the_user_becomes_a_warning(tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("PreToolUse", printing({"systemMessage": "be careful"})))
    await desk.before()
    (event,) = desk.events
    assert (event.type, getattr(event, "message", "")) == ("warning", "be careful")


async def test_more_hooks_than_may_run_at_once_wait_for_each_other(tmp_path: Path) -> None:
    # Descriptor 9 is held by every hook while it runs.
    line = "echo >> running; sleep 0.05; n=$(wc -l < running); echo $n >> most"
    desk = Desk(tmp_path, on("PreToolUse", *(command(line) for _ in range(20))))
    await desk.before()
    assert desk.errors == []
    assert min(int(text) for text in (tmp_path / "most").read_text().split()) <= 16


async def test_what_is_fired_runs_in_the_background_and_ends_with_the_engine(tmp_path: Path) -> None:
    hooks = [command("echo $$ > group; sleep 300"), command("cat > seen; echo >> seen")]
    desk = Desk(tmp_path, on("Notification", *hooks))
    before = asyncio.all_tasks()
    desk.engine.fire(HookEvent.NOTIFICATION, {"message": "m", "notification_type": "t"})
    group = await group_of(tmp_path / "group")
    assert json.loads(await until(tmp_path / "seen"))["message"] == "m"
    async with asyncio.timeout(4):
        await desk.engine.close(grace_s=0.1)
    assert_gone(group)
    desk.engine.fire(HookEvent.NOTIFICATION, {"message": "m", "notification_type": "t"})
    assert asyncio.all_tasks() == before


async def test_what_hangs_in_the_background_holds_up_nothing_that_is_waited_for(tmp_path: Path) -> None:
    settings = {**on("Notification", command("sleep 300")), **on("PreToolUse", command("exit 2"))}
    desk = Desk(tmp_path, settings)
    for _ in range(20):
        desk.engine.fire(HookEvent.NOTIFICATION, {"notification_type": "t"})
    async with asyncio.timeout(3):
        assert (await desk.before()).blocked
        await desk.engine.close(grace_s=0)


async def test_closing_lets_end_what_is_nearly_done(tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("Notification", command("sleep 0.2; echo done > seen")))
    desk.engine.fire(HookEvent.NOTIFICATION, {"notification_type": "t"})
    await desk.engine.close()
    assert (tmp_path / "seen").read_text() == "done\n"


async def test_too_much_in_the_background_is_refused_and_said(tmp_path: Path) -> None:
    gate: Any = asyncio.Event()

    async def wait(event: dict[str, Any]) -> None:
        await gate.wait()

    desk = Desk(tmp_path, on("Notification", {"type": "callable", "callable": wait}))
    for _ in range(66):
        desk.engine.fire(HookEvent.NOTIFICATION, {"notification_type": "t"})
    assert len(desk.errors) == 2
    assert "64 hooks run in the background already" in desk.errors[0]
    gate.set()
    await desk.engine.close()


async def test_what_is_fired_about_something_over_does_not_run(tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("Notification", command("touch ran")))
    desk.engine.fire(HookEvent.NOTIFICATION, {"notification_type": "t"}, unless=lambda: True)
    desk.engine.fire(HookEvent.NOTIFICATION, {"notification_type": object()})
    await desk.engine.close()
    assert not (tmp_path / "ran").exists()
    assert len(desk.errors) == 1
