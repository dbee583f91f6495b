import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentframework import InteractiveSession, Tool, create_headless_runner
from agentframework.errors import ConfigurationError, OverloadedError
from agentframework.testing import ScriptedProvider, call, say
from agentframework.transports import headless_feed

WAIT_S = 20


class Headless:
    """A session with a headless runner; what it writes, as records. Lines are sent one by one."""

    def __init__(self, folder: Path, *steps: Any, output: Any = "stream-json", **options: Any) -> None:
        self.provider = ScriptedProvider(*steps)
        self.session = InteractiveSession(cwd=folder, provider=self.provider, **options)
        self.written: list[bytes] = []
        self.complaints: list[str] = []
        self._lines: asyncio.Queue[bytes | str | None] = asyncio.Queue()
        self._grew = asyncio.Event()
        self.runner = create_headless_runner(
            self.session, output_format=output, write=self._write, complain=self._complain
        )

    def _write(self, data: bytes) -> None:
        self.written.append(data)
        self._grew.set()

    def _complain(self, data: bytes) -> None:
        self.complaints.append(data.decode())

    @property
    def records(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.written]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [record for record in self.records if record["type"] == kind]

    async def until(self, kind: str, count: int = 1) -> dict[str, Any]:
        """The record of that kind which makes it ``count``."""
        async with asyncio.timeout(WAIT_S):
            while len(found := self.of(kind)) < count:
                self._grew.clear()
                await self._grew.wait()
        return found[count - 1]

    def send(self, *values: Any) -> None:
        for value in values:
            self._lines.put_nowait(value if isinstance(value, str | bytes) else json.dumps(value))

    def say(self, text: str, **more: Any) -> None:
        self.send({"type": "user", "content": text, **more})

    def end(self) -> None:
        self._lines.put_nowait(None)

    async def _input(self) -> AsyncIterator[bytes | str]:
        while (line := await self._lines.get()) is not None:
            yield line

    async def run(self) -> int:
        """Run what is sent to the end."""
        async with asyncio.timeout(WAIT_S):
            try:
                return await self.runner.run_input(self._input())
            finally:
                await self.session.shutdown()

    def start(self) -> "asyncio.Task[int]":
        return asyncio.create_task(self.run())


def done(_arguments: dict[str, Any], _context: object) -> str:
    return "done"


LOOK = Tool("Look", "Looks.", {"type": "object"}, done, risk="inspect")
CHANGE = Tool("Change", "Changes.", {"type": "object"}, done, risk="modify")


def told(records: list[dict[str, Any]]) -> list[str]:
    """The prompts that ran, in order."""
    return [record["content"] for record in records if record["type"] == "user_message"]


# --- one prompt -------------------------------------------------------------------------------------------------


async def test_one_prompt_ends_in_one_record(tmp_path: Path) -> None:
    headless = Headless(tmp_path, "Hello.")
    assert await headless.runner.run("Hi") == 0
    assert [record["type"] for record in (headless.records[0], headless.records[-1])] == ["session_started", "result"]
    assert len(headless.of("result")) == 1
    await headless.session.shutdown()


@pytest.mark.parametrize("prompt", ["", " \n"])
async def test_a_blank_prompt_is_an_error(tmp_path: Path, prompt: str) -> None:
    headless = Headless(tmp_path, output="json")
    assert await headless.runner.run(prompt) == 1
    assert (headless.records[0]["error_code"], headless.complaints) == (
        "INVALID_INPUT",
        ["agentframework: the prompt is blank\n"],
    )
    await headless.session.shutdown()


async def test_a_session_that_is_shut_down_is_an_error_and_no_exception(tmp_path: Path) -> None:
    headless = Headless(tmp_path, output="json")
    await headless.session.shutdown()
    assert await headless.runner.run("Hi") == 1
    assert headless.of("result")[0]["error_code"] == "SESSION_CLOSED"


@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
async def test_an_interrupted_text_is_not_printed_as_if_it_were_the_answer(tmp_path: Path, output: str) -> None:
    stuck = asyncio.Event()
    headless = Headless(tmp_path, say("Half of it", stuck), output=output)
    running = asyncio.create_task(headless.runner.run("Go on"))
    async with asyncio.timeout(WAIT_S):
        while headless.session.get_streaming_text() != "Half of it":  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0)
    headless.runner.stop()
    assert await running == 0
    await headless.session.shutdown()
    if output == "text":
        assert (headless.written, headless.complaints) == ([], ["agentframework: interrupted\n"])
    else:
        last = headless.records[-1]
        assert (last["subtype"], last["is_error"], last["result"]) == ("interrupted", True, "Half of it")
        assert headless.complaints == []


async def test_a_run_that_was_stopped_before_it_began_asks_no_model(tmp_path: Path) -> None:
    headless = Headless(tmp_path)
    headless.runner.stop()
    assert await headless.runner.run("Hi") == 0
    assert [record["type"] for record in headless.records] == ["session_started", "result"]
    assert headless.records[-1]["subtype"] == "interrupted"
    await headless.session.shutdown()


async def test_the_last_record_can_be_had_early_and_then_is_not_written_again(tmp_path: Path) -> None:
    headless = Headless(tmp_path, "Hello.")
    assert json.loads(headless.runner.last_record())["subtype"] == "interrupted"
    assert headless.runner.last_record(ValueError("late")) == b""
    await headless.runner.run("Hi")
    await headless.session.shutdown()
    assert b"".join(headless.written).count(b'"type":"result"') == 0


async def test_what_json_cannot_hold_costs_one_event_its_fields_and_nobody_the_rest(tmp_path: Path) -> None:
    odd = call("Look", number=float("nan"))
    headless = Headless(tmp_path, say(odd), "a\u2028b\ud800", default_tools=[LOOK])
    assert await headless.runner.run("Hi") == 0
    await headless.session.shutdown()
    assert b"\xe2\x80\xa8" not in b"".join(headless.written)
    assert headless.records[-1]["result"] == "a\u2028b\ufffd"
    assert headless.of("tool_start")[0]["unwritable"].startswith("ValueError: Out of range float")
    assert headless.of("tool_results")[0]["results"][0]["content"] == "done"
    assert [record["seq"] for record in headless.records[:-1]] == list(range(1, len(headless.records)))


@pytest.mark.parametrize("kind", ["sync", "async"])
async def test_a_writer_that_fails_stops_the_session_and_its_error_goes_on(tmp_path: Path, kind: str) -> None:
    stuck = asyncio.Event()
    written: list[bytes] = []

    def write(data: bytes) -> None:
        written.append(data)
        if b"text_delta" in data:
            raise OSError("gone")

    async def write_later(data: bytes) -> None:
        await asyncio.sleep(0)
        write(data)

    session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider(say("Half", stuck)))
    writer = write if kind == "sync" else write_later
    runner = create_headless_runner(session, output_format="stream-json", write=writer)
    async with asyncio.timeout(WAIT_S), session:
        with pytest.raises(OSError, match="gone"):
            await runner.run("Hi")
        assert not session.is_executing()
    assert b"text_delta" in written[-1]


async def test_a_slow_writer_gets_whole_records_one_after_the_other(tmp_path: Path) -> None:
    active = 0
    lines: list[bytes] = []

    async def write(data: bytes) -> None:
        nonlocal active
        assert active == 0
        active += 1
        await asyncio.sleep(0)
        lines.append(data)
        active -= 1

    async def given() -> AsyncIterator[str]:
        for number in range(20):
            yield f"bad {number}"
            yield json.dumps({"type": "user", "content": str(number)})

    session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider(*(["Yes."] * 20)))
    runner = create_headless_runner(session, output_format="stream-json", write=write)
    async with asyncio.timeout(WAIT_S), session:
        assert await runner.run_input(given()) == 0
    assert all(line.endswith(b"}\n") and line.count(b"\n") == 1 for line in lines)
    assert sum(b'"type":"warning"' in line for line in lines) == 20


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="the formats are text, json, stream-json"):
        Headless(tmp_path, output="xml")


# --- a stream of prompts ----------------------------------------------------------------------------------------


async def test_every_prompt_runs_in_its_turn_and_the_end_waits_for_all(tmp_path: Path) -> None:
    headless = Headless(tmp_path, "One.", "Two.", "Three.", "Four.")
    headless.say("1")
    headless.say("2")
    headless.say("3", driver_id="other")
    headless.send({"type": "user", "content": [{"type": "text", "text": "4"}]})
    headless.end()
    assert await headless.run() == 0
    assert told(headless.records) == ["1", "2", "3", "4"]
    assert [record["driver_id"] for record in headless.of("turn_started")] == ["owner", "owner", "other", "owner"]
    (last,) = headless.of("result")
    assert headless.records[-1] == last
    assert (last["subtype"], last["result"], last["num_turns"]) == ("success", "Four.", 4)
    assert (last["usage"]["input_tokens"], last["usage"]["output_tokens"]) == (40, 20)


async def test_a_prompt_may_follow_an_answer(tmp_path: Path) -> None:
    headless = Headless(tmp_path, "One.", "Two.")
    running = headless.start()
    headless.say("first")
    await headless.until("complete")
    headless.say("second")
    await headless.until("complete", 2)
    assert not running.done()
    headless.end()
    assert await running == 0


async def test_bad_lines_are_left_out_with_a_warning_each(tmp_path: Path) -> None:
    headless = Headless(tmp_path, "Fine.")
    headless.send("nonsense", "", b"\xff", {"type": "user", "content": ""}, {"type": "dance"})
    headless.send({"type": "permission_response", "id": "p7", "answer": True})
    headless.say("ok")
    headless.end()
    assert await headless.run() == 0
    assert headless.records[0]["type"] == "session_started"
    warnings = headless.of("warning")
    assert [warning["message"].split(":")[0] for warning in warnings] == [
        f"input line {number} was left out" for number in (1, 3, 4, 5, 6)
    ]
    assert "no permission request 'p7' is waiting" in warnings[-1]["message"]
    assert {warning["source"] for warning in warnings} == {"input"}
    assert [record["seq"] for record in headless.records[:-1]] == list(range(1, len(headless.records)))
    assert headless.complaints == []


async def test_where_events_are_not_written_people_are_told_of_bad_lines_and_failed_turns(tmp_path: Path) -> None:
    headless = Headless(tmp_path, OverloadedError("too busy"), "Fine.", output="json")
    headless.send("nonsense")
    headless.say("first")
    headless.say("second")
    headless.end()
    assert await headless.run() == 0
    assert [text.split(":")[1].strip() for text in headless.complaints] == ["input line 1 was left out", "too busy"]
    assert [record["result"] for record in headless.records] == ["Fine."]


async def test_the_code_is_that_of_the_last_turn(tmp_path: Path) -> None:
    headless = Headless(tmp_path, "Fine.", OverloadedError("too busy"))
    headless.say("first")
    headless.say("second")
    headless.end()
    assert await headless.run() == 1
    last = headless.records[-1]
    assert (last["subtype"], last["error_code"], last["num_turns"]) == ("error", "MODEL_OVERLOADED", 2)
    assert headless.complaints == ["agentframework: too busy\n"]


@pytest.mark.parametrize("lines", [[], ["nonsense"], [{"type": "abort"}]])
async def test_an_input_without_a_prompt_is_a_usage_error(tmp_path: Path, lines: list[Any]) -> None:
    headless = Headless(tmp_path)
    headless.send(*lines)
    headless.end()
    assert await headless.run() == 2
    last = headless.records[-1]
    assert (last["type"], last["is_error"], last["error_code"]) == ("result", True, "INVALID_INPUT")
    assert "no prompt came" in headless.complaints[0]


async def test_an_input_that_fails_ends_like_one_that_is_over(tmp_path: Path) -> None:
    async def lines() -> AsyncIterator[str]:
        yield json.dumps({"type": "user", "content": "Hi"})
        raise ConnectionResetError("reset")

    headless = Headless(tmp_path, "Hello.")
    async with asyncio.timeout(WAIT_S):
        assert await headless.runner.run_input(lines()) == 0
    await headless.session.shutdown()
    assert headless.of("warning")[0]["message"] == "the input failed after line 1: ConnectionResetError: reset"
    assert headless.records[-1]["result"] == "Hello."


async def test_a_permission_request_waits_for_its_answer(tmp_path: Path) -> None:
    headless = Headless(
        tmp_path, say(call("Change", what="a")), say(call("Change", what="b")), say(call("Change", what="a")), "Done.",
        default_tools=[CHANGE],
    )  # fmt: skip
    running = headless.start()
    headless.say("go")
    first = await headless.until("permission_request")
    headless.send({"type": "ask_response", "id": first["id"], "response": None})
    assert "no question" in (await headless.until("warning"))["message"]
    headless.send({"type": "permission_response", "id": first["id"], "answer": "allow-session"})
    second = await headless.until("permission_request", 2)
    headless.send({"type": "permission_response", "id": second["id"], "answer": {"allow": False, "message": "Not b."}})
    await headless.until("complete")
    headless.end()
    assert await running == 0
    assert [(end["outcome"], "Not b." in end["result"]) for end in headless.of("tool_end")] == [
        ("success", False), ("denied", True), ("success", False),
    ]  # fmt: skip


async def test_an_answer_that_is_none_denies(tmp_path: Path) -> None:
    headless = Headless(tmp_path, say(call("Change")), "Done.", default_tools=[CHANGE])
    running = headless.start()
    headless.say("go")
    request = await headless.until("permission_request")
    headless.send({"type": "permission_response", "id": request["id"], "answer": {"allow": True, "for_ever": 1}})
    headless.end()
    assert await running == 0
    assert headless.of("tool_end")[0]["outcome"] == "denied"


async def test_questions_wait_for_their_response(tmp_path: Path) -> None:
    question = {"question": "Which?", "header": "Pick", "options": [{"label": "A"}, {"label": "B"}]}
    headless = Headless(tmp_path, say(call("AskUserQuestion", questions=[question])), "Done.")
    running = headless.start()
    headless.say("go")
    request = await headless.until("ask_request")
    headless.send({"type": "ask_response", "id": request["id"], "response": {"Which?": "B"}})
    await headless.until("complete")
    headless.end()
    assert await running == 0
    assert "B" in headless.of("tool_end")[0]["result"]


async def test_the_end_of_input_denies_what_nobody_can_answer_any_more(tmp_path: Path) -> None:
    headless = Headless(
        tmp_path, say(call("Change")), "So not.", say(call("Change")), "Neither.", default_tools=[CHANGE]
    )
    running = headless.start()
    headless.say("go")
    headless.say("again")
    await headless.until("permission_request")
    headless.end()
    assert await running == 0
    assert [end["outcome"] for end in headless.of("tool_end")] == ["denied", "denied"]
    assert len(headless.of("permission_request")) == 1
    assert headless.records[-1]["result"] == "Neither."


async def test_where_events_are_not_written_nobody_is_asked(tmp_path: Path) -> None:
    headless = Headless(tmp_path, say(call("Change")), "So not.", default_tools=[CHANGE], output="json")
    running = headless.start()
    headless.say("go")
    async with asyncio.timeout(WAIT_S):
        while len(headless.provider.requests) < 2:  # noqa: ASYNC110 - nothing tells
            await asyncio.sleep(0)
    headless.end()
    assert await running == 0


async def test_an_abort_stops_the_turn_forgets_the_waiting_and_lets_the_next_run(tmp_path: Path) -> None:
    headless = Headless(tmp_path, say("Half", asyncio.Event()), "Fresh.")
    running = headless.start()
    for text in ("1", "2", "3"):
        headless.say(text)
    await headless.until("text_delta")
    headless.send({"type": "abort"})
    await headless.until("interrupted")
    headless.say("4")
    headless.end()
    assert await running == 0
    assert told(headless.records) == ["1", "4"]
    assert "cancelled 2 waiting prompts" in headless.of("warning")[0]["message"]
    assert headless.records[-1]["result"] == "Fresh."


async def test_an_aborted_last_turn_is_the_result(tmp_path: Path) -> None:
    headless = Headless(tmp_path, say("Half", asyncio.Event()))
    running = headless.start()
    headless.say("go")
    await headless.until("text_delta")
    headless.send({"type": "abort"})
    headless.end()
    assert await running == 0
    last = headless.records[-1]
    assert (last["subtype"], last["is_error"], last["result"]) == ("interrupted", True, "Half")


@pytest.mark.parametrize("moment", ["idle", "in a turn"])
async def test_stopping_ends_a_conversation_whose_input_stays_open(tmp_path: Path, moment: str) -> None:
    headless = Headless(tmp_path, "Hello.", say("Half", asyncio.Event()))
    running = headless.start()
    headless.say("first")
    await headless.until("complete")
    if moment == "in a turn":
        headless.say("second")
        await headless.until("text_delta", 2)
    headless.say("never") if moment == "in a turn" else None
    headless.runner.stop()
    assert await running == 0
    assert headless.records[-1]["subtype"] == "interrupted"
    assert "never" not in told(headless.records)


async def test_more_than_the_waiting_may_hold_is_refused(tmp_path: Path) -> None:
    headless = Headless(tmp_path, say("Half", asyncio.Event()), *["Yes."] * 8)
    running = headless.start()
    headless.say("first")
    await headless.until("text_delta")
    large = json.dumps({"type": "user", "content": "x" * (headless_feed.MAX_WAITING_BYTES // 5)})
    headless.send(*[large] * 6)
    assert f"{headless_feed.MAX_WAITING_BYTES} bytes" in (await headless.until("warning", 2))["message"]
    headless.send({"type": "abort"})
    assert "cancelled 4" in (await headless.until("warning", 3))["message"]
    headless.end()
    assert await running == 0


async def test_a_cancelled_run_leaves_no_task_behind(tmp_path: Path) -> None:
    headless = Headless(tmp_path, say("Half", asyncio.Event()))
    before = asyncio.all_tasks()
    running = headless.start()
    headless.say("go")
    await headless.until("text_delta")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert asyncio.all_tasks() == before


async def test_a_session_that_was_started_before_is_served_too(tmp_path: Path) -> None:
    headless = Headless(tmp_path, "Hello.")
    await headless.session.start()
    headless.say("Hi")
    headless.end()
    assert await headless.run() == 0
    assert headless.records[-1]["result"] == "Hello."
