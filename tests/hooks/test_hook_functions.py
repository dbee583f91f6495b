"""Hooks that are functions of the host, and hooks that ask a model."""

import asyncio
import functools
import threading
from pathlib import Path
from typing import Any

import pytest
from hookkit import Desk, calling, on

from agentframework._base.abort import AbortedError
from agentframework.hooks.prompt import SYSTEM


async def test_a_function_gets_the_event_and_answers_with_a_dict(tmp_path: Path) -> None:
    seen: list[Any] = []

    def guard(event: dict[str, Any]) -> dict[str, Any]:
        seen.append(
            (event["tool_name"], event["hook_event_name"], threading.current_thread() is threading.main_thread())
        )
        return {"decision": "block", "reason": "no"}

    async def soon(event: dict[str, Any]) -> None:
        seen.append("soon")

    outcome = await Desk(tmp_path, on("PreToolUse", calling(guard), calling(soon))).before()
    assert (outcome.blocked, outcome.reason) == (True, "no")
    assert sorted(seen, key=str) == [("Bash", "PreToolUse", False), "soon"]


async def test_whatever_can_be_called_may_be_a_hook(tmp_path: Path) -> None:
    async def decide(word: str, event: dict[str, Any]) -> dict[str, Any]:
        return {"decision": word}

    class Guard:
        async def __call__(self, event: dict[str, Any]) -> dict[str, Any]:
            return {"decision": "block"}

        def check(self, event: dict[str, Any]) -> dict[str, Any]:
            return {"decision": "block"}

    for function in (functools.partial(decide, "block"), lambda event: decide("block", event), Guard(), Guard().check):
        assert (await Desk(tmp_path, on("PreToolUse", calling(function))).before()).blocked


async def test_functions_cannot_change_what_others_see(tmp_path: Path) -> None:
    seen: list[Any] = []

    async def spoil(event: dict[str, Any]) -> None:
        event["tool_input"]["command"] = "rm"

    async def look(event: dict[str, Any]) -> None:
        seen.append(event["tool_input"])

    given = {"command": "ls"}
    desk = Desk(tmp_path, on("PreToolUse", calling(spoil), calling(look), calling(spoil)))
    outcome = await desk.run("PreToolUse", tool_name="Bash", tool_input=given)
    assert (seen, given, outcome.updated_input) == ([{"command": "ls"}], {"command": "ls"}, None)


@pytest.mark.parametrize("answer", [True, "approve", ["approve"], 0, {"decision": "sure"}, {"continue": 0}])
async def test_an_answer_that_is_not_understood_is_a_failure(answer: Any, tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("PreToolUse", calling(lambda event: answer)))
    assert (await desk.before()).decision is None
    assert len(desk.errors) == 1


@pytest.mark.parametrize(
    "error", [ValueError("boom"), TimeoutError("boom"), StopAsyncIteration("boom"), AbortedError("boom")]
)
async def test_what_a_function_raises_is_a_failure(error: Exception, tmp_path: Path) -> None:
    async def fail(event: dict[str, Any]) -> None:
        raise error

    desk = Desk(tmp_path, on("PreToolUse", calling(fail), calling(fail, failClosed=True)))
    assert (await desk.before()).blocked
    assert all("boom" in message for message in desk.errors)
    assert len(desk.errors) == 2


@pytest.mark.parametrize("others", [0, 1])
async def test_a_function_that_cancels_itself_cancels_nobody_else(others: int, tmp_path: Path) -> None:
    async def give_up(event: dict[str, Any]) -> None:
        raise asyncio.CancelledError

    fine = calling(lambda event: {"decision": "block"})
    desk = Desk(tmp_path, on("PreToolUse", calling(give_up), *[fine] * others))
    assert (await desk.before()).blocked == bool(others)
    (error,) = desk.errors
    assert "cancelled from within" in error


@pytest.mark.parametrize("stubborn", [False, True])
async def test_a_function_that_takes_too_long_is_cancelled(stubborn: bool, tmp_path: Path) -> None:
    cancelled, go_on = asyncio.Event(), asyncio.Event()

    async def hang(event: dict[str, Any]) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            if not stubborn:
                raise
            await go_on.wait()

    desk = Desk(tmp_path, on("PreToolUse", calling(hang, timeout=0.1)))
    async with asyncio.timeout(3):
        assert (await desk.before()).decision is None
    assert desk.errors == ["it timed out after 0.1 s"]
    assert cancelled.is_set()
    go_on.set()
    await desk.engine.close()


async def test_a_thread_that_takes_too_long_is_left_behind(tmp_path: Path) -> None:
    release = threading.Event()
    desk = Desk(tmp_path, on("PreToolUse", calling(lambda event: release.wait(10), timeout=0.1)))
    async with asyncio.timeout(3):
        assert (await desk.before()).decision is None
    assert "timed out" in desk.errors[0]
    release.set()


class Model:
    """Answers what it is told and keeps what it was asked."""

    def __init__(self, answer: str | Exception) -> None:
        self._answer = answer
        self.asked: list[tuple[str, str, str | None]] = []

    async def __call__(self, system: str, prompt: str, model: str | None) -> str:
        self.asked.append((system, prompt, model))
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def question(prompt: str, **fields: Any) -> dict[str, Any]:
    return {"type": "prompt", "prompt": prompt, **fields}


@pytest.mark.parametrize(
    ("answer", "blocked", "errors"),
    [
        ('{"ok": true}', False, 0),
        ('```json\n{"ok": false, "reason": "rude"}\n```', True, 0),
        ('```\n{"ok": true}\n```', False, 0),
        ("Looks fine to me.", False, 1),
        ('{"ok": "yes"}', False, 1),
        ('Sure: {"ok": true}', False, 1),
        (RuntimeError("down"), False, 1),
    ],
)
async def test_a_model_is_asked_for_ok_or_not(answer: Any, blocked: bool, errors: int, tmp_path: Path) -> None:
    model = Model(answer)
    desk = Desk(tmp_path, on("PreToolUse", question("Is it polite?")), model=model)
    outcome = await desk.before(command="say hi")
    assert (outcome.blocked, len(desk.errors)) == (blocked, errors)
    ((system, prompt, name),) = model.asked
    assert (system, name) == (SYSTEM, None)
    assert prompt.startswith("Is it polite?\n\n<event>\n{")
    assert '"say hi"' in prompt


async def test_the_event_stands_where_the_prompt_wants_it(tmp_path: Path) -> None:
    model = Model('{"ok": true}')
    await Desk(tmp_path, on("Stop", question("Given $ARGUMENTS, done?", model="haiku")), model=model).run("Stop")
    ((_, prompt, name),) = model.asked
    assert name == "haiku"
    assert prompt.startswith("Given <event>\n{")
    assert prompt.endswith("</event>, done?")


async def test_without_a_model_a_question_fails(tmp_path: Path) -> None:
    desk = Desk(tmp_path, on("PreToolUse", question("x", failClosed=True)))
    assert (await desk.before()).blocked
