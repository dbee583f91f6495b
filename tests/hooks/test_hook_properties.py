"""Whatever hooks print, the gate lets through no more than without them, but for a clear yes."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hookkit import Desk, command, on
from hypothesis import given, settings
from hypothesis import strategies as st

from agentframework._base.abort import AbortSignal
from agentframework.events.sink import EventSink
from agentframework.loop.hooking import TurnHooks
from agentframework.messages import ToolCall
from agentframework.permissions import (
    Decision,
    GateCall,
    PermissionGate,
    PermissionRules,
    PromptBroker,
    TurnScope,
    parse_rules,
)
from agentframework.sandbox import LocalSandbox
from agentframework.tools import Tool

BASH = Tool(
    "Bash",
    "",
    {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    lambda arguments, context: "",
    "execute",
    "command",
)
RULES = PermissionRules(allow=["Bash(echo:*)"], ask=["Bash(git push:*)"], deny=["Bash(rm:*)"])
COMMANDS = ("ls", "echo x", "git push", "rm x", "echo x; rm x")

words = st.sampled_from(
    [
        "allow",
        "approve",
        "deny",
        "block",
        "ask",
        "defer",
        "maybe",
        "ALLOW",
        "PreToolUse",
        "PostToolUse",
        True,
        False,
        None,
    ]
)
fields = st.sampled_from(
    ["decision", "permissionDecision", "hookEventName", "behavior", "continue", "reason", "ok", "additionalContext"]
)
inputs = st.sampled_from([{"command": text} for text in COMMANDS]) | st.just({"command": 5}) | st.just("ls")
outputs = st.dictionaries(fields, words, max_size=3).flatmap(
    lambda top: st.fixed_dictionaries(
        {}, optional={"hookSpecificOutput": st.dictionaries(fields, words, max_size=3), "updatedInput": inputs}
    ).map(lambda more: {**top, **more})
)
printed = st.one_of(
    outputs.map(lambda value: json.dumps(value).encode()),
    st.lists(outputs, min_size=2, max_size=3).map(lambda some: "\n".join(json.dumps(one) for one in some).encode()),
    outputs.flatmap(lambda value: st.integers(0, 60).map(lambda cut: json.dumps(value).encode()[:-cut])),
    st.binary(max_size=60),
    st.tuples(st.text(max_size=20), outputs).map(lambda pair: f"{pair[0]}{json.dumps(pair[1])}".encode()),
)


def clear_yes(data: bytes) -> bool:
    """Whether the output is one object that says yes and nothing else."""
    try:
        value: Any = json.loads(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    except ValueError:
        return False
    places = [value, value.get("hookSpecificOutput")] if isinstance(value, dict) else []
    said = [place.get(key) for place in places if isinstance(place, dict) for key in ("decision", "permissionDecision")]
    return bool({"allow", "approve"} & {word for word in said if isinstance(word, str)})


def gate(cwd: Path, mode: str, hooks: TurnHooks | None) -> PermissionGate:
    sink = EventSink("s", lambda event: None, lambda name: False)
    return PermissionGate(
        mode=mode,
        rules=parse_rules(RULES, base=str(cwd.resolve()), home=None),
        sandbox=LocalSandbox(cwd),
        prompts=PromptBroker(sink),
        sink=sink,
        hooks=hooks,
    )


async def decide(cwd: Path, mode: str, text: str, line: str, fail_closed: bool) -> Decision:
    desk = Desk(cwd, on("PreToolUse", command(line)), fail_closed=fail_closed)
    hooks = TurnHooks(desk.engine, EventSink("s", lambda event: None, lambda name: False), lambda task: None)
    call = GateCall(ToolCall("t1", "Bash", {"command": text}), BASH)
    async with asyncio.timeout(10):
        (decision,) = await gate(cwd, mode, hooks).decide([call], TurnScope("alice", AbortSignal()))
    return decision


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hooks")


@settings(max_examples=150)
@given(
    data=printed,
    code=st.sampled_from([0, 0, 0, 0, 1, 2, 127]),
    text=st.sampled_from(COMMANDS),
    mode=st.sampled_from(["default", "plan", "bypassPermissions"]),
    fail_closed=st.booleans(),
)
def test_no_output_lets_more_through_but_a_clear_yes(
    folder: Path, data: bytes, code: int, text: str, mode: str, fail_closed: bool
) -> None:
    (folder / "answer").write_bytes(data)
    decision = asyncio.run(decide(folder, mode, text, f"cat answer; exit {code}", fail_closed))
    if code == 2:
        assert decision.kind != "allow"
    if decision.kind != "allow":
        return
    ran = decision.arguments["command"]
    without = gate(folder, mode, None).explain(GateCall(ToolCall("t1", "Bash", {"command": ran}), BASH))
    assert without.outcome == "allow" or (without.outcome == "ask" and clear_yes(data))
    assert "rm" not in ran
    assert "git push" not in ran
    assert mode != "plan"
    if ran != text:
        assert code == 0


@settings(max_examples=40)
@given(said=st.text(alphabet=st.sampled_from('{}[]":, \n\\adelow'), max_size=40), end=st.sampled_from(["", "\n", '"}']))
def test_no_text_that_the_model_wrote_turns_a_block_beside_it_into_a_yes(folder: Path, said: str, end: str) -> None:
    (folder / "answer").write_text(f'checking {said}{end}\n{{"decision": "block", "reason": "no"}}\n')
    decision = asyncio.run(decide(folder, "bypassPermissions", "echo x", "cat answer", True))
    assert decision.kind == "blocked"
