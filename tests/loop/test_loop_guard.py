from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopkit import Bench

from agentframework import Tool, tool
from agentframework.errors import ConfigurationError
from agentframework.loop import LoopGuard
from agentframework.loop.loop_guard import CallCounter
from agentframework.messages import ToolResultPart
from agentframework.testing import bad_call, call, say

GUARD = LoopGuard()


@tool(risk="inspect")
def look(at: str = "") -> str:
    """Looks."""
    return f"seen {at}"


def nudges(bench: Bench) -> list[str]:
    return [m.text for m in bench.conversation.messages if m.role == "user" and "same arguments" in m.text]


async def test_a_model_that_repeats_itself_is_told_and_then_stopped(tmp_path: Path) -> None:
    script = [say(f"once more {n}", call("look", at="a")) for n in range(9)]
    bench = Bench(tmp_path, *script, tools=[look], loop_guard=GUARD)
    outcome = await bench.run()
    assert (outcome.stop_reason, outcome.response) == ("loop_detected", "once more 4")
    assert len(bench.provider.requests) == 5
    (detected,) = [event for event in bench.events if event.type == "loop_detected"]
    assert (detected.tool_name, detected.count) == ("look", 5)  # type: ignore[attr-defined]
    first, second = nudges(bench)
    assert "called look 3 times" in first
    assert "called look 4 times" in second
    assert bench.provider.requests[3].messages[-1].text == first
    assert len(bench.results) == 5


@pytest.mark.parametrize("wrong", [bad_call("look", "{"), call("unknown", x=1), call("look", at=3)])
async def test_a_call_that_fails_the_same_way_again_and_again_is_a_repetition(tmp_path: Path, wrong: Any) -> None:
    bench = Bench(tmp_path, *[say(wrong)] * 9, tools=[look], loop_guard=GUARD)
    assert (await bench.run()).stop_reason == "loop_detected"
    assert len(bench.provider.requests) == 5


async def test_a_circle_of_several_calls_is_one_too(tmp_path: Path) -> None:
    script = [say(call("look", at="ab"[n % 2])) for n in range(20)]
    bench = Bench(tmp_path, *script, tools=[look], loop_guard=GUARD)
    assert (await bench.run()).stop_reason == "loop_detected"
    assert len(bench.provider.requests) <= 12


async def test_another_result_or_anything_new_in_between_is_progress(tmp_path: Path) -> None:
    counter = count()
    clock = Tool("clock", "", {"type": "object"}, lambda _a, _c: str(next(counter)), "inspect")
    script = [say(call("clock"), call("look", at="same"), call("look", at=f"new {n}")) for n in range(9)]
    bench = Bench(tmp_path, *script, "end", tools=[look, clock], loop_guard=GUARD)
    assert (await bench.run()).response == "end"
    assert nudges(bench) == []


async def test_polling_tools_may_ask_in_vain(tmp_path: Path) -> None:
    guard = LoopGuard(polling_tools=["look"])
    bench = Bench(tmp_path, *[say(call("look"))] * 9, "end", tools=[look], loop_guard=guard)
    assert (await bench.run()).response == "end"


async def test_an_answer_in_between_begins_a_new_count(tmp_path: Path) -> None:
    script = [say(call("look")), say(call("look"))]
    bench = Bench(tmp_path, *script, "a", *script, "b", *script, "c", tools=[look], loop_guard=GUARD)
    for said in "abc":
        assert (await bench.run()).response == said
    assert nudges(bench) == []


async def test_without_a_guard_nobody_minds(tmp_path: Path) -> None:
    bench = Bench(tmp_path, *[say(call("look"))] * 9, "end", tools=[look])
    assert (await bench.run()).response == "end"


async def test_one_reply_full_of_the_same_call_is_told_before_it_is_stopped(tmp_path: Path) -> None:
    many = say(*[call("look") for _ in range(9)])
    bench = Bench(tmp_path, many, "Sorry.", tools=[look], loop_guard=GUARD)
    assert (await bench.run()).response == "Sorry."
    assert len(nudges(bench)) == 1


@pytest.mark.parametrize("options", [{"nudge_at": 1}, {"nudge_at": 5}, {"stop_at": 3}, {"polling_tools": "Bash"}])
def test_a_guard_that_cannot_work_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="loop_guard"):
        LoopGuard(**options)


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=3), max_size=40))
def test_the_end_never_comes_without_a_warning_or_with_something_new(plan: list[list[str]]) -> None:
    counter, seen, warned = CallCounter(GUARD), set[str](), False
    for names in plan:
        calls = [call("look", at=name) for name in names]
        found = counter.count(calls, [ToolResultPart(made.id, "look", "same") for made in calls])
        new = not set(names) <= seen
        warned = warned and not new
        if found is not None:
            assert found.count >= GUARD.nudge_at
            assert not found.final or (warned and found.count >= GUARD.stop_at)
            warned = True
        seen.update(names)
