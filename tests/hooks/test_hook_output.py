import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.hooks import HookEvent
from agentframework.hooks.merge import merge
from agentframework.hooks.model import HookAnswer, HookFailedError, Verdict
from agentframework.hooks.output import BLOCKED, read_output

BLOCK = '{"decision": "block", "reason": "r"}'
ALLOW = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'


def before(text: str) -> HookAnswer:
    return read_output(HookEvent.PRE_TOOL_USE, text)


@pytest.mark.parametrize(
    "text",
    [
        BLOCK,
        f"ready\n{BLOCK}",
        f"ready {BLOCK} done",
        f"\x1b]0;title\x07{BLOCK}\n",
        f'{{"systemMessage": "hello"}}\n{BLOCK}\n',
        f'{{"level": "info"}}\n{BLOCK}\n{{"level": "info"}}',
        json.dumps(json.loads(BLOCK), indent=4) + "\n\n",
        f"\ufeff{BLOCK}",
        f'broken: {{"a": \n{BLOCK}',
        f'{{"{{"{{"x {BLOCK}',
        f"[{BLOCK}]",
    ],
)
def test_a_block_is_found_wherever_it_stands(text: str) -> None:
    answer = before(text)
    assert (answer.decision, answer.reason) == ("deny", "r")


@pytest.mark.parametrize(
    "text",
    ['{"decision": "block"', '{"decision": "block", "reason": NaN}', '{"a": {"b": 1}', f"{ALLOW[:-1]}", '{"x": 1e'],
)
def test_json_that_cannot_be_read_is_a_failure(text: str) -> None:
    with pytest.raises(HookFailedError, match="cannot be read"):
        before(text)


@pytest.mark.parametrize(
    "text", ["", "  \n", "all is well", "[]", '"x"', "5", "null", "function() { return 1 }", "x" * 50_000]
)
def test_what_is_no_object_is_no_decision(text: str) -> None:
    assert before(text) == HookAnswer()


@pytest.mark.parametrize(
    "text",
    [f"checking: echo '{ALLOW}'", f"{ALLOW}\n{ALLOW}", f"[{ALLOW}]", '{"a": 1}\n{"updatedInput": {"command": "x"}}'],
)
def test_an_allow_or_change_among_other_output_is_a_failure(text: str) -> None:
    with pytest.raises(HookFailedError, match="all that it prints"):
        before(text)


@pytest.mark.parametrize(
    ("output", "decision"),
    [
        ({"continue": True}, None),
        ({"continue": False, "stopReason": "enough"}, "deny"),
        ({"suppressOutput": True}, None),
        ({"unknown": [1, 2]}, None),
        ({}, None),
        ({"decision": "approve"}, "allow"),
        ({"decision": "allow"}, "allow"),
        ({"decision": "block"}, "deny"),
        ({"decision": "deny"}, "deny"),
        ({"decision": None, "reason": None}, None),
        ({"permissionDecision": "deny"}, "deny"),
        ({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}, "ask"),
        ({"hookSpecificOutput": {"permissionDecision": "allow"}}, "allow"),
        ({"hookSpecificOutput": {"permissionDecision": "defer"}}, "ask"),
        ({"hookSpecificOutput": {"permissionDecision": "allow"}, "decision": "block"}, "deny"),
        ({"hookSpecificOutput": {"permissionDecision": "maybe"}, "decision": "block"}, "deny"),
        ({"hookSpecificOutput": {"permissionDecision": "allow"}, "continue": False}, "deny"),
        ({"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "deny"}}, "deny"),
    ],
)
def test_known_fields_are_honoured(output: dict[str, Any], decision: Verdict | None) -> None:
    assert before(json.dumps(output)).decision == decision


@pytest.mark.parametrize(
    "output",
    [
        {"hookSpecificOutput": {"permissionDecision": "maybe"}},
        {"hookSpecificOutput": {"permissionDecision": True}},
        {"hookSpecificOutput": {"permissionDecision": ["allow"]}},
        {"hookSpecificOutput": {"permissionDecision": "ALLOW"}},
        {"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "allow"}},
        {"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": "ls"}},
        {"hookSpecificOutput": {"additionalContext": ["a"]}},
        {"hookSpecificOutput": "allow"},
        {"decision": "sure"},
        {"decision": {"behavior": "allow"}},
        {"continue": "false"},
        {"systemMessage": 5},
    ],
)
def test_a_value_that_is_not_understood_is_a_failure_and_no_yes(output: dict[str, Any]) -> None:
    with pytest.raises(HookFailedError):
        before(json.dumps(output))


@pytest.mark.parametrize(
    "text",
    [
        '{"decision": "block", "reason": "", "decision": "approve", "x": ""}',
        '{"reason": "", "decision": "approve", "x": "", "decision": "block"}',
        '{"hookSpecificOutput": {"permissionDecision": "deny"}, "hookSpecificOutput": {"permissionDecision": "allow"}}',
    ],
)
def test_a_field_named_twice_cannot_turn_a_block_into_a_yes(text: str) -> None:
    assert before(text).decision == "deny"


def test_an_allow_with_a_field_named_twice_is_a_failure() -> None:
    with pytest.raises(HookFailedError):
        before('{"decision": "approve", "decision": "approve"}')


def test_reasons_come_from_where_they_are_given() -> None:
    assert before('{"decision": "block", "stopReason": "s"}').reason == "s"
    assert before('{"decision": "block", "reason": 5}').reason == BLOCKED
    specific = {"permissionDecision": "deny", "permissionDecisionReason": "because"}
    assert before(json.dumps({"hookSpecificOutput": specific, "reason": "r"})).reason == "because"


def test_input_context_and_message_arrive() -> None:
    specific = {"permissionDecision": "ask", "updatedInput": {"command": "ls -l"}, "additionalContext": "note"}
    answer = before(json.dumps({"hookSpecificOutput": specific, "systemMessage": "hello"}))
    assert answer == HookAnswer("ask", "", {"command": "ls -l"}, "note", "hello")
    assert before('{"updatedInput": {"command": "x"}}').updated_input == {"command": "x"}


@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "UserPromptSubmit", "Notification"])
def test_only_some_events_can_be_allowed_or_asked_about(event: str) -> None:
    for word in ("approve", "allow", "ask"):
        assert read_output(HookEvent(event), json.dumps({"decision": word})).decision is None
    assert read_output(HookEvent(event), BLOCK).decision == "deny"


def test_a_hook_that_echoes_its_input_says_nothing() -> None:
    for event in HookEvent:
        echo = {
            "session_id": "s",
            "cwd": "/",
            "hook_event_name": str(event),
            "tool_input": {"decision": "block"},
            "reason": "x",
        }
        assert read_output(event, json.dumps(echo)) == HookAnswer()


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_plain_text_is_context_where_something_is_about_to_begin(event: str) -> None:
    assert read_output(HookEvent(event), "  The branch is main.\n") == HookAnswer(context="The branch is main.")
    assert read_output(HookEvent(event), 'Use {"a": ').context == 'Use {"a":'
    with pytest.raises(HookFailedError):
        read_output(HookEvent(event), '{"a": ')


def test_context_is_cut_visibly() -> None:
    answer = read_output(HookEvent.SESSION_START, "x" * 2_000_000)
    assert len(answer.context) <= 10_000
    assert "2000000 characters in all" in answer.context


def test_a_permission_request_is_answered_by_its_own_field() -> None:
    def ask(**decision: Any) -> HookAnswer:
        specific = {"hookEventName": "PermissionRequest", "decision": decision}
        return read_output(HookEvent.PERMISSION_REQUEST, json.dumps({"hookSpecificOutput": specific}))

    assert ask(behavior="allow").decision == "allow"
    assert ask(behavior="allow", updatedInput={"a": 1}).updated_input == {"a": 1}
    assert ask(behavior="deny", message="no") == HookAnswer("deny", "no")
    with pytest.raises(HookFailedError):
        ask(behavior="perhaps")


@pytest.mark.parametrize("text", ['{"a":' * 50_000, '{"' * 100_000, '{"a":[' * 30_000, '{"a":1},' * 50_000 + '{"'])
def test_hostile_output_takes_no_time(text: str) -> None:
    began = time.process_time()
    with pytest.raises(HookFailedError):
        before(text)
    assert time.process_time() - began < 3


@given(st.text(max_size=200))
def test_no_text_without_an_object_allows_or_changes_anything(text: str) -> None:
    try:
        answer = before(text)
    except HookFailedError:
        return
    assert answer.decision in (None, "deny")
    assert answer.updated_input is None


verdicts: st.SearchStrategy[Verdict | None] = st.sampled_from([None, "allow", "ask", "deny"])
answers = st.builds(
    HookAnswer, verdicts, st.sampled_from(["", "a", "b"]), st.none() | st.sampled_from([{"x": 1}, {"x": 2}])
)


@given(st.lists(answers, max_size=5))
def test_the_strictest_verdict_holds_and_an_allow_only_for_the_input_it_was_given_for(found: list[HookAnswer]) -> None:
    outcome = merge(found)
    said = {answer.decision for answer in found}
    if "deny" in said:
        assert outcome.decision == "deny"
    elif "ask" in said:
        assert outcome.decision == "ask"
    elif outcome.decision == "allow" and outcome.updated_input is not None:
        assert any(answer.decision == "allow" and answer.updated_input == outcome.updated_input for answer in found)
    else:
        assert outcome.decision in (None, "allow")
    first = next((a.reason for a in found if a.decision == outcome.decision and a.reason), "")
    assert outcome.reason == (first if outcome.decision else "")


def test_of_two_changes_the_first_of_the_stronger_verdict_is_used() -> None:
    plain, other, asking = (HookAnswer(None, "", {"x": n}) for n in (1, 2, 3))
    assert merge([plain, other]).updated_input == {"x": 1}
    assert merge([plain, other]).outdone == (1,)
    assert merge([plain, HookAnswer("ask", "", asking.updated_input)]).updated_input == {"x": 3}
    assert merge([plain, HookAnswer("ask")]).updated_input == {"x": 1}
    assert merge([plain, plain]).outdone == ()


def test_an_allow_does_not_hold_for_what_another_hook_has_made_of_the_input() -> None:
    assert merge([HookAnswer("allow"), HookAnswer(None, "", {"x": 1})]).decision is None
    assert merge([HookAnswer("allow"), HookAnswer("allow", "", {"x": 1})]).decision == "allow"
