import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from gatekit import Bench

from agentframework.errors import ErrorCode
from agentframework.events import PermissionRequest, ToolApprovalResult
from agentframework.messages import ToolCall
from agentframework.permissions import HookVerdict, PermissionAnswer


class Hooks:
    """Answers by a function and keeps what it was asked about."""

    def __init__(self, answer: Callable[[ToolCall], HookVerdict]) -> None:
        self._answer = answer
        self.seen: list[Any] = []

    async def pre_tool_use(self, call: ToolCall) -> HookVerdict:
        self.seen.append(call.arguments)
        return self._answer(call)


async def test_a_hook_blocks_with_its_reason(tmp_path: Path) -> None:
    bench = Bench(tmp_path, mode="bypassPermissions", hooks=Hooks(lambda call: HookVerdict("deny", "not on Fridays")))
    decision = await bench.run("Bash", command="ls")
    assert (decision.kind, decision.code, decision.stage) == ("blocked", ErrorCode.TOOL_DENIED, "hook")
    assert "not on Fridays" in decision.message


async def test_hooks_are_not_asked_about_what_is_refused_anyway(tmp_path: Path) -> None:
    hooks = Hooks(lambda call: HookVerdict("allow"))
    bench = Bench(tmp_path, hooks=hooks, deny=["Bash(rm:*)"])
    assert (await bench.run("Bash", command="rm x")).kind == "deny"
    assert (await bench.run("Bash")).kind == "invalid"
    assert (await bench.run("nothing")).kind == "invalid"
    assert hooks.seen == []


@pytest.mark.parametrize(
    ("command", "kind"), [("ls", "allow"), ("git push", "deny"), ("rm x", "deny"), ('bash -c "$X"', "deny")]
)
async def test_a_hooks_allow_lifts_only_the_modes_question(command: str, kind: str, tmp_path: Path) -> None:
    hooks = Hooks(lambda call: HookVerdict("allow", "trusted"))
    bench = Bench(tmp_path, hooks=hooks, ask=["Bash(git push:*)"], deny=["Bash(rm:*)"])
    assert (await bench.run("Bash", command=command)).kind == kind
    bench.gate.mode = "plan"  # type: ignore[assignment]
    assert (await bench.run("Bash", command=command)).kind == "deny"


async def test_a_hooks_ask_beats_allow_rules_and_bypass(tmp_path: Path) -> None:
    hooks = Hooks(lambda call: HookVerdict("ask", "look twice"))
    bench = Bench(tmp_path, mode="bypassPermissions", hooks=hooks, allow=["Bash"])
    bench.answer_with(lambda event: True)
    assert (await bench.run("Bash", command="ls")).stage == "prompt"
    assert "look twice" in bench.seen(PermissionRequest)[0].reason


async def test_input_changed_by_a_hook_is_judged_from_the_start(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"command": "ls; rm x"}
    hooks = Hooks(lambda call: HookVerdict("allow", updated_input=changes))
    bench = Bench(tmp_path, hooks=hooks, deny=["Bash(rm:*)"])
    assert (await bench.run("Bash", command="ls")).stage == "deny"
    changes["command"] = 5
    assert (await bench.run("Bash", command="ls")).kind == "invalid"
    changes["command"] = "rtk ls"
    decision = await bench.run("Bash", command="ls")
    assert (decision.kind, decision.arguments) == ("allow", {"command": "rtk ls"})
    assert len(hooks.seen) == 3


async def test_hooks_see_input_that_a_person_changed(tmp_path: Path) -> None:
    hooks = Hooks(lambda call: HookVerdict("deny" if "rm" in str(call.arguments) else None))
    bench = Bench(tmp_path, hooks=hooks)
    bench.answer_with(lambda event: PermissionAnswer(True, updated_input={"command": "rm x"}))
    assert (await bench.run("Bash", command="ls")).kind == "blocked"
    assert hooks.seen == [{"command": "ls"}, {"command": "rm x"}]


async def test_a_person_and_a_hook_that_never_agree_end_in_a_no(tmp_path: Path) -> None:
    hooks = Hooks(lambda call: HookVerdict(updated_input={"command": f"{(call.arguments or {})['command']} x"}))
    bench = Bench(tmp_path, hooks=hooks)
    bench.answer_with(lambda event: PermissionAnswer(True, updated_input={"command": "ls"}))
    decision = await asyncio.wait_for(bench.run("Bash", command="ls"), 5)
    assert (decision.kind, decision.reason) == ("deny", "its input was changed too many times")


async def test_abort_stops_a_hanging_hook(tmp_path: Path) -> None:
    started = asyncio.Event()

    class Hanging:
        async def pre_tool_use(self, call: ToolCall) -> HookVerdict:
            started.set()
            await asyncio.Event().wait()
            return HookVerdict("allow")

    bench = Bench(tmp_path, hooks=Hanging())
    task = asyncio.create_task(bench.run("Bash", command="ls"))
    await asyncio.wait_for(started.wait(), 5)
    bench.abort.abort()
    decision = await asyncio.wait_for(task, 5)
    assert (decision.kind, decision.stage) == ("deny", "abort")


async def approve(bench: Bench, answer: Any, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    asked: list[Sequence[ToolCall]] = []

    def callback(batch: Sequence[ToolCall]) -> Any:
        asked.append(batch)
        if isinstance(answer, Exception):
            raise answer
        return answer

    items = [bench.call(name, **arguments) for name, arguments in calls]
    decisions = await bench.gate.decide(items, bench.scope(callback))
    assert len(asked) <= 1
    return [[call.name for call in batch] for batch in asked] + list(decisions)


CALLS = (
    ("Read", {"file_path": "a"}),
    ("Bash", {"command": "rm x"}),
    ("Bash", {"command": "ls"}),
    ("nothing", {}),
    ("Write", {"file_path": "b"}),
)


async def test_a_batch_approval_is_asked_once_about_what_is_not_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, deny=["Bash(rm:*)"])
    bench.answer_with(lambda event: True)
    answer = {"approvals": [True, {"approve": False, "reason": "no"}, True], "stop_after_execution": True}
    asked, *decisions = await approve(bench, answer, *CALLS)
    assert asked == ["Read", "Bash", "Write"]
    assert [decision.kind for decision in decisions] == ["allow", "deny", "deny", "invalid", "allow"]
    assert decisions[2].message == "the host did not approve it: no"
    assert all(decision.stop_after_execution for decision in decisions)
    (event,) = bench.seen(ToolApprovalResult)
    assert [entry["approve"] for entry in event.approvals] == [True, False, True]
    assert bench.seen(PermissionRequest) == []


async def test_an_async_batch_approval_works(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    async def callback(calls: Sequence[ToolCall]) -> dict[str, Any]:
        return {"approvals": [True for _ in calls]}

    (decision,) = await bench.gate.decide([bench.call("Bash", command="ls")], bench.scope(callback))
    assert (decision.kind, decision.stage, decision.stop_after_execution) == ("allow", "approval", False)


async def test_missing_answers_deny_their_calls(tmp_path: Path) -> None:
    _, *decisions = await approve(Bench(tmp_path), {"approvals": [True]}, CALLS[0], CALLS[4])
    assert [decision.kind for decision in decisions] == ["allow", "deny"]


@pytest.mark.parametrize(
    "answer",
    [
        None,
        True,
        [True, True],
        "yes",
        {},
        {"approvals": True},
        {"approvals": "tt"},
        {"approvals": [True, True, True]},
        {"approvals": [1, "yes"]},
        {"approvals": [{"approve": 1}, {"approve": "yes"}]},
        {"approvals": [None, {}]},
        ValueError("boom"),
        RuntimeError("boom"),
    ],
)
async def test_any_other_batch_answer_denies_all(answer: Any, tmp_path: Path) -> None:
    bench = Bench(tmp_path, mode="bypassPermissions")
    _, *decisions = await approve(bench, answer, CALLS[0], CALLS[2])
    assert [decision.kind for decision in decisions] == ["deny", "deny"]
    assert not decisions[0].stop_after_execution


async def test_nothing_to_approve_asks_nobody(tmp_path: Path) -> None:
    decisions = await approve(Bench(tmp_path, mode="plan"), {"approvals": []}, CALLS[2], CALLS[3])
    assert [decision.kind for decision in decisions] == ["deny", "invalid"]


async def test_abort_ends_a_hanging_batch_approval(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    started = asyncio.Event()

    async def callback(_calls: Sequence[ToolCall]) -> dict[str, Any]:
        started.set()
        await asyncio.Event().wait()
        return {"approvals": [True]}

    task = asyncio.create_task(bench.gate.decide([bench.call("Bash", command="ls")], bench.scope(callback)))
    await asyncio.wait_for(started.wait(), 5)
    bench.abort.abort()
    (decision,) = await asyncio.wait_for(task, 5)
    assert (decision.kind, decision.stage) == ("deny", "abort")
