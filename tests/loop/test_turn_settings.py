from pathlib import Path
from typing import Any

import pytest
from loopkit import Bench

from agentframework import tool
from agentframework.assembly import HookOptions
from agentframework.errors import LimitExceededError
from agentframework.loop import Limits
from agentframework.messages import AssistantMessage, TextPart, user_text
from agentframework.permissions import PolicyVerdict
from agentframework.testing import call, say


@tool
def act(name: str = "") -> str:
    """Acts."""
    return f"did {name}"


class Policy:
    """Says what its answers say, by the name in the call, and keeps what it was asked."""

    def __init__(self, verdicts: dict[str, PolicyVerdict], approvals: dict[str, Any] | None = None) -> None:
        self.verdicts = verdicts
        self.approvals = approvals or {}
        self.judged: list[Any] = []
        self.asked: list[str] = []

    async def judge(self, item: Any, arguments: Any, scope: Any) -> PolicyVerdict:
        self.judged.append(scope.context(item))
        return self.verdicts.get(arguments["name"], PolicyVerdict())

    async def approve(self, _item: Any, arguments: Any, _scope: Any) -> Any:
        self.asked.append(arguments["name"])
        answer = self.approvals.get(arguments["name"])
        if isinstance(answer, Exception):
            raise answer
        return answer


async def test_one_turn_may_have_a_model_an_effort_and_a_system_prompt_of_its_own(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "one", "two")
    await bench.run(model="other", effort="high", system="Be brief.")
    await bench.run()
    own, usual = bench.provider.requests
    assert (own.model, own.effort, own.system) == ("other", "high", "Be brief.")
    assert (usual.model, usual.effort) == ("scripted-model", None)
    assert "Be brief." not in usual.system


async def test_a_turn_may_begin_with_a_list_of_messages(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "Ada.")
    said = [user_text("I am Ada."), AssistantMessage((TextPart("Hello."),)), user_text("Who am I?")]
    assert (await bench.run(said)).response == "Ada."
    assert list(bench.provider.requests[0].messages) == said


async def test_limits_of_one_turn_take_the_place_of_the_usual_ones(tmp_path: Path) -> None:
    bench = Bench(tmp_path, say(call("act")), say(call("act")), "end", tools=[act])
    with pytest.raises(LimitExceededError, match="its 1 model requests"):
        await bench.run(limits=Limits(max_iterations=1))
    assert (await bench.run()).response == "end"


# --- batch approval -----------------------------------------------------------------------------------------


async def test_a_batch_approval_is_asked_once_a_round_about_what_is_not_denied_yet(tmp_path: Path) -> None:
    asked: list[list[Any]] = []

    async def approve(calls: Any) -> Any:
        asked.append([(made.name, dict(made.arguments)) for made in calls])
        return {"approvals": [True, {"approve": False, "reason": "not that"}][: len(calls)]}

    calls = say(call("act", name="a"), call("unknown"), call("act", name="b"))
    bench = Bench(tmp_path, calls, say(call("act", name="c")), "end", tools=[act], mode="default")
    outcome = await bench.run(tool_approval=approve)
    assert asked == [[("act", {"name": "a"}), ("act", {"name": "b"})], [("act", {"name": "c"})]]
    first, unknown, second, third = bench.results
    assert (first.content, third.content, outcome.response) == ("did a", "did c", "end")
    assert "[TOOL_NOT_FOUND]" in unknown.content
    assert "not that" in second.content
    assert "[TOOL_DENIED]" in second.content


async def test_a_batch_approval_may_end_the_turn_after_its_round(tmp_path: Path) -> None:
    bench = Bench(tmp_path, say("Now: ", call("act", name="a")), "never", tools=[act])
    outcome = await bench.run(tool_approval=lambda _calls: {"approvals": [True], "stop_after_execution": True})
    assert (outcome.response, outcome.stop_reason) == ("Now: ", "stop_after_execution")
    assert [part.content for part in bench.results] == ["did a"]
    assert len(bench.provider.requests) == 1
    assert "tool_approval_result" in bench.types()


# --- the host's policy --------------------------------------------------------------------------------------


async def test_a_policy_denies_and_redirects_before_anything_runs(tmp_path: Path) -> None:
    policy = Policy(
        {
            "bad": PolicyVerdict("deny", "rule says no", "Not on Sundays.", "sundays"),
            "better": PolicyVerdict("redirect", message="Use the archive instead."),
        }
    )
    calls = say(call("act", name="bad"), call("act", name="better"), call("act", name="good"))
    bench = Bench(tmp_path, calls, "end", tools=[act])
    await bench.run(policy=policy)
    bad, better, good = bench.results
    assert "rule says no: Not on Sundays. [TOOL_DENIED]" in bad.content
    assert better.content == "This call was not run. Another instruction was given instead."
    assert good.content == "did good"
    assert bench.conversation.messages[-2].text == "Use the archive instead."
    decided = [(e.decision, e.stage, e.rule) for e in bench.events if e.type == "permission_decision"]  # type: ignore[attr-defined]
    assert decided == [("deny", "policy", "sundays"), ("redirect", "policy", None), ("allow", "mode", None)]
    context = policy.judged[0]
    assert (context.session_id, context.run_id, context.iteration, context.cwd) == ("s", "run-1", 1, str(tmp_path))
    assert policy.asked == []


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (PolicyVerdict("allow"), "did it"),
        (PolicyVerdict("deny", "no"), "Error: permission denied: no [TOOL_DENIED]"),
        (PolicyVerdict("redirect", message="Do that."), "not run. Another instruction was given instead."),
        (PolicyVerdict("redirect", message=" "), "redirects without a message"),
        (PolicyVerdict("ask"), "the permission check failed"),
        (True, "the permission check failed"),
        (RuntimeError("kaputt"), "kaputt"),
        (None, "nobody listens for permission_request [TOOL_APPROVAL_REQUIRED]"),
    ],
)
async def test_what_a_policy_wants_approved_is_approved_by_its_handler_or_denied(
    tmp_path: Path, answer: Any, says: str
) -> None:
    policy = Policy({"it": PolicyVerdict("ask", "it has to be approved")}, {"it": answer})
    bench = Bench(tmp_path, say(call("act", name="it")), "end", tools=[act])
    await bench.run(policy=policy)
    assert says in bench.results[0].content
    assert policy.asked == ["it"]


async def test_a_batch_approval_answers_what_a_policy_wants_approved(tmp_path: Path) -> None:
    policy = Policy({"it": PolicyVerdict("ask")})
    bench = Bench(tmp_path, say(call("act", name="it")), "end", tools=[act])
    await bench.run(policy=policy, tool_approval=lambda _calls: {"approvals": [True]})
    assert bench.results[0].content == "did it"
    assert policy.asked == []


@pytest.mark.parametrize("fault", [RuntimeError("kaputt"), "nonsense"])
async def test_a_policy_that_cannot_be_used_denies(tmp_path: Path, fault: Any) -> None:
    class Broken(Policy):
        async def judge(self, item: Any, arguments: Any, scope: Any) -> PolicyVerdict:
            if isinstance(fault, Exception):
                raise fault
            return fault

    bench = Bench(tmp_path, say(call("act", name="it")), "end", tools=[act])
    await bench.run(policy=Broken({}))
    assert "the permission check failed" in bench.results[0].content


async def test_what_a_hook_made_of_a_call_is_judged_by_the_policy_too(tmp_path: Path) -> None:
    def change(_event: Any) -> Any:
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"name": "bad"}}}

    hooks = HookOptions(settings={"PreToolUse": [{"hooks": [{"type": "callable", "callable": change}]}]})
    bench = Bench(tmp_path, say(call("act", name="good")), "end", tools=[act], hooks=hooks)
    policy = Policy({"bad": PolicyVerdict("deny", "rule says no")})
    await bench.run(policy=policy)
    assert "rule says no" in bench.results[0].content
    assert len(policy.judged) == 2


async def test_without_a_mode_what_nothing_stops_runs(tmp_path: Path) -> None:
    bench = Bench(tmp_path, say(call("act", name="it")), "end", tools=[act], mode="default", governed=False)
    await bench.run()
    assert bench.results[0].content == "did it"
