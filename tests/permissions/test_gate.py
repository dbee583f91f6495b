import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from gatekit import TOOLS, Bench

from agentframework._base.abort import AbortSignal
from agentframework.errors import ErrorCode
from agentframework.events import PermissionDecision, PermissionRequest, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.messages import ToolCall
from agentframework.permissions import (
    Decision,
    GateCall,
    PermissionAnswer,
    PermissionGate,
    PermissionRules,
    PromptBroker,
    TurnScope,
    parse_rules,
)
from agentframework.sandbox import LocalSandbox, ResolvedPath
from agentframework.tools import Tool


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def ignore(_event: Any) -> None:
    return None


async def test_allowed_calls_run_with_their_arguments_and_ask_nobody(bench: Bench) -> None:
    decision = await bench.run("Read", file_path="a")
    assert decision == Decision("allow", {"file_path": "a"}, "default mode allows reading and searching", "mode")
    assert bench.seen(PermissionRequest) == []


async def test_unattended_calls_that_need_a_yes_are_denied_at_once(bench: Bench) -> None:
    decision = await asyncio.wait_for(bench.run("Bash", command="ls"), 1)
    assert (decision.kind, decision.stage, decision.code) == ("deny", "prompt", ErrorCode.TOOL_APPROVAL_REQUIRED)
    assert "default mode asks before running commands" in decision.message
    assert "nobody listens" in decision.message


async def test_a_yes_allows_and_a_no_denies(bench: Bench) -> None:
    bench.answer_with(lambda event: event.tool_name == "Write")
    assert (await bench.run("Write", file_path="a")).kind == "allow"
    refused = await bench.run("Bash", command="ls")
    assert (refused.kind, refused.code, refused.reason) == (
        "deny",
        ErrorCode.TOOL_DENIED,
        "the user did not approve this action",
    )


async def test_the_message_of_a_no_reaches_the_model(bench: Bench) -> None:
    bench.answer_with(lambda event: PermissionAnswer(False, message="use make instead"))
    assert (await bench.run("Bash", command="ls")).message.endswith("use make instead")


async def test_questions_of_one_round_are_open_together_and_answered_apart(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    calls = [
        bench.call("Bash", command="one"),
        bench.call("Read", file_path="a"),
        bench.call("Bash", command="two"),
        bench.call("Write", file_path="b"),
    ]
    task = asyncio.create_task(bench.decide(*calls))
    await bench.until_pending(3)
    asked = bench.seen(PermissionRequest)
    assert [event.id for event in asked] == ["p1", "p2", "p3"]
    assert [event.tool_use_id for event in asked] == [calls[0].call.id, calls[2].call.id, calls[3].call.id]
    bench.prompts.resolve_permission("p3", False)
    bench.prompts.resolve_permission("p2", True)
    bench.prompts.resolve_permission("p1", False)
    decisions = await asyncio.wait_for(task, 5)
    assert [decision.kind for decision in decisions] == ["deny", "allow", "allow", "deny"]


async def test_abort_settles_every_open_question_of_a_round(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    task = asyncio.create_task(bench.decide(bench.call("Bash", command="a"), bench.call("Bash", command="b")))
    await bench.until_pending(2)
    bench.abort.abort()
    decisions = await asyncio.wait_for(task, 5)
    assert [decision.kind for decision in decisions] == ["deny", "deny"]
    assert "aborted" in decisions[0].message


async def test_cancelling_decide_withdraws_its_questions(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    task = asyncio.create_task(bench.decide(bench.call("Bash", command="a"), bench.call("Bash", command="b")))
    await bench.until_pending(2)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.prompts.pending == ()


async def test_an_empty_round_is_decided(bench: Bench) -> None:
    assert await bench.decide() == []


async def test_an_unknown_tool_is_named_with_those_there_are(bench: Bench) -> None:
    bench.answer_with(lambda event: True)
    decision = await bench.run("Reed", file_path="a")
    assert (decision.kind, decision.code) == ("invalid", ErrorCode.TOOL_NOT_FOUND)
    assert "'Reed'" in decision.message
    assert "Read, Write" in decision.message
    assert bench.seen(PermissionRequest) == []


@pytest.mark.parametrize(
    "call",
    [
        ToolCall("t", "Read", None, '{"file', "not valid JSON"),
        ToolCall("t", "Read", {"file_path": "a"}, "", "a duplicate key"),
        ToolCall("t", "Read", {}),
        ToolCall("t", "Read", {"file_path": 3}),
        ToolCall("t", "Write", {"file_path": "a", "content": "x" * 2_000}),
        ToolCall("t", "Read", {"file_path": "a"}, '{"file_path": "a"}' + " " * 2_000),
        ToolCall("t", "Read", {"file_path": "a\ud800" + "b" * 2_000}),
    ],
)
async def test_unusable_arguments_are_an_error_and_no_question(call: ToolCall, tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Read", "Write"], max_tool_argument_bytes=1_000)
    bench.answer_with(lambda event: True)
    (decision,) = await bench.decide(GateCall(call, TOOLS[call.name]))
    assert (decision.kind, decision.code, decision.stage) == (
        "invalid",
        ErrorCode.TOOL_ARGUMENTS_INVALID,
        "arguments",
    )
    assert bench.seen(PermissionRequest) == []


async def test_a_schema_that_cannot_be_used_is_no_pass(bench: Bench) -> None:
    tool = Tool("odd", "", {"type": "object", "properties": {"a": {"type": 5}}}, lambda _a, _c: "", "inspect")
    (decision,) = await bench.decide(GateCall(ToolCall("t", "odd", {"a": 1}), tool))
    assert decision.code == ErrorCode.TOOL_ARGUMENTS_INVALID


async def test_every_decision_is_recorded_without_arguments(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(ls:*)"], deny=["Bash(rm:*)", "Bash(git push x)"])
    marker = "xyzzy"
    await bench.decide(
        bench.call("Bash", command=f"ls {marker}"),
        bench.call("Bash", command=f"rm {marker}"),
        bench.call("Bash", command=f"ls && touch {marker}"),
        bench.call("Bash", command=f"git push $({marker})"),
        bench.call("Write", file_path=f"../{marker}"),
        bench.call("Read", file_path=[marker]),
        bench.call("unknown", a=marker),
    )
    events = bench.seen(PermissionDecision)
    assert [(event.decision, event.stage) for event in events] == [
        ("allow", "allow"),
        ("deny", "deny"),
        ("deny", "prompt"),
        ("deny", "prompt"),
        ("deny", "prompt"),
        ("deny", "arguments"),
        ("deny", "arguments"),
    ]
    assert events[1].rule == "Bash(rm:*)"
    assert marker not in repr(events)


async def test_the_request_says_why_and_suggests_narrow_rules(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(git status:*)"])
    bench.answer_with(lambda event: False)
    (tmp_path / "src").mkdir()
    for name, arguments, suggestions in (
        ("Bash", {"command": "npm test -- -x"}, ("Bash(npm test:*)",)),
        ("Bash", {"command": "git status && npm run build && touch a"}, ("Bash(npm run build:*)", "Bash(touch a)")),
        ("Bash", {"command": "rm *"}, ()),
        ("Bash", {"command": 'bash -c "$X"'}, ()),
        ("Bash", {"command": "git push origin main"}, ("Bash(git push:*)",)),
        ("Write", {"file_path": "src/a.py"}, ("Edit(src/a.py)",)),
        ("Edit", {"file_path": f"{tmp_path}/src/../b.py"}, ("Edit(b.py)",)),
        ("note", {"text": "x"}, ("note",)),
        ("mcp__srv__a", {}, ("mcp__srv__a",)),
    ):
        await bench.run(name, **arguments)
        assert bench.seen(PermissionRequest)[-1].suggestions == suggestions, arguments
    (fetch,) = await Bench(tmp_path, mode="default", ask=["WebFetch"]).decide(bench.call("WebFetch", url="http://x"))
    assert fetch.kind == "deny"


async def test_a_suggested_rule_covers_the_call_it_was_offered_for(tmp_path: Path) -> None:
    asking = Bench(tmp_path)
    for name, arguments in (
        ("Bash", {"command": "npm run build && git push origin main | tee -a x"}),
        ("Write", {"file_path": "src/a.py"}),
        ("Write", {"file_path": "~odd"}),
        ("mcp__srv__a", {}),
    ):
        suggestions = asking.explain(name, **arguments).suggestions
        assert Bench(tmp_path, allow=suggestions).outcome(name, **arguments) == "allow", name


async def test_allow_session_covers_this_very_command_and_no_other(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    bench = Bench(root, home=tmp_path)
    answers: list[Any] = ["allow-session"]
    bench.answer_with(lambda event: answers[0])
    assert (await bench.run("Bash", command="touch 1.txt")).rule == "Bash(touch 1.txt)"
    assert (await bench.run("Write", file_path="a.txt")).kind == "allow"
    assert (await bench.run("mcp__srv__a", q="1")).kind == "allow"
    answers[0] = False
    again = await bench.run("Bash", command="touch 1.txt")
    assert (again.kind, again.stage, again.rule) == ("allow", "grant", "Bash(touch 1.txt)")
    assert (await bench.run("Write", file_path="./x/../a.txt", content="other")).kind == "allow"
    assert (await bench.run("mcp__srv__a", q="1")).kind == "allow"
    for command in ("touch 2.txt", "rm 1.txt", "touch ~/1.txt", "touch 1.txt && rm 1.txt", "cd .. && touch 1.txt"):
        assert (await bench.run("Bash", command=command)).kind == "deny", command
    for name, arguments in (
        ("Write", {"file_path": "../b.txt"}),
        ("Write", {"file_path": "b.txt"}),
        ("Edit", {"file_path": "a.txt"}),
        ("mcp__srv__b", {"q": "1"}),
        ("mcp__srv__a", {"q": "2"}),
    ):
        assert (await bench.run(name, **arguments)).kind == "deny", name
    other = Bench(root)
    assert other.bash("touch 1.txt") == "ask"


async def test_a_granted_line_covers_each_of_its_commands_in_its_directory(bench: Bench) -> None:
    answers: list[Any] = ["allow-session"]
    bench.answer_with(lambda event: answers[0])
    await bench.run("Bash", command="make all && cp a b > log")
    answers[0] = False
    assert bench.bash("make all") == "allow"
    assert bench.bash("cp a b") == "allow"
    assert bench.bash("cp a b > log") == "allow"
    assert bench.bash("cp a b > other") == "ask"
    assert bench.bash("cd sub && make all") == "ask"
    assert bench.bash("make all clean") == "ask"
    assert bench.bash("sudo make all") == "ask"


async def test_a_grant_with_unknown_words_covers_only_the_same_line(bench: Bench) -> None:
    bench.answer_with(lambda event: "allow-session")
    line = 'for f in a b; do rm "$f"; done'
    await bench.run("Bash", command=line)
    assert bench.bash(line) == "allow"
    assert bench.bash('for f in c d; do rm "$f"; done') == "ask"
    assert bench.bash('rm "$f"') == "ask"


async def test_a_grant_does_not_follow_the_shell_to_another_directory(tmp_path: Path) -> None:
    where = [str(tmp_path)]
    bench = Bench(tmp_path, shell_directory=lambda: where[0])
    bench.answer_with(lambda event: "allow-session")
    await bench.run("Bash", command="rm -r build")
    assert bench.bash("rm -r build") == "allow"
    where[0] = "/"
    assert bench.bash("rm -r build") == "ask"


async def test_an_earlier_cd_of_the_round_makes_the_directory_unknown(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash"], deny=["Read(./.env)"])
    first, second = await bench.decide(bench.call("Bash", command="cd sub"), bench.call("Bash", command="cat ../.env"))
    assert (first.kind, second.kind, second.code) == ("allow", "deny", ErrorCode.TOOL_APPROVAL_REQUIRED)
    first, second = await bench.decide(bench.call("Bash", command="ls sub"), bench.call("Bash", command="cat ../.env"))
    assert (first.kind, second.kind) == ("allow", "allow")


async def test_an_explicit_rule_is_the_grant(bench: Bench) -> None:
    bench.answer_with(lambda event: PermissionAnswer(True, "session", rule="Bash(npm test:*)"))
    assert (await bench.run("Bash", command="npm test")).rule == "Bash(npm test:*)"
    assert bench.bash("npm test -- -x") == "allow"
    assert bench.bash("npm install") == "ask"
    assert [(grant.text, grant.scope) for grant in bench.gate.grants] == [("Bash(npm test:*)", "session")]


async def test_grants_can_be_listed_and_cleared(bench: Bench) -> None:
    bench.answer_with(lambda event: "allow-project" if event.tool_name == "Write" else "allow-session")
    await bench.run("Write", file_path="a")
    await bench.run("Bash", command="ls")
    await bench.run("Bash", command="ls")
    assert [grant.scope for grant in bench.gate.grants] == ["project", "session"]
    bench.gate.clear_grants()
    assert bench.gate.grants == ()
    assert bench.bash("ls") == "ask"


async def test_a_broken_rule_in_an_answer_allows_once_and_is_reported(bench: Bench) -> None:
    bench.answer_with(lambda event: PermissionAnswer(True, "session", rule="Bash("))
    assert (await bench.run("Bash", command="ls")).kind == "allow"
    assert bench.gate.grants == ()
    assert "Bash(" in bench.seen(WarningEvent)[0].message


async def test_a_scope_of_once_keeps_nothing(bench: Bench) -> None:
    bench.answer_with(lambda event: PermissionAnswer(True, "once", rule="Bash(ls:*)"))
    assert (await bench.run("Bash", command="ls")).kind == "allow"
    assert bench.gate.grants == ()


async def test_grants_lift_neither_deny_nor_ask_rules_nor_the_ceiling(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ask=["Bash(git push:*)"])
    bench.answer_with(lambda event: "allow-session")
    await bench.run("Bash", command="git push")
    await bench.run("Bash", command="ls")
    assert bench.bash("git push") == "ask"
    assert bench.bash("ls") == "allow"
    bench.gate.mode = "plan"  # type: ignore[assignment]
    assert bench.bash("ls") == "deny"
    bench.gate.mode = "default"  # type: ignore[assignment]
    bench.gate.rules += parse_rules(PermissionRules(deny=["Bash(ls)"]), base=str(tmp_path))
    assert bench.bash("ls") == "deny"


async def test_changed_input_is_judged_again(tmp_path: Path) -> None:
    bench = Bench(tmp_path, deny=["Bash(rm:*)"])
    changes: list[Any] = [{"command": "ls -la"}]
    bench.answer_with(lambda event: PermissionAnswer(True, updated_input=changes[0]))
    allowed = await bench.run("Bash", command="ls")
    assert (allowed.kind, allowed.arguments) == ("allow", {"command": "ls -la"})
    changes[0] = {"command": "ls; rm x"}
    assert (await bench.run("Bash", command="ls")).stage == "deny"
    changes[0] = {"command": 3}
    assert (await bench.run("Bash", command="ls")).kind == "invalid"
    changes[0] = {"command": "x" * 300_000}
    assert (await bench.run("Bash", command="ls")).kind == "invalid"


async def test_a_grant_for_changed_input_is_for_the_changed_input(bench: Bench) -> None:
    bench.answer_with(lambda event: PermissionAnswer(True, "session", updated_input={"command": "ls b"}))
    await bench.run("Bash", command="ls a")
    assert (bench.bash("ls b"), bench.bash("ls a")) == ("allow", "ask")


async def test_a_rule_or_mode_set_while_a_question_is_open_binds(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    for change in ("rules", "mode"):
        bench.gate.rules = parse_rules(PermissionRules(), base=str(bench.cwd))
        task = asyncio.create_task(bench.run("Bash", command="rm x"))
        await bench.until_pending(1)
        if change == "rules":
            bench.gate.rules = parse_rules(PermissionRules(deny=["Bash(rm:*)"]), base=str(bench.cwd))
        else:
            bench.gate.mode = "plan"  # type: ignore[assignment]
        bench.prompts.resolve_permission(bench.prompts.pending[0], True)
        assert (await asyncio.wait_for(task, 5)).kind == "deny"


async def test_explain_asks_nobody_and_emits_nothing(bench: Bench) -> None:
    bench.answer_with(lambda event: True)
    found = bench.explain("Bash", command="npm test")
    assert (found.outcome, found.stage, found.suggestions) == ("ask", "mode", ("Bash(npm test:*)",))
    assert bench.events == []


class _BrokenSandbox(LocalSandbox):
    def resolve(self, path: str) -> ResolvedPath:
        raise RuntimeError("disk on fire")


def _broken(tmp_path: Path, **options: Any) -> PermissionGate:
    bench = Bench(tmp_path)
    arguments: dict[str, Any] = {
        "mode": "bypassPermissions",
        "rules": bench.rules,
        "sandbox": LocalSandbox(tmp_path),
        "prompts": bench.prompts,
        "sink": bench.sink,
    }
    return PermissionGate(**(arguments | options))


class _BrokenHooks:
    def __init__(self, answer: Any) -> None:
        self._answer = answer

    async def pre_tool_use(self, call: ToolCall) -> Any:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def _broken_sink() -> EventSink:
    def deliver(_event: Any) -> None:
        raise RuntimeError("no sink")

    return EventSink("s", deliver, lambda name: True)


class _Hostile(str):
    """A text that fails when looked at."""

    def strip(self, *_args: Any) -> str:
        raise RuntimeError("hostile")


@pytest.mark.parametrize(
    "fault", ["sandbox", "hook raises", "hook answers nonsense", "hook decides nonsense", "sink", "argument", "rules"]
)
async def test_any_fault_in_the_check_denies(fault: str, tmp_path: Path) -> None:
    class Verdict:
        decision = "allow"

    options: dict[str, Any] = {
        "sandbox": {"sandbox": _BrokenSandbox(tmp_path)},
        "hook raises": {"hooks": _BrokenHooks(ValueError("boom"))},
        "hook answers nonsense": {"hooks": _BrokenHooks(Verdict())},
        "hook decides nonsense": {"hooks": _BrokenHooks("allow")},
        "sink": {"sink": _broken_sink(), "prompts": PromptBroker(_broken_sink())},
        "argument": {},
        "rules": {"rules": None},
    }[fault]
    gate = _broken(tmp_path, **options)
    value = _Hostile("ls") if fault == "argument" else "ls"
    calls = [
        GateCall(ToolCall("1", "Bash", {"command": value}), TOOLS["Bash"]),
        GateCall(ToolCall("2", "Write", {"file_path": "a"}), TOOLS["Write"]),
    ]
    decisions = await gate.decide(calls, TurnScope(None, AbortSignal()))
    affected: Sequence[Decision] = {"argument": decisions[:1], "sandbox": decisions[1:]}.get(fault, decisions)
    for decision in affected:
        assert (decision.kind, decision.stage, decision.code) == ("deny", "fault", ErrorCode.TOOL_DENIED)
        assert "check failed" in decision.message


async def test_a_prompt_that_cannot_be_delivered_denies(tmp_path: Path) -> None:
    gate = _broken(tmp_path, mode="default", prompts=PromptBroker(_broken_sink()))
    call = GateCall(ToolCall("1", "Bash", {"command": "ls"}), TOOLS["Bash"])
    (decision,) = await gate.decide([call], TurnScope(None, AbortSignal()))
    assert (decision.kind, decision.stage) == ("deny", "fault")


async def test_the_request_says_how_long_a_yes_may_hold(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.answer_with(lambda _event: "allow-session")
    await bench.run("Bash", command="make")
    await bench.run("Bash", command="sudo make")
    assert [event.scopes for event in bench.seen(PermissionRequest)] == [("once", "session", "project"), ("once",)]


async def test_the_decision_says_whose_word_it_was(tmp_path: Path) -> None:
    bench = Bench(tmp_path, allow=["Bash(ls:*)"], deny=["Bash(rm:*)"], read_only_commands=True)

    def allow(_calls: Any) -> dict[str, Any]:
        return {"approvals": [True]}

    await bench.decide(
        bench.call("Bash", command="ls"), bench.call("Bash", command="rm x"), bench.call("Bash", command="cat x"),
        bench.call("Read", file_path="x"), bench.call("Bash", command="make"), bench.call("none"),
    )  # fmt: skip
    await bench.gate.decide([bench.call("Bash", command="make")], bench.scope(allow))
    bench.answer_with(lambda _event: "allow-session")
    await bench.run("Bash", command="make")
    await bench.run("Bash", command="make")
    found = [event.decided_by for event in bench.seen(PermissionDecision)]
    assert found == ["rule", "rule", "read-only", "mode", "nobody", "nobody", "handler", "person", "rule"]
