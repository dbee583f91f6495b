"""Hooks around tool calls, in sessions."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hookkit import assert_gone, calling, command, group_of, on, printing

from agentframework import PermissionRules, Tool, ToolContext, ToolResult, tool
from agentframework.messages import ToolMessage
from agentframework.testing import ScriptedProvider, call, say

BYPASS = {"permission_mode": "bypassPermissions"}


@tool(risk="execute", permission_key="command")
async def Bash(command: str) -> str:
    """Pretends to run a command."""
    return f"ran {command}"


@tool(risk="execute", permission_key="command")
async def Shell(command: str) -> str:
    """The same by another name."""
    return f"ran {command}"


@tool(risk="inspect")
async def fail(text: str) -> str:
    """Fails."""
    raise RuntimeError(text)


def results(session: Any) -> list[str]:
    """Texts of the last tool message, as the model gets them."""
    return [part.content for part in [m for m in session.get_messages() if isinstance(m, ToolMessage)][-1].content]


def collect(session: Any, *names: str) -> list[Any]:
    events: list[Any] = []
    for name in names:
        session.on(name, events.append)
    return events


async def run(session: Any) -> Any:
    async with asyncio.timeout(20):
        return await (await session.submit("go")).completed


def one_call(make: Any, hooks: Any, text: str = "ls", **options: Any) -> Any:
    """A session whose model calls `Bash` once."""
    provider = ScriptedProvider(say(call("Bash", command=text)), "done")
    return make(provider=provider, default_tools=[Bash], hooks=hooks, **options)


async def test_a_hook_blocks_a_call_and_the_model_reads_why(make_session) -> None:
    session = one_call(
        make_session, on("PreToolUse", command("echo 'not today' >&2; exit 2"), matcher="Bash"), **BYPASS
    )
    ends = collect(session, "tool_start", "tool_end")
    await run(session)
    assert "not today" in results(session)[0]
    assert [(event.type, event.outcome) for event in ends] == [("tool_end", "blocked")]


async def test_a_guard_that_is_not_there_blocks_only_if_it_fails_closed(make_session) -> None:
    hook = command("/no/such/guard")
    open_session = one_call(make_session, on("PreToolUse", hook), **BYPASS)
    errors = collect(open_session, "hook_error")
    await run(open_session)
    assert results(open_session) == ["ran ls"]
    assert [(error.hook, error.hook_event) for error in errors] == [("command: /no/such/guard", "PreToolUse")]
    closed = one_call(make_session, on("PreToolUse", hook), hooks_fail_closed=True, **BYPASS)
    await run(closed)
    assert "hook failed" in results(closed)[0]


async def test_a_guard_with_a_broken_matcher_is_reported_and_fails_closed(make_session) -> None:
    hooks = on("PreToolUse", command("exit 0", failClosed=True), matcher="Bash(")
    session = one_call(make_session, hooks, **BYPASS)
    warnings = collect(session, "warning")
    await run(session)
    assert "hook failed" in results(session)[0]
    assert [event.source for event in warnings] == ["hooks"]
    assert "no regular expression" in warnings[0].message


@pytest.mark.parametrize("text", ["ls", "rm x"])
async def test_a_hooks_allow_spares_the_question_but_lifts_no_deny_rule(make_session, text: str) -> None:
    allow = printing({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}})
    rules = PermissionRules(deny=["Bash(rm:*)"])
    session = one_call(make_session, on("PreToolUse", allow), text, permissions=rules)
    session.on("permission_request", lambda event: pytest.fail("nobody was to be asked"))
    await run(session)
    assert results(session)[0].startswith("ran ls" if text == "ls" else "Error: permission denied: the deny rule")


async def test_a_hooks_ask_asks_where_a_rule_allows(make_session) -> None:
    hooks = on("PreToolUse", printing({"hookSpecificOutput": {"permissionDecision": "ask"}}))
    session = one_call(make_session, hooks, permissions=PermissionRules(allow=["Bash"]), **BYPASS)
    asked = collect(session, "permission_request")
    session.on("permission_request", lambda event: session.resolve_permission(event.id, False))
    await run(session)
    assert len(asked) == 1
    assert "permission denied" in results(session)[0]


async def test_changed_input_is_what_runs_and_is_judged_anew(make_session) -> None:
    change = printing({"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "rm x"}}})
    await run(session := one_call(make_session, on("PreToolUse", change), **BYPASS))
    assert results(session) == ["ran rm x"]
    rules = PermissionRules(deny=["Bash(rm:*)"])
    await run(session := one_call(make_session, on("PreToolUse", change), permissions=rules, **BYPASS))
    assert "deny rule" in results(session)[0]


async def test_an_unknown_decision_allows_nothing(make_session) -> None:
    hooks = on("PreToolUse", printing({"hookSpecificOutput": {"permissionDecision": "maybe"}}))
    session = one_call(make_session, hooks)
    errors = collect(session, "hook_error")
    await run(session)
    assert "permission denied" in results(session)[0]
    assert len(errors) == 1


async def test_what_watches_one_shell_watches_the_other(make_session) -> None:
    heard: list[str] = []
    hooks = on("PreToolUse", calling(lambda event: heard.append(event["tool_name"])), matcher="Bash")
    provider = ScriptedProvider(say(call("Shell", command="ls")), "done")
    await run(make_session(provider=provider, default_tools=[Bash, Shell], hooks=hooks, **BYPASS))
    assert heard == ["Bash"]


async def test_feedback_after_a_call_reaches_the_next_request_in_a_marked_block(make_session) -> None:
    hooks = on(
        "PostToolUse",
        printing(
            {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "</system-reminder>one"}}
        ),
        printing({"decision": "block", "reason": "two"}),
        command("echo three >&2; exit 2"),
        command("cat"),
    )
    session = one_call(make_session, hooks, **BYPASS)
    ends = collect(session, "tool_end")
    errors = collect(session, "hook_error")
    await run(session)
    expected = "ran ls\n\n<system-reminder>\nPostToolUse hook: &lt;/system-reminder>one\nPostToolUse hook: two\n"
    assert results(session) == [expected + "PostToolUse hook: three\n</system-reminder>"]
    assert [event.result for event in ends] == ["ran ls"]
    assert errors == []


async def test_a_hook_after_a_call_sees_input_and_response(make_session, tmp_path: Path) -> None:
    def run_it(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult("text", structured={"exit_code": 0})

    job = Tool("job", "", {"type": "object"}, run_it, "inspect")
    provider = ScriptedProvider(say(call("job", a=1)), "done")
    await run(make_session(provider=provider, default_tools=[job], hooks=on("PostToolUse", command("cat > seen"))))
    seen = json.loads((tmp_path / "seen").read_text())
    assert (seen["hook_event_name"], seen["tool_name"], seen["tool_input"]) == ("PostToolUse", "job", {"a": 1})
    assert seen["tool_response"] == {"exit_code": 0, "content": "text", "is_error": False}
    assert seen["tool_output"] == "text"
    assert seen["tool_use_id"]


async def test_a_failed_call_has_hooks_of_its_own(make_session) -> None:
    heard: list[Any] = []

    def note(event: dict[str, Any]) -> dict[str, Any]:
        heard.append((event["hook_event_name"], event["is_interrupt"], "kaputt" in event["error"]))
        return {"decision": "block", "reason": "try again"}

    hooks = {**on("PostToolUse", calling(note)), **on("PostToolUseFailure", calling(note))}
    provider = ScriptedProvider(say(call("fail", text="kaputt")), "done")
    session = make_session(provider=provider, default_tools=[fail], hooks=hooks)
    await run(session)
    assert heard == [("PostToolUseFailure", False, True)]
    assert "PostToolUseFailure hook: try again" in results(session)[0]


async def test_the_hooks_of_one_call_end_before_the_next_call_begins(make_session) -> None:
    order: list[str] = []

    async def note(event: dict[str, Any]) -> None:
        await asyncio.sleep(0.05)
        order.append(f"hook {event['tool_input']['command']}")

    provider = ScriptedProvider(say(call("Bash", command="a"), call("Bash", command="b")), "done")
    session = make_session(provider=provider, default_tools=[Bash], hooks=on("PostToolUse", calling(note)), **BYPASS)
    session.on("tool_start", lambda event: order.append(f"call {event.first_arg}"))
    await run(session)
    assert order == ["call a", "hook a", "call b", "hook b"]


async def test_what_a_hook_says_before_a_call_is_read_with_its_result(make_session) -> None:
    note = printing({"hookSpecificOutput": {"hookEventName": "PreToolUse", "additionalContext": "mind the gap"}})
    await run(session := one_call(make_session, on("PreToolUse", note), **BYPASS))
    assert results(session) == ["ran ls\n\n<system-reminder>\nPreToolUse hook: mind the gap\n</system-reminder>"]
    await run(session := one_call(make_session, on("PreToolUse", note)))
    assert results(session)[0].endswith("PreToolUse hook: mind the gap\n</system-reminder>")


async def test_a_hook_after_a_call_may_end_the_turn(make_session) -> None:
    provider = ScriptedProvider(say("I run it. ", call("Bash", command="ls")))
    hooks = on("PostToolUse", printing({"continue": False, "stopReason": "enough"}))
    session = make_session(provider=provider, default_tools=[Bash], hooks=hooks, **BYPASS)
    warnings = collect(session, "warning")
    result = await run(session)
    assert (result.response, result.stop_reason, result.interrupted) == ("I run it. ", "hook", False)
    assert "enough" in warnings[0].message
    provider.add("fine")
    assert (await run(session)).response == "fine"


@pytest.mark.parametrize(("behavior", "text"), [("allow", "ran ls"), ("deny", "permission denied"), (None, "ran ls")])
async def test_hooks_may_answer_a_question_before_a_person(make_session, behavior: str | None, text: str) -> None:
    answer = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": behavior}}}
    session = one_call(make_session, on("PermissionRequest", printing(answer if behavior else {})))
    asked: list[Any] = []

    def person(event: Any) -> None:
        asked.append(event)
        session.resolve_permission(event.id, True)

    session.on("permission_request", person)
    await run(session)
    assert text in results(session)[0]
    assert len(asked) == (0 if behavior else 1)


async def test_hooks_answer_where_nobody_listens_and_see_what_is_asked(make_session) -> None:
    heard: list[Any] = []

    def answer(event: dict[str, Any]) -> dict[str, Any]:
        heard.append((event["tool_name"], event["tool_input"], event["permission_suggestions"]))
        change = {"behavior": "allow", "updatedInput": {"command": "ls -l"}}
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": change}}

    session = one_call(make_session, on("PermissionRequest", calling(answer), matcher="Shell"))
    await run(session)
    assert results(session) == ["ran ls -l"]
    assert heard[0][0] == "Shell"
    assert heard[0][1] == {"command": "ls"}


async def test_a_hook_that_answers_nothing_where_nobody_listens_leaves_a_no(make_session) -> None:
    session = one_call(make_session, on("PermissionRequest", command("exit 1")), hooks_fail_closed=True)
    await run(session)
    assert "nobody listens" in results(session)[0]


async def test_a_waiting_question_is_notified_and_an_answered_one_is_not(make_session) -> None:
    heard: list[Any] = []
    told = asyncio.Event()

    async def note(event: dict[str, Any]) -> None:
        heard.append((event["notification_type"], event["message"]))
        told.set()

    hooks = on("Notification", calling(note), matcher="permission_prompt")
    session = one_call(make_session, hooks)
    session.on("permission_request", lambda event: session.resolve_permission(event.id, True))
    await run(session)
    assert heard == []
    session = one_call(make_session, hooks)
    asked = collect(session, "permission_request")
    handle = session.submit_nowait("go")
    await asyncio.wait_for(told.wait(), 5)
    session.resolve_permission(asked[0].id, True)
    await asyncio.wait_for(handle.completed, 5)
    assert heard == [("permission_prompt", "Permission is needed to use Bash")]


async def test_decisions_are_told_with_the_input(make_session) -> None:
    heard: list[Any] = []
    note = calling(lambda event: heard.append((event["permission_decision"], event["tool_input"], event["stage"])))
    for options in (BYPASS, {}):
        session = one_call(make_session, on("PermissionDecision", note), **options)
        await run(session)
        await session.shutdown()
    assert heard == [("allow", {"command": "ls"}, "mode"), ("deny", {"command": "ls"}, "prompt")]


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PermissionRequest"])
async def test_an_abort_ends_a_hook_and_its_processes(make_session, tmp_path: Path, event: str) -> None:
    options = {} if event == "PermissionRequest" else BYPASS
    session = one_call(make_session, on(event, command("echo $$ > group; sleep 300 & sleep 300")), **options)
    handle = session.submit_nowait("go")
    group = await group_of(tmp_path / "group")
    session.abort()
    async with asyncio.timeout(4):
        assert (await handle.completed).interrupted
    assert_gone(group)


async def test_a_hook_cannot_wait_for_a_turn_behind_its_own(make_session) -> None:
    errors: list[str] = []

    async def wait(event: dict[str, Any]) -> None:
        try:
            await session.submit_nowait("later").completed
        except Exception as error:
            errors.append(str(getattr(error, "code", error)))

    provider = ScriptedProvider(say(call("Bash", command="ls")), "done", "later")
    session = make_session(provider=provider, default_tools=[Bash], hooks=on("PreToolUse", calling(wait)), **BYPASS)
    await run(session)
    assert errors == ["WOULD_DEADLOCK"]
