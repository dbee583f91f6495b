import asyncio
from pathlib import Path
from typing import Any

import pytest
from gatekit import Bench

from agentframework.events import AskRequest, PermissionRequest, PromptResolved, WarningEvent
from agentframework.permissions import PermissionAnswer, PermissionQuestion
from agentframework.tools import AskUnavailableError

QUESTION = PermissionQuestion("Bash", {"command": "ls"}, "t1", "default mode asks before running commands", ("x",))
QUESTIONS = ({"question": "Which?"},)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def request(bench: Bench) -> asyncio.Task[PermissionAnswer]:
    async def answer() -> PermissionAnswer:
        return (await bench.prompts.request_permission(QUESTION, "alice", bench.abort)).answer

    return asyncio.create_task(answer())


def ask(bench: Bench) -> asyncio.Task[Any]:
    return asyncio.create_task(bench.prompts.ask(QUESTIONS, "alice", bench.abort))


def ignore(_event: Any) -> None:
    return None


async def test_nobody_listening_denies_at_once_without_an_event(bench: Bench) -> None:
    answer = await asyncio.wait_for(request(bench), 1)
    assert not answer.allow
    assert "nobody listens" in (answer.message or "")
    assert bench.events == []


async def test_nobody_listening_to_questions_is_said_at_once(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    with pytest.raises(AskUnavailableError, match="ask_request"):
        await bench.prompts.ask(QUESTIONS, None, bench.abort)


async def test_the_request_tells_what_is_asked_and_by_whom(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    task = request(bench)
    await bench.until_pending(1)
    (event,) = bench.seen(PermissionRequest)
    assert (event.id, event.tool_name, event.tool_args, event.tool_use_id) == ("p1", "Bash", {"command": "ls"}, "t1")
    assert (event.reason, event.suggestions, event.requester_driver_id) == (QUESTION.reason, ("x",), "alice")
    bench.prompts.resolve_permission("p1", True, "bob")
    assert (await task) == PermissionAnswer(True)
    (resolved,) = bench.seen(PromptResolved)
    assert (resolved.id, resolved.answerer_driver_id) == ("p1", "bob")


async def test_permissions_and_questions_share_one_sequence(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    bench.emitter.on("ask_request", ignore)
    tasks = [request(bench), ask(bench), request(bench)]
    await bench.until_pending(3)
    assert bench.prompts.pending == ("p1", "a2", "p3")
    bench.prompts.resolve_permission("p3", False)
    bench.prompts.resolve_ask("a2", {"answer": 2})
    bench.prompts.resolve_permission("p1", True)
    assert [(await tasks[0]).allow, await tasks[1], (await tasks[2]).allow] == [True, {"answer": 2}, False]
    assert bench.prompts.pending == ()


async def test_a_listener_may_answer_inside_the_event(bench: Bench) -> None:
    bench.answer_with(lambda event: True)
    bench.emitter.on("ask_request", lambda event: bench.prompts.resolve_ask(event.id, "blue"))
    assert (await asyncio.wait_for(request(bench), 1)).allow
    assert await asyncio.wait_for(ask(bench), 1) == "blue"


async def test_the_first_answer_wins_and_later_ones_do_nothing(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    task = request(bench)
    await bench.until_pending(1)
    bench.prompts.resolve_permission("p1", False, "alice")
    bench.prompts.resolve_permission("p1", True, "bob")
    assert not (await task).allow
    assert len(bench.seen(PromptResolved)) == 1


@pytest.mark.parametrize("prompt_id", ["p9", "a1", "", None, 1])
async def test_an_unknown_id_does_nothing(prompt_id: Any, bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    task = request(bench)
    await bench.until_pending(1)
    bench.prompts.resolve_permission(prompt_id, True)
    bench.prompts.resolve_ask(prompt_id, "x")
    bench.prompts.resolve_ask("p1", True)
    assert bench.prompts.pending == ("p1",)
    assert bench.seen(PromptResolved) == []
    bench.prompts.settle_all()
    await task


@pytest.mark.parametrize(
    "raw",
    [
        None,
        "yes",
        "allow",
        "allow-all",
        "True",
        "",
        1,
        1.0,
        0,
        [True],
        {"allow": True},
        object(),
        PermissionAnswer,
        PermissionAnswer(allow=1),  # type: ignore[arg-type]
        PermissionAnswer(allow="yes"),  # type: ignore[arg-type]
        PermissionAnswer(True, scope="forever"),  # type: ignore[arg-type]
        PermissionAnswer(True, rule=3),  # type: ignore[arg-type]
        PermissionAnswer(True, message=b""),  # type: ignore[arg-type]
        PermissionAnswer(True, updated_input="x"),  # type: ignore[arg-type]
    ],
)
async def test_whatever_is_no_clear_answer_denies_and_is_reported(raw: Any, bench: Bench) -> None:
    bench.answer_with(lambda event: raw)
    answer = await asyncio.wait_for(request(bench), 1)
    assert not answer.allow
    assert "could not be used" in (answer.message or "")
    (warning,) = bench.seen(WarningEvent)
    assert "p1 was denied" in warning.message


@pytest.mark.parametrize(
    ("raw", "read"),
    [
        (True, PermissionAnswer(True)),
        (False, PermissionAnswer(False)),
        ("allow-session", PermissionAnswer(True, "session")),
        ("allow-project", PermissionAnswer(True, "project")),
        (PermissionAnswer(True, "once", "Bash(ls:*)", None, {"a": 1}),) * 2,
    ],
)
async def test_answers_are_understood(raw: Any, read: PermissionAnswer, bench: Bench) -> None:
    bench.answer_with(lambda event: raw)
    assert await asyncio.wait_for(request(bench), 1) == read
    assert bench.seen(WarningEvent) == []


async def test_a_listener_removed_while_pending_denies(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    bench.emitter.on("ask_request", ignore)
    tasks = [request(bench), ask(bench)]
    await bench.until_pending(2)
    bench.prompts.listeners_changed()
    assert len(bench.prompts.pending) == 2
    bench.emitter.off("permission_request", ignore)
    bench.prompts.listeners_changed()
    assert bench.prompts.pending == ("a2",)
    assert not (await asyncio.wait_for(tasks[0], 1)).allow
    bench.emitter.off("ask_request", ignore)
    bench.prompts.listeners_changed()
    assert await asyncio.wait_for(tasks[1], 1) is None
    assert [event.id for event in bench.seen(PromptResolved)] == ["p1", "a2"]


async def test_one_of_two_listeners_leaving_changes_nothing(bench: Bench) -> None:
    def other(_event: Any) -> None: ...

    bench.emitter.on("permission_request", ignore)
    bench.emitter.on("permission_request", other)
    task = request(bench)
    await bench.until_pending(1)
    bench.emitter.off("permission_request", other)
    bench.prompts.listeners_changed()
    bench.prompts.resolve_permission("p1", True)
    assert (await task).allow


async def test_abort_while_pending_denies_and_cancels(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    bench.emitter.on("ask_request", ignore)
    tasks = [request(bench), ask(bench)]
    await bench.until_pending(2)
    bench.abort.abort()
    answer = await asyncio.wait_for(tasks[0], 1)
    assert (answer.allow, answer.message) == (False, "the turn was aborted")
    assert await asyncio.wait_for(tasks[1], 1) is None


async def test_after_an_abort_nothing_is_asked(bench: Bench) -> None:
    bench.answer_with(lambda event: True)
    bench.emitter.on("ask_request", ignore)
    bench.abort.abort()
    assert not (await request(bench)).allow
    assert await ask(bench) is None
    assert bench.events == []


async def test_the_backstop_denies(tmp_path: Path) -> None:
    bench = Bench(tmp_path, backstop_s=0.02)
    bench.emitter.on("permission_request", ignore)
    bench.emitter.on("ask_request", ignore)
    answer = await asyncio.wait_for(request(bench), 5)
    assert (answer.allow, answer.message) == (False, "not answered within 0.02 seconds")
    assert await asyncio.wait_for(ask(bench), 5) is None


async def test_an_answer_within_the_backstop_is_honoured_however_late(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    task = request(bench)
    await bench.until_pending(1)
    asyncio.get_running_loop().call_later(0.05, bench.prompts.resolve_permission, "p1", True)
    assert (await asyncio.wait_for(task, 5)).allow


async def test_shutting_down_settles_everything(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    bench.emitter.on("ask_request", ignore)
    tasks = [request(bench), ask(bench)]
    await bench.until_pending(2)
    bench.prompts.settle_all()
    assert [(await tasks[0]).allow, await tasks[1]] == [False, None]


async def test_a_failed_listener_denies_what_it_was_asked(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    task = request(bench)
    await bench.until_pending(1)
    bench.prompts.listener_failed("p1")
    answer = await asyncio.wait_for(task, 1)
    assert (answer.allow, answer.message) == (False, "the listener that was asked failed")
    bench.prompts.listener_failed("p1")


async def test_a_cancelled_request_is_withdrawn(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    task = request(bench)
    await bench.until_pending(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert bench.prompts.pending == ()
    assert [event.id for event in bench.seen(PromptResolved)] == ["p1"]


async def test_a_second_turn_may_ask_again_after_an_aborted_one(bench: Bench) -> None:
    bench.emitter.on("permission_request", ignore)
    first = request(bench)
    await bench.until_pending(1)
    bench.abort.abort()
    await first
    bench.abort = type(bench.abort)()
    second = request(bench)
    await bench.until_pending(1)
    bench.prompts.resolve_permission("p2", True)
    assert (await second).allow


async def test_questions_carry_what_was_asked(bench: Bench) -> None:
    bench.emitter.on("ask_request", lambda event: bench.prompts.resolve_ask(event.id, None, "bob"))
    assert await ask(bench) is None
    (event,) = bench.seen(AskRequest)
    assert (event.id, event.questions, event.requester_driver_id) == ("a1", QUESTIONS, "alice")
