import asyncio
from typing import Any

import pytest

from agentframework import (
    Agent,
    AuthorizationRule,
    ConfigurationError,
    ErrorCode,
    ToolApprovalRequest,
    ToolAuthorizationEvent,
    ToolDecision,
    ToolExecutionError,
    ToolMessage,
    ToolPolicy,
    tool,
)
from agentframework.events import BaseEvent, ToolApprovalResult
from agentframework.testing import ScriptedProvider, call, say

REQUEST = ToolApprovalRequest("read", {"path": "secret.txt"}, {"session_id": "s1", "run_id": "r1", "iteration": 1})


async def refused(policy: ToolPolicy, request: ToolApprovalRequest = REQUEST) -> ToolExecutionError:
    with pytest.raises(ToolExecutionError) as caught:
        await policy.assert_allowed(request)
    return caught.value


# --- alone ----------------------------------------------------------------------------------------------


async def test_without_anything_in_it_a_policy_allows() -> None:
    assert (await ToolPolicy().assert_allowed(REQUEST)).decision == "allow"


async def test_lists_say_which_tools_there_are_and_a_denial_wins() -> None:
    assert (await ToolPolicy(allowed_tools=["read"]).assert_allowed(REQUEST)).decision == "allow"
    for policy in (
        ToolPolicy(allowed_tools=[]),
        ToolPolicy(allowed_tools=["write"]),
        ToolPolicy(denied_tools=["read"]),
        ToolPolicy(allowed_tools=["read"], denied_tools=["read"]),
    ):
        assert (await refused(policy)).code == ErrorCode.TOOL_DENIED


async def test_rules_come_after_the_lists_and_before_the_approval_and_the_first_refusal_ends_it() -> None:
    asked: list[str] = []

    def rule(name: str, answer: Any) -> AuthorizationRule:
        def authorize(_request: ToolApprovalRequest) -> Any:
            asked.append(name)
            return answer

        return AuthorizationRule(name, authorize)

    async def approve(_request: ToolApprovalRequest) -> bool:
        asked.append("approval")
        return True

    good = ToolPolicy(
        authorization_rules=[rule("a", True), {"id": "b", "authorize": lambda _r: {"decision": "allow"}}],
        require_approval=True,
        approval_handler=approve,
    )
    assert (await good.assert_allowed(REQUEST)).decision == "allow"
    assert asked == ["a", "approval"]
    asked.clear()
    bad = ToolPolicy(
        authorization_rules=[rule("a", True), rule("no", ToolDecision("deny", "tenant-mismatch")), rule("c", True)],
        require_approval=True,
        approval_handler=approve,
    )
    error = await refused(bad)
    assert asked == ["a", "no"]
    assert "tenant-mismatch" in error.message
    assert error.details["rule_id"] == "no"
    await refused(ToolPolicy(denied_tools=["read"], authorization_rules=[rule("late", True)]))
    assert "late" not in asked


async def test_a_redirect_is_returned_with_its_message() -> None:
    policy = ToolPolicy(
        require_approval=True, approval_handler=lambda _r: {"decision": "redirect", "message": "Look at it first."}
    )
    decision = await policy.assert_allowed(REQUEST)
    assert (decision.decision, decision.message) == ("redirect", "Look at it first.")


async def test_an_approval_that_nobody_can_give_has_a_code_of_its_own() -> None:
    assert (await refused(ToolPolicy(require_approval=True))).code == ErrorCode.TOOL_APPROVAL_REQUIRED


@pytest.mark.parametrize(
    "answer",
    [None, "yes", 1, {}, {"decision": "maybe"}, {"decision": "allow", "approve": True}, {"decision": "redirect"},
     {"decision": "redirect", "message": "  "}, ToolDecision("redirect"), {"decision": "allow", "reason": 3},
     {"decision": "allow", "metadata": 5}, ValueError("broken")],
)  # fmt: skip
async def test_what_cannot_be_read_denies(answer: Any) -> None:
    def decide(_request: ToolApprovalRequest) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    rule = AuthorizationRule("r", decide)
    assert (await refused(ToolPolicy(authorization_rules=[rule]))).code == ErrorCode.TOOL_DENIED
    approval = ToolPolicy(require_approval=True, approval_handler=decide)
    assert (await refused(approval)).code == ErrorCode.TOOL_DENIED


async def test_the_observer_hears_every_decision_without_the_arguments() -> None:
    heard: list[ToolAuthorizationEvent] = []

    async def observe(event: ToolAuthorizationEvent) -> None:
        heard.append(event)

    rule = {"id": "tenant", "authorize": lambda _r: ToolDecision("allow", "match", metadata={"tenant": 7})}
    await ToolPolicy(authorization_rules=[rule], authorization_observer=observe).assert_allowed(REQUEST)
    await refused(ToolPolicy(denied_tools=["read"], authorization_observer=observe))
    assert [(e.tool_name, e.decision, e.reason, e.rule_id, e.stage) for e in heard] == [
        ("read", "allow", "match", "tenant", "policy"),
        ("read", "deny", "the policy denies this tool", None, "policy"),
    ]
    assert (heard[0].session_id, heard[0].run_id, heard[0].iteration) == ("s1", "r1", 1)
    assert heard[0].metadata == {"tenant": 7}
    assert "secret" not in repr(heard)


async def test_an_observer_that_fails_changes_nothing() -> None:
    def observe(_event: ToolAuthorizationEvent) -> None:
        raise ValueError("broken")

    assert (await ToolPolicy(authorization_observer=observe).assert_allowed(REQUEST)).decision == "allow"


@pytest.mark.parametrize(
    "options",
    [
        {"allowed_tools": "read"},
        {"denied_tools": [1]},
        {"authorization_rules": [{"id": "a"}]},
        {"authorization_rules": [AuthorizationRule("", lambda _r: True)]},
        {"approval_handler": True},
    ],
)
def test_a_policy_that_cannot_work_is_refused(options: Any) -> None:
    with pytest.raises(ConfigurationError, match="tool_policy"):
        ToolPolicy(**options)


# --- in a run -------------------------------------------------------------------------------------------


class Shop:
    """Two tools and what they did."""

    def __init__(self) -> None:
        self.done: list[str] = []

        @tool
        def buy(item: str) -> str:
            """Buy something."""
            self.done.append(f"buy {item}")
            return f"bought {item}"

        @tool(risk="inspect")
        def look(item: str) -> str:
            """Look at something."""
            self.done.append(f"look {item}")
            return f"saw {item}"

        self.tools = [buy, look]


async def run(policy: ToolPolicy | None, *steps: Any, **options: Any) -> tuple[Shop, list[BaseEvent], Any, Any]:
    shop = Shop()
    with ScriptedProvider(*steps) as provider:
        async with Agent(provider=provider, tools=shop.tools, tool_policy=policy) as agent:
            going = agent.run("Buy a pear", **options)
            events = [event async for event in going]
            return shop, events, await going.result(), provider


def results(result: Any) -> list[str]:
    return [part.content for m in result.messages if isinstance(m, ToolMessage) for part in m.content]


BUY = say(call("buy", item="pear"))


async def test_without_policy_and_mode_offered_tools_run() -> None:
    shop, events, result, _ = await run(None, BUY, "Done.")
    assert shop.done == ["buy pear"]
    assert not any(event.type == "permission_request" for event in events)
    assert result.response == "Done."


async def test_a_denied_call_is_a_result_with_its_code_and_the_run_goes_on() -> None:
    shop, _, result, _ = await run(ToolPolicy(denied_tools=["buy"]), BUY, "I may not.")
    assert shop.done == []
    assert "[TOOL_DENIED]" in results(result)[0]
    assert result.response == "I may not."


async def test_a_required_approval_without_a_handler_is_a_result_with_its_code() -> None:
    shop, _, result, _ = await run(ToolPolicy(require_approval=True), BUY, "I may not.")
    assert shop.done == []
    assert "[TOOL_APPROVAL_REQUIRED]" in results(result)[0]


async def test_the_handler_sees_the_call_and_decides_and_the_events_tell_of_it() -> None:
    seen: list[ToolApprovalRequest] = []

    async def approve(request: ToolApprovalRequest) -> bool:
        seen.append(request)
        return request.input["item"] == "pear"

    policy = ToolPolicy(require_approval=True, approval_handler=approve)
    both = say(call("buy", item="pear"), call("buy", item="car"))
    shop, events, result, _ = await run(policy, both, "One of them.", session_id="s1")
    assert shop.done == ["buy pear"]
    assert [request.context.session_id for request in seen] == ["s1", "s1"]
    assert [request.tool_info.source for request in seen if request.tool_info] == ["custom", "custom"]
    assert "[TOOL_DENIED]" in results(result)[1]
    assert [event.type for event in events if event.type.startswith("p")].count("permission_request") == 2


async def test_a_redirect_goes_on_in_the_same_run_with_the_message_as_instruction() -> None:
    policy = ToolPolicy(
        authorization_rules=[
            AuthorizationRule(
                "look-first",
                lambda r: r.tool_name != "buy" or ToolDecision("redirect", message="Look at the pear first."),
            )
        ]
    )
    shop, events, result, provider = await run(policy, BUY, say(call("look", item="pear")), "It is ripe.")
    assert shop.done == ["look pear"]
    assert "not run" in results(result)[0]
    assert provider.requests[1].messages[-1].text == "Look at the pear first."
    assert [event.type for event in events].count("complete") == 1


async def test_the_observer_of_a_run_hears_ids_and_no_arguments() -> None:
    heard: list[ToolAuthorizationEvent] = []
    policy = ToolPolicy(
        authorization_rules=[
            {"id": "r", "authorize": lambda _r: {"decision": "deny", "reason": "no", "metadata": {"n": 1}}}
        ],
        authorization_observer=heard.append,
    )
    _, _, result, _ = await run(policy, say(call("buy", item="a-secret")), "No.", session_id="s1")
    assert [(e.tool_name, e.decision, e.reason, e.rule_id, e.stage, e.metadata) for e in heard] == [
        ("buy", "deny", "no", "r", "policy", {"n": 1})
    ]
    assert (heard[0].session_id, heard[0].iteration) == ("s1", 1)
    assert heard[0].run_id is not None
    assert "a-secret" not in repr(heard)


async def test_the_policy_of_a_run_takes_the_place_of_the_agents() -> None:
    shop, *_ = await run(ToolPolicy(denied_tools=["buy"]), BUY, "Done.", tool_policy=ToolPolicy())
    assert shop.done == ["buy pear"]


async def test_with_a_mode_the_whole_gate_applies_and_the_handler_answers_it() -> None:
    for mode, bought in (("default", ["buy pear"]), ("plan", [])):
        shop = Shop()
        provider = ScriptedProvider(BUY, "Done.")
        policy = ToolPolicy(approval_handler=lambda _r: True)
        async with Agent(provider=provider, tools=shop.tools, permission_mode=mode, tool_policy=policy) as agent:
            await agent.run("Buy").result()
        assert shop.done == bought


# --- one approval for a round ---------------------------------------------------------------------------

TWO = say(call("buy", item="a"), call("buy", item="b"))


async def test_one_answer_decides_the_calls_of_a_round_in_order() -> None:
    asked: list[Any] = []

    async def approve(calls: Any) -> Any:
        asked.append([(one.name, dict(one.arguments)) for one in calls])
        return {"approvals": [True, {"approve": False, "reason": "Not safe"}], "stop_after_execution": False}

    shop, events, result, _ = await run(None, TWO, "One.", tool_approval=approve)
    assert asked == [[("buy", {"item": "a"}), ("buy", {"item": "b"})]]
    assert shop.done == ["buy a"]
    assert "Not safe" in results(result)[1]
    told = [event for event in events if isinstance(event, ToolApprovalResult)]
    assert [one["approve"] for one in told[0].approvals] == [True, False]


async def test_only_calls_that_nothing_denied_before_are_asked_about() -> None:
    asked: list[str] = []

    def approve(calls: Any) -> Any:
        asked.extend(one.name for one in calls)
        return {"approvals": [True] * len(calls)}

    mixed = say(call("buy", item="a"), call("look", item="b"))
    shop, *_ = await run(ToolPolicy(denied_tools=["buy"]), mixed, "One.", tool_approval=approve)
    assert asked == ["look"]
    assert shop.done == ["look b"]


@pytest.mark.parametrize(
    "answer", [None, True, [True, True], {"approvals": True}, {"approvals": [True] * 3}, {"approvals": ["yes", 1]},
               ValueError("broken")]
)  # fmt: skip
async def test_an_approval_that_cannot_be_read_denies_all(answer: Any) -> None:
    def approve(_calls: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    shop, _, result, _ = await run(None, TWO, "None.", tool_approval=approve)
    assert shop.done == []
    assert all("[TOOL_DENIED]" in text for text in results(result))


async def test_missing_answers_deny_their_calls() -> None:
    shop, *_ = await run(None, TWO, "One.", tool_approval=lambda _calls: {"approvals": [{"approve": True}]})
    assert shop.done == ["buy a"]


async def test_a_round_can_be_the_last_one() -> None:
    def approve(_calls: Any) -> Any:
        return {"approvals": [True, True], "stop_after_execution": True}

    shop, events, result, _ = await run(None, TWO, tool_approval=approve)
    assert shop.done == ["buy a", "buy b"]
    assert result.stopped_after_tool_execution
    assert (result.iterations, result.stop_reason) == (1, "stop_after_execution")
    assert events[-1].type == "complete"


async def test_an_approval_is_waited_for_and_can_be_aborted() -> None:
    asked = asyncio.Event()

    async def approve(_calls: Any) -> Any:
        asked.set()
        await asyncio.Event().wait()

    shop = Shop()
    async with Agent(provider=ScriptedProvider(TWO), tools=shop.tools) as agent:
        going = agent.run("Buy", tool_approval=approve)
        waiting = asyncio.create_task(going.result())
        async with asyncio.timeout(30):
            await asked.wait()
            going.abort()
            assert (await waiting).interrupted
    assert shop.done == []
