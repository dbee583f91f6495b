import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentframework import PermissionAnswer, PermissionRules, Tool, create_query, tool
from agentframework.messages import ToolMessage
from agentframework.testing import ScriptedProvider, call, say
from agentframework.tools import AskUnavailableError, ToolContext

WAIT_S = 10


class Danger:
    """A tool of no declared risk that records how it was called."""

    def __init__(self) -> None:
        self.ran: list[dict[str, Any]] = []
        schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
        self.tool = Tool("danger", "", schema, self.run)

    async def run(self, arguments: dict[str, Any], _context: ToolContext) -> str:
        self.ran.append(arguments)
        return "ran"


def last_results(session: Any) -> list[str]:
    message = [m for m in session.get_messages() if isinstance(m, ToolMessage)][-1]
    return [part.content for part in message.content]


async def test_nobody_listens_so_the_call_is_denied_at_once(make_session) -> None:
    danger = Danger()
    session = make_session(say(call("danger")), "ok", default_tools=[danger.tool])
    seen: list[tuple[str, str]] = []
    session.on("tool_start", lambda event: seen.append(("start", event.tool_name)))
    session.on("tool_end", lambda event: seen.append(("end", event.outcome)))
    async with asyncio.timeout(WAIT_S):
        await session.submit("go")
    assert danger.ran == []
    assert seen == [("end", "denied")]
    assert "nobody listens" in last_results(session)[0]


@pytest.mark.parametrize("answer", [True, "allow-session", "allow-project", PermissionAnswer(True)])
async def test_a_yes_runs_the_call(make_session, answer: Any) -> None:
    danger = Danger()
    session = make_session(say(call("danger", n=1)), "ok", default_tools=[danger.tool])
    session.on("permission_request", lambda event: session.resolve_permission(event.id, answer))
    await session.submit("go", driver_id="alice")
    assert danger.ran == [{"n": 1}]


@pytest.mark.parametrize("answer", [False, None, "yes", "ALLOW-SESSION", 1, [True], PermissionAnswer(False)])
async def test_anything_but_a_known_yes_denies(make_session, answer: Any) -> None:
    danger = Danger()
    session = make_session(say(call("danger")), "ok", default_tools=[danger.tool])
    session.on("permission_request", lambda event: session.resolve_permission(event.id, answer))
    await session.submit("go")
    assert danger.ran == []


async def test_the_request_says_what_why_and_for_whom(make_session) -> None:
    danger = Danger()
    session = make_session(say(call("danger", n=7)), "ok", default_tools=[danger.tool])
    requests: list[Any] = []
    resolved: list[Any] = []

    def answer(event: Any) -> None:
        requests.append(event)
        session.resolve_permission(event.id, False)
        session.resolve_permission(event.id, True)
        session.resolve_permission("p999", True)

    session.on("permission_request", answer)
    session.on("prompt_resolved", resolved.append)
    await session.submit("go", driver_id="alice")
    (request,) = requests
    assert (request.id, request.tool_name, dict(request.tool_args)) == ("p1", "danger", {"n": 7})
    assert request.requester_driver_id == "alice"
    assert request.reason
    assert [event.id for event in resolved] == ["p1"]
    assert danger.ran == []


async def test_allow_session_covers_this_very_call_only(make_session) -> None:
    danger = Danger()
    session = make_session(
        say(call("danger", n=1)), say(call("danger", n=1)), say(call("danger", n=2)), "ok", default_tools=[danger.tool]
    )
    asked: list[int] = []

    def answer(event: Any) -> None:
        asked.append(event.tool_args["n"])
        session.resolve_permission(event.id, "allow-session")

    session.on("permission_request", answer)
    await session.submit("go")
    assert asked == [1, 2]
    assert [arguments["n"] for arguments in danger.ran] == [1, 1, 2]


async def test_two_calls_of_a_round_ask_at_once_and_are_answered_independently(make_session) -> None:
    danger = Danger()
    session = make_session(say(call("danger", n=1), call("danger", n=2)), "ok", default_tools=[danger.tool])
    open_requests: list[Any] = []

    def collect(event: Any) -> None:
        open_requests.append(event)
        if len(open_requests) == 2:
            session.resolve_permission(open_requests[1].id, True)
            session.resolve_permission(open_requests[0].id, False)

    session.on("permission_request", collect)
    async with asyncio.timeout(WAIT_S):
        await session.submit("go")
    assert len({event.id for event in open_requests}) == 2
    assert danger.ran == [{"n": 2}]
    assert last_results(session)[1] == "ran"


async def test_a_listener_may_answer_much_later(make_session) -> None:
    danger = Danger()
    session = make_session(say(call("danger")), "ok", default_tools=[danger.tool])
    asked, think = asyncio.Event(), asyncio.Event()

    async def answer(event: Any) -> None:
        asked.set()
        await think.wait()
        session.resolve_permission(event.id, True)

    session.on("permission_request", answer)
    handle = session.submit_nowait("go")
    async with asyncio.timeout(WAIT_S):
        await asked.wait()
        assert session.is_executing()
        think.set()
        await handle.completed
    assert danger.ran == [{}]


async def test_removing_the_last_listener_denies_what_waits(make_session) -> None:
    danger = Danger()
    session = make_session(say(call("danger")), "ok", default_tools=[danger.tool])
    asked = asyncio.Event()

    def listener(_event: Any) -> None:
        asked.set()

    session.on("permission_request", listener)
    handle = session.submit_nowait("go")
    async with asyncio.timeout(WAIT_S):
        await asked.wait()
        session.off("permission_request", listener)
        await handle.completed
    assert danger.ran == []


@pytest.mark.parametrize("is_async", [False, True])
async def test_a_listener_that_raises_denies_and_does_not_hang(make_session, is_async: bool) -> None:
    danger = Danger()
    session = make_session(say(call("danger")), say(call("danger")), "ok", default_tools=[danger.tool])
    warnings: list[str] = []
    session.on("warning", lambda event: warnings.append(event.message))

    def raises(_event: Any) -> None:
        raise ValueError("broken listener")

    async def raises_later(_event: Any) -> None:
        raise ValueError("broken listener")

    session.on("permission_request", raises_later if is_async else raises)
    async with asyncio.timeout(WAIT_S):
        await session.submit("go")
    assert danger.ran == []
    assert len([message for message in warnings if "broken listener" in message]) == 1


async def test_abort_while_a_request_waits_denies_it_and_interrupts(make_session) -> None:
    danger = Danger()
    session = make_session(say(call("danger")), default_tools=[danger.tool])
    session.on("permission_request", lambda _event: session.abort())
    async with asyncio.timeout(WAIT_S):
        result = await session.submit_nowait("go").completed
    assert result.interrupted
    assert danger.ran == []


async def test_deny_rules_hold_in_every_mode_and_ask_rules_ask_even_in_bypass(make_session) -> None:
    danger = Danger()
    rules = PermissionRules(deny=["danger"])
    session = make_session(
        say(call("danger")), "ok", default_tools=[danger.tool], permissions=rules, permission_mode="bypassPermissions"
    )
    session.on("permission_request", lambda event: session.resolve_permission(event.id, True))
    await session.submit("go")
    assert danger.ran == []
    asking = make_session(
        say(call("danger")), "ok", default_tools=[danger.tool], permissions=PermissionRules(ask=["danger"]),
        permission_mode="bypassPermissions",
    )  # fmt: skip
    asked: list[Any] = []
    asking.on("permission_request", asked.append)
    asking.on("permission_request", lambda event: asking.resolve_permission(event.id, True))
    await asking.submit("go")
    assert (len(asked), danger.ran) == (1, [{}])


async def test_the_mode_can_be_changed_while_the_session_lives(make_session) -> None:
    danger = Danger()
    session = make_session(say(call("danger")), "no", say(call("danger")), "yes", default_tools=[danger.tool])
    session.set_permission_mode("plan")
    await session.submit("go")
    assert (danger.ran, session.permission_mode) == ([], "plan")
    session.set_permission_mode("bypassPermissions")
    await session.submit("go")
    assert danger.ran == [{}]


async def test_a_bad_rule_is_reported_and_the_others_hold(make_session) -> None:
    danger = Danger()
    session = make_session(
        say(call("danger")), "ok", default_tools=[danger.tool], permission_mode="bypassPermissions",
        permissions=PermissionRules(deny=["Bash(unclosed", "danger", "NoSuchTool"]),
    )  # fmt: skip
    warnings: list[str] = []
    session.on("warning", lambda event: warnings.append(event.message))
    await session.submit("go")
    assert danger.ran == []
    assert any("Bash(unclosed" in message for message in warnings)
    assert any("NoSuchTool" in message for message in warnings)


async def test_questions_reach_a_person_and_without_one_the_tool_is_told(make_session) -> None:
    @tool(risk="inspect")
    async def wonder(context: ToolContext) -> str:
        """Asks."""
        try:
            return str(await context.ask([{"question": "Which?"}]))
        except AskUnavailableError as error:
            return f"nobody: {error}"

    session = make_session(say(call("wonder")), "a", say(call("wonder")), "b", default_tools=[wonder])
    await session.submit("go")
    assert last_results(session)[0].startswith("nobody: ")
    session.on("ask_request", lambda event: session.resolve_ask(event.id, ["this one"]))
    await session.submit("go")
    assert last_results(session) == ["['this one']"]


async def test_a_query_answers_in_one_conversation(tmp_path: Path) -> None:
    pieces: list[str] = []
    provider = ScriptedProvider(say("One ", "two."), "Three.")
    async with create_query(provider=provider, cwd=tmp_path, on_text_delta=pieces.append, default_tools=[]) as query:
        assert await query("count") == "One two."
        assert await query("go on") == "Three."
    assert pieces == ["One ", "two.", "Three."]
    assert len(provider.requests[1].messages) == 3


def _raise(*_args: Any) -> bool:
    raise RuntimeError("broken handler")


async def _later(*_args: Any) -> bool:
    return True


async def _raise_later(*_args: Any) -> bool:
    raise RuntimeError("broken handler")


@pytest.mark.parametrize(
    ("handler", "runs"),
    [
        (None, False),
        (lambda _name, _args: True, True),
        (_later, True),
        (lambda name, args: name == "danger" and args == {"n": 1}, True),
        (lambda _name, _args: "allow-session", True),
        (lambda _name, _args: None, False),
        (lambda _name, _args: "sure", False),
        (lambda _name, _args: 1, False),
        (_raise, False),
        (_raise_later, False),
    ],
)
async def test_the_permission_handler_of_a_query_decides(tmp_path: Path, handler: Any, runs: bool) -> None:
    danger = Danger()
    provider = ScriptedProvider(say(call("danger", n=1)), "done")
    async with create_query(
        provider=provider, cwd=tmp_path, permission_handler=handler, default_tools=[danger.tool]
    ) as query:
        async with asyncio.timeout(WAIT_S):
            assert await query("go") == "done"
    assert bool(danger.ran) is runs


async def test_a_query_raises_the_error_of_its_turn(tmp_path: Path) -> None:
    query = create_query(provider=ScriptedProvider(ValueError("odd")), cwd=tmp_path, default_tools=[])
    with pytest.raises(ValueError, match="odd"):
        await query("go")
    await query.aclose()
    await query.aclose()
