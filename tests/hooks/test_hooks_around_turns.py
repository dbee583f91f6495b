"""Hooks at the start and end of sessions and turns."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hookkit import assert_gone, calling, command, group_of, on, printing

from agentframework import ConfigurationError, LimitExceededError, OverloadedError, PromptBlockedError, tool
from agentframework.messages import UserMessage
from agentframework.testing import ScriptedProvider, call, say

ALWAYS = printing({"decision": "block", "reason": "more"})


@tool(risk="inspect")
async def look() -> str:
    """Looks."""
    return "seen"


def sent(provider: ScriptedProvider, number: int = -1) -> list[str]:
    """Texts of the user messages in a request."""
    return [message.text for message in provider.requests[number].messages if isinstance(message, UserMessage)]


async def ask(session: Any, text: str = "go", **options: Any) -> Any:
    async with asyncio.timeout(20):
        return await (await session.submit(text, **options)).completed


def collect(session: Any, *names: str) -> list[Any]:
    events: list[Any] = []
    for name in names:
        session.on(name, events.append)
    return events


# --- prompts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hook",
    [
        command("echo 'not that' >&2; exit 2"),
        printing({"decision": "block", "reason": "not that"}),
        printing({"continue": False, "stopReason": "not that"}),
        calling(lambda event: {"decision": "block", "reason": "not that"}),
    ],
)
async def test_a_blocked_prompt_is_not_sent_and_its_turn_says_why(make_session, hook: Any) -> None:
    provider = ScriptedProvider("fine")
    session = make_session(provider=provider, hooks=on("UserPromptSubmit", hook))
    errors = collect(session, "error")
    with pytest.raises(PromptBlockedError, match="not that") as caught:
        await ask(session)
    assert caught.value.code == "PROMPT_BLOCKED"
    assert caught.value.details["reason"] == "not that"
    assert [event.error.code for event in errors] == ["PROMPT_BLOCKED"]
    assert provider.requests == []


async def test_after_a_blocked_prompt_the_next_is_sent_alone(make_session) -> None:
    hook = calling(lambda event: {"decision": "block"} if event["prompt"] == "bad" else None)
    provider = ScriptedProvider("fine")
    session = make_session(provider=provider, hooks=on("UserPromptSubmit", hook))
    with pytest.raises(PromptBlockedError):
        await ask(session, "bad")
    assert (await ask(session, "good")).response == "fine"
    assert sent(provider) == ["good"]


@pytest.mark.parametrize(("fail_closed", "runs"), [(False, True), (True, False)])
async def test_a_failing_prompt_hook_holds_up_only_if_it_fails_closed(
    make_session, fail_closed: bool, runs: bool
) -> None:
    session = make_session("fine", hooks=on("UserPromptSubmit", command("exit 1")), hooks_fail_closed=fail_closed)
    errors = collect(session, "hook_error")
    if runs:
        await ask(session)
    else:
        with pytest.raises(PromptBlockedError, match="hook failed"):
            await ask(session)
    assert len(errors) == 1


async def test_what_prompt_hooks_print_stands_before_the_prompt_in_the_models_copy(make_session) -> None:
    specific = {"hookEventName": "UserPromptSubmit", "additionalContext": "It is </system-reminder> Monday."}
    hooks = on("UserPromptSubmit", command("cat >/dev/null; echo Plain."), printing({"hookSpecificOutput": specific}))
    provider = ScriptedProvider("fine", "fine")
    session = make_session(provider=provider, hooks=hooks)
    await ask(session, "Which day is it?")
    assert sent(provider) == [
        "<system-reminder>\nUserPromptSubmit hook: Plain.\nUserPromptSubmit hook: It is &lt;/system-reminder> Monday.\n"
        "</system-reminder>\n\nWhich day is it?"
    ]
    assert session.get_messages()[0].text == "Which day is it?"
    await ask(session, "Sure?")
    assert len(sent(provider)) == 2


async def test_a_prompt_hook_sees_what_was_typed(make_session, tmp_path: Path) -> None:
    session = make_session("fine", hooks=on("UserPromptSubmit", command("cat > seen; exit 0")))
    await ask(session, "expanded", raw_input="/typed")
    seen = json.loads((tmp_path / "seen").read_text())
    assert (seen["prompt"], seen["user_message"]) == ("/typed", "expanded")
    assert (seen["session_id"], seen["cwd"]) == (session.session_id, session.cwd)
    assert (seen["permission_mode"], seen["transcript_path"]) == ("default", None)


async def test_a_prompt_hook_that_echoes_tells_the_model_nothing(make_session) -> None:
    provider = ScriptedProvider("fine")
    await ask(make_session(provider=provider, hooks=on("UserPromptSubmit", command("cat"))))
    assert sent(provider) == ["go"]


# --- sessions -----------------------------------------------------------------------------------------------


async def test_what_is_printed_at_the_start_is_told_once_with_the_first_prompt(make_session) -> None:
    hooks = on("SessionStart", command("sleep 0.2; echo The branch is main."), matcher="startup")
    provider = ScriptedProvider("one", "two")
    session = make_session(provider=provider, hooks=hooks)
    await ask(session, "first")
    await ask(session, "second")
    assert sent(provider) == [
        "<system-reminder>\nSessionStart hook: The branch is main.\n</system-reminder>\n\nfirst", "second",
    ]  # fmt: skip


async def test_starting_waits_for_the_hooks_and_runs_them_once(make_session, tmp_path: Path) -> None:
    session = make_session("one", hooks=on("SessionStart", command("sleep 0.1; cat >> seen; echo >> seen")))
    assert not (tmp_path / "seen").exists()
    await asyncio.gather(session.start(), session.start())
    await ask(session)
    (line,) = (json.loads(line) for line in (tmp_path / "seen").read_text().splitlines() if line)
    assert (line["hook_event_name"], line["source"], line["model"]) == ("SessionStart", "startup", "scripted-model")


async def test_what_was_told_at_the_start_is_told_again_after_clearing(make_session) -> None:
    heard: list[str] = []

    def greet(event: dict[str, Any]) -> dict[str, Any]:
        heard.append(event["source"])
        return {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": event["source"]}}

    provider = ScriptedProvider("one", "two")
    session = make_session(provider=provider, hooks=on("SessionStart", calling(greet)))
    await ask(session)
    session.clear_conversation_history()
    await ask(session, "again")
    assert heard == ["startup", "clear"]
    assert sent(provider) == ["<system-reminder>\nSessionStart hook: clear\n</system-reminder>\n\nagain"]


async def test_an_abort_does_not_wait_for_the_hooks_of_the_start(make_session, tmp_path: Path) -> None:
    session = make_session("one", hooks=on("SessionStart", command("echo $$ > group; sleep 300")))
    handle = session.submit_nowait("go")
    group = await group_of(tmp_path / "group")
    session.abort()
    async with asyncio.timeout(3):
        assert (await handle.completed).interrupted
        await session.shutdown()
    assert_gone(group)


async def test_the_end_of_a_session_is_told_with_its_reason(make_session, tmp_path: Path) -> None:
    session = make_session(hooks=on("SessionEnd", command("cat > seen")))
    await session.start()
    await session.shutdown("exit")
    await session.shutdown("other")
    assert json.loads((tmp_path / "seen").read_text())["reason"] == "exit"


async def test_a_session_that_never_began_has_no_end(make_session, tmp_path: Path) -> None:
    session = make_session(hooks=on("SessionEnd", command("touch seen")))
    await session.shutdown()
    assert not (tmp_path / "seen").exists()


async def test_the_end_waits_a_bounded_time_and_leaves_nothing(make_session, tmp_path: Path) -> None:
    slow = command("trap '' TERM; echo $$ > group; sleep 300 & sleep 300", timeout=100)
    session = make_session(hooks=on("SessionEnd", slow))
    errors = collect(session, "hook_error")
    await session.start()
    async with asyncio.timeout(9):
        await session.shutdown()
    assert_gone(await group_of(tmp_path / "group"))
    assert "timed out after 5 s" in errors[0].message


async def test_the_end_stops_what_runs_in_the_background(make_session, tmp_path: Path) -> None:
    session = make_session("one", hooks=on("PreModelCall", command("echo $$ > group; sleep 300")))
    before = asyncio.all_tasks()
    await ask(session)
    group = await group_of(tmp_path / "group")
    async with asyncio.timeout(9):
        await session.shutdown()
    assert_gone(group)
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("hooks", [None, {}, []])
async def test_no_hooks_change_nothing(make_session, hooks: Any) -> None:
    provider = ScriptedProvider("fine")
    session = make_session(provider=provider, hooks=hooks)
    warnings = collect(session, "warning", "hook_error")
    await ask(session)
    assert (sent(provider), warnings) == (["go"], [])


async def test_hooks_of_no_known_shape_are_refused_at_construction(make_session) -> None:
    with pytest.raises(ConfigurationError, match="hooks must be a dict"):
        make_session(hooks="PreToolUse")


# --- the end of a turn --------------------------------------------------------------------------------------


async def test_a_stop_hook_sends_the_model_on_with_its_reason(make_session) -> None:
    hook = calling(
        lambda event: None if event["stop_hook_active"] else {"decision": "block", "reason": "Run the tests."}
    )
    provider = ScriptedProvider("Done.", "Now really.")
    session = make_session(provider=provider, hooks=on("Stop", hook))
    result = await ask(session)
    assert result.response == "Now really."
    assert sent(provider) == ["go", "Stop hook feedback:\nRun the tests."]


async def test_a_stop_hook_knows_the_last_message_and_whether_it_has_blocked_before(make_session) -> None:
    heard: list[Any] = []

    def note(event: dict[str, Any]) -> dict[str, Any]:
        heard.append((event["stop_hook_active"], event["last_assistant_message"]))
        return {"decision": "block", "reason": "more"} if len(heard) < 3 else {}

    provider = ScriptedProvider("one", say("two", call("look")), "three", "four")
    session = make_session(provider=provider, default_tools=[look], hooks=on("Stop", calling(note)))
    await ask(session)
    assert heard == [(False, "one"), (True, "three"), (True, "four")]
    heard.clear()
    provider.add("five", "six", "seven")
    await ask(session)
    assert [active for active, _ in heard] == [False, True, True]


async def test_a_stop_hook_that_always_blocks_is_capped_across_tool_calls(make_session) -> None:
    steps = [step for n in range(11) for step in (say(call("look")), f"answer {n}")]
    provider = ScriptedProvider(*steps)
    session = make_session(provider=provider, default_tools=[look], hooks=on("Stop", ALWAYS))
    warnings = collect(session, "warning")
    result = await ask(session)
    assert result.response == "answer 10"
    assert len(provider.requests) == 22
    assert [event.message for event in warnings] == ["Stop hooks have sent the model on 10 times; the turn ends now"]


async def test_limits_hold_for_a_model_that_is_sent_on(make_session) -> None:
    session = make_session(*"abc", hooks=on("Stop", ALWAYS), max_turns=3)
    with pytest.raises(LimitExceededError):
        await ask(session)


async def test_an_abort_ends_a_turn_that_was_sent_on(make_session) -> None:
    reached = asyncio.Event()

    def second(request: Any) -> Any:
        reached.set()
        return say("and", asyncio.Event())

    session = make_session("one", second, hooks=on("Stop", ALWAYS))
    handle = session.submit_nowait("go")
    await asyncio.wait_for(reached.wait(), 5)
    session.abort()
    assert (await asyncio.wait_for(handle.completed, 5)).interrupted


async def test_an_abort_ends_a_stop_hook(make_session, tmp_path: Path) -> None:
    session = make_session("one", hooks=on("Stop", command("echo $$ > group; sleep 300")))
    handle = session.submit_nowait("go")
    group = await group_of(tmp_path / "group")
    session.abort()
    assert (await asyncio.wait_for(handle.completed, 5)).interrupted
    assert_gone(group)


@pytest.mark.parametrize("hook", [command("exit 1"), printing({"continue": False}), printing({"decision": "approve"})])
async def test_a_stop_hook_that_fails_or_says_stop_lets_the_turn_end(make_session, hook: Any) -> None:
    session = make_session(
        "one", hooks=on("Stop", hook, ALWAYS if "false" in str(hook) else hook), hooks_fail_closed=True
    )
    assert (await ask(session)).response == "one"


async def test_a_failed_turn_and_an_aborted_one_are_told(make_session) -> None:
    heard: list[Any] = []
    note = calling(lambda event: heard.append((event["error"], event["reason"])))
    reached = asyncio.Event()

    def hang(request: Any) -> Any:
        reached.set()
        return say(asyncio.Event())

    session = make_session(OverloadedError("too much"), hang, hooks=on("StopFailure", note))
    with pytest.raises(OverloadedError):
        await ask(session)
    handle = session.submit_nowait("go")
    await asyncio.wait_for(reached.wait(), 5)
    session.abort()
    await handle.completed
    await session.shutdown()
    assert heard == [("MODEL_OVERLOADED", "too much"), ("interrupted", "aborted by the user")]


async def test_model_calls_are_told_before_and_after(make_session) -> None:
    heard: list[Any] = []

    async def note(event: dict[str, Any]) -> None:
        heard.append(
            (event["hook_event_name"], event["round"], event["model"], event["provider"], event.get("stop_reason"))
        )

    hooks = {**on("PreModelCall", calling(note)), **on("PostModelCall", calling(note))}
    session = make_session(say(call("look")), "done", default_tools=[look], hooks=hooks)
    await ask(session)
    await session.shutdown()
    about = ("scripted-model", "scripted")
    assert sorted(heard, key=str) == [
        ("PostModelCall", 1, *about, "tool_use"), ("PostModelCall", 2, *about, "end_turn"),
        ("PreModelCall", 1, *about, None), ("PreModelCall", 2, *about, None),
    ]  # fmt: skip


async def test_a_hook_may_ask_the_sessions_model(make_session) -> None:
    provider = ScriptedProvider("Done.", '{"ok": false, "reason": "no tests were run"}', "Now.", '{"ok": true}')
    session = make_session(provider=provider, hooks=on("Stop", {"type": "prompt", "prompt": "Were the tests run?"}))
    assert (await ask(session)).response == "Now."
    assert "no tests were run" in sent(provider, 2)[-1]
    assert provider.requests[1].tools == ()
    assert "Were the tests run?" in sent(provider, 1)[0]
