import asyncio
import gc
from pathlib import Path
from typing import Any

import pytest

from agentframework import InteractiveSession, RateLimitError, SessionBusyError, SessionClosedError, tool
from agentframework.errors import ConfigurationError, InvalidInputError, LimitExceededError, WouldDeadlockError
from agentframework.events import BaseEvent
from agentframework.messages import AssistantMessage, ImagePart, SystemNote, TextPart, UserMessage
from agentframework.testing import ScriptedProvider, call, say, think

WAIT_S = 10


async def first(session: InteractiveSession, name: str) -> Any:
    """The next event of that name."""
    got: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    session.once(name, lambda event: got.done() or got.set_result(event))
    async with asyncio.timeout(WAIT_S):
        return await got


async def test_a_prompt_is_answered_and_every_step_is_an_event(make_session) -> None:
    session = make_session(say(think("hm"), "Hello ", "there"))
    stream = session.events()
    handle = await session.submit("hi", driver_id="alice")
    result = await handle.completed
    await session.shutdown()
    events = [event async for event in stream]
    assert [event.type for event in events] == [
        "session_started", "turn_started", "user_message", "thinking", "iteration_started", "thinking_delta",
        "text_delta", "text_delta", "model_completed", "complete", "context_update", "thinking",
    ]  # fmt: skip
    assert [event.seq for event in events] == list(range(1, 13))
    assert {event.turn_id for event in events[1:]} == {handle.turn_id}
    assert {event.session_id for event in events} == {session.session_id}
    assert (result.response, result.stop_reason, result.interrupted) == ("Hello there", "end_turn", False)
    assert result.usage.total_tokens == 15
    assert result.context_state.used_tokens == 15


async def test_submit_on_an_idle_session_returns_after_the_turn(make_session) -> None:
    session = make_session("done")
    handle = await session.submit("hi")
    assert handle.settled
    assert not session.is_executing()


async def test_an_empty_reply_has_a_text_of_its_own(make_session) -> None:
    result = await (await make_session(say()).submit("hi")).completed
    assert result.response == "(empty response)"


async def test_a_failing_turn_raises_from_the_handle_and_not_from_submit(make_session) -> None:
    failure = RateLimitError("slow down")
    session = make_session(say("part", failure), "again")
    errors: list[Any] = []
    session.on("error", errors.append)
    handle = await session.submit("hi")
    with pytest.raises(RateLimitError, match="slow down") as caught:
        await handle.completed
    assert caught.value is failure
    assert [event.error.code for event in errors] == ["MODEL_RATE_LIMITED"]
    assert (await (await session.submit("more")).completed).response == "again"
    kept = [m for m in session.get_messages() if isinstance(m, AssistantMessage)]
    assert [(m.text, m.state) for m in kept] == [("part", "interrupted"), ("again", "complete")]
    assert SystemNote("slow down", "error") in session.get_messages()


async def test_a_handle_may_be_awaited_many_times_or_never(make_session) -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: complaints.append(context))
    session = make_session("a", RateLimitError("never looked at"))
    handle = await session.submit("hi")
    assert (await handle.completed) is (await handle.completed)
    await session.submit("and")
    del handle
    gc.collect()
    await asyncio.sleep(0)
    assert complaints == []


async def test_cancelling_who_waits_leaves_the_turn_running(make_session) -> None:
    gate = asyncio.Event()
    session = make_session(say("a", gate, "b"))
    waiting = asyncio.ensure_future(session.submit("hi"))
    await first(session, "text_delta")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    handle = session.submit_nowait("next")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0):
            await handle.completed
    assert session.is_executing()
    done = first(session, "complete")
    gate.set()
    assert (await done).result.response == "ab"


async def test_abort_keeps_what_was_said_and_resolves_the_handle(make_session) -> None:
    session = make_session(say("Once upon", asyncio.Event()), "again")
    handle = session.submit_nowait("tell")
    await first(session, "text_delta")
    assert session.get_streaming_text() == "Once upon"
    interrupted = first(session, "interrupted")
    session.abort()
    assert (await interrupted).result.interrupted
    result = await handle.completed
    assert (result.interrupted, result.response, result.stop_reason) == (True, "Once upon", "interrupted")
    last = session.get_messages()[-2:]
    assert isinstance(last[0], AssistantMessage)
    assert last[0].state == "interrupted"
    assert last[1] == SystemNote("Interrupted by user.")
    provider = session._parts.settings.provider
    await session.submit("go on")
    sent = provider.requests[1].messages
    assert [part.text for part in sent[-1].content] == ["[The user interrupted the previous turn.]", "go on"]


async def test_an_aborted_turn_before_its_first_token_leaves_no_reply(make_session) -> None:
    session = make_session(say(asyncio.Event()))
    handle = session.submit_nowait("tell")
    await first(session, "iteration_started")
    session.abort()
    result = await handle.completed
    assert (result.interrupted, result.response) == (True, "")
    assert not [m for m in session.get_messages() if isinstance(m, AssistantMessage)]


async def test_a_blank_prompt_is_refused(make_session) -> None:
    session = make_session()
    for blank in ("", "  \n\t"):
        with pytest.raises(InvalidInputError, match="blank") as caught:
            await session.submit(blank)
        assert caught.value.code == "INVALID_INPUT"


async def test_content_goes_to_the_model_and_display_to_the_history(make_session) -> None:
    provider = ScriptedProvider("nice")
    session = make_session(provider=provider)
    image = {"type": "image", "mime_type": "image/png", "data_base64": "iVBORw0KGgo="}
    await session.submit("describe this picture", display_input="/describe", content=[image])
    sent = provider.requests[0].messages[0]
    assert sent.content == (TextPart("describe this picture"), ImagePart("image/png", "iVBORw0KGgo="))
    shown = session.get_messages()[0]
    assert isinstance(shown, UserMessage)
    assert shown.text == "/describe"


async def test_after_shutdown_nothing_is_accepted_and_listeners_are_gone(make_session) -> None:
    session = make_session("a")
    heard: list[BaseEvent] = []
    session.on("user_message", heard.append)
    await session.submit("hi")
    await asyncio.gather(session.shutdown(), session.shutdown())
    await session.shutdown()
    with pytest.raises(SessionClosedError) as caught:
        await session.submit("more")
    assert caught.value.code == "SESSION_CLOSED"
    assert len(heard) == 1
    assert not session._emitter.has_listeners("user_message")


async def test_shutdown_stops_the_turn_and_cancels_what_waits(make_session) -> None:
    session = make_session(say("a", asyncio.Event()))
    running = session.submit_nowait("one")
    waiting = session.submit_nowait("two")
    await first(session, "text_delta")
    await session.shutdown()
    assert (await running.completed).interrupted
    with pytest.raises(Exception, match="cleared"):
        await waiting.completed


async def test_no_task_is_left_after_shutdown(make_session) -> None:
    before = asyncio.all_tasks()
    session = make_session(say("a", asyncio.Event()))

    async def listener(_event: BaseEvent) -> None:
        await asyncio.Event().wait()

    session.on("text_delta", listener)
    session.submit_nowait("one")
    await first(session, "text_delta")
    await session.shutdown()
    assert asyncio.all_tasks() == before


async def test_a_tool_may_shut_the_session_down(make_session) -> None:
    @tool(risk="inspect")
    async def leave() -> str:
        """Ends the session."""
        await session.shutdown()
        return "left"

    session = make_session(say(call("leave")), default_tools=[leave])
    handle = session.submit_nowait("leave")
    async with asyncio.timeout(WAIT_S):
        assert (await handle.completed).interrupted
        await session.shutdown()


async def test_waiting_inside_a_turn_for_a_later_turn_is_refused_at_once(make_session) -> None:
    refused: list[WouldDeadlockError] = []

    @tool(risk="inspect")
    async def ask_again() -> str:
        """Submits a prompt and waits for it."""
        handle = await session.submit("inner")
        try:
            await handle.completed
        except WouldDeadlockError as error:
            refused.append(error)
        return "asked"

    session = make_session(say(call("ask_again")), "outer done", "inner done", default_tools=[ask_again])
    inner_done = asyncio.Event()
    session.on("complete", lambda event: event.result.response == "inner done" and inner_done.set())
    assert (await (await session.submit("go")).completed).response == "outer done"
    assert [error.code for error in refused] == ["WOULD_DEADLOCK"]
    async with asyncio.timeout(WAIT_S):
        await inner_done.wait()


async def test_an_async_listener_may_await_a_later_turn(make_session) -> None:
    session = make_session("one", "two")
    answers: asyncio.Queue[str] = asyncio.Queue()

    async def follow_up(event: Any) -> None:
        if event.result.response == "one":
            handle = await session.submit("and?")
            answers.put_nowait((await handle.completed).response)

    session.on("complete", follow_up)
    await session.submit("first")
    async with asyncio.timeout(WAIT_S):
        assert await answers.get() == "two"


async def test_max_turns_ends_in_an_event_and_a_limit_error(make_session) -> None:
    @tool(risk="inspect")
    def look() -> str:
        """Looks."""
        return "nothing"

    session = make_session(say(call("look")), say(call("look")), max_turns=2, default_tools=[look])
    reached: list[Any] = []
    session.on("max_iterations_reached", reached.append)
    handle = await session.submit("go")
    with pytest.raises(LimitExceededError) as caught:
        await handle.completed
    assert caught.value.code == "AGENT_LIMIT_EXCEEDED"
    assert [event.iterations for event in reached] == [2]


async def test_the_model_can_be_changed_in_mid_session(make_session) -> None:
    one, two = ScriptedProvider("a"), ScriptedProvider("b")
    session = make_session(provider=one)
    await session.submit("x")
    session.set_model("other", two)
    assert (await (await session.submit("y")).completed).response == "b"
    assert two.requests[0].model == "other"
    assert len(two.requests[0].messages) == 3


async def test_the_history_can_be_cleared_but_not_while_a_turn_runs(make_session) -> None:
    gate = asyncio.Event()
    session = make_session(say("a", gate))
    handle = session.submit_nowait("x")
    await first(session, "text_delta")
    with pytest.raises(SessionBusyError):
        session.clear_conversation_history()
    gate.set()
    await handle.completed
    session.clear_conversation_history()
    assert (list(session.get_full_history()), session.get_context_state().used_tokens) == ([], 0)


def test_a_session_can_be_made_without_a_running_loop(tmp_path: Path) -> None:
    session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider(), default_tools=[])
    assert session.session_id.startswith("session_")
    assert session.cwd == str(tmp_path.resolve())


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"cwd": "/no/such/place"}, "cwd: '/no/such/place' does not exist"),
        ({"cwd": __file__}, "is not a directory"),
        ({"permission_mode": "yolo"}, "permission_mode must be one of plan, default"),
        ({"max_turns": -1}, "must not be negative"),
        ({"additional_directories": ["/no/such"]}, "additional_directories: '/no/such'"),
    ],
)
def test_options_that_cannot_work_are_refused_by_name(tmp_path: Path, options: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigurationError, match=match):
        InteractiveSession(**{"cwd": tmp_path, "provider": ScriptedProvider(), "default_tools": [], **options})


async def test_with_only_a_provider_nothing_is_read_or_written(make_session, tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Always answer in Latin.")
    provider = ScriptedProvider("ok")
    session = make_session(provider=provider)
    await session.submit("hi")
    assert "Latin" not in provider.requests[0].system
    assert [path.name for path in tmp_path.iterdir()] == ["AGENTS.md"]


async def test_the_apis_own_events_are_passed_on_if_asked_for(make_session) -> None:
    for asked in (False, True):
        session = make_session("hello", raw_model_events=asked)
        raw: list[Any] = []
        session.on("raw_model_event", raw.append)
        await session.submit("hi")
        assert bool(raw) is asked


async def test_the_start_of_a_session_belongs_to_no_turn(make_session) -> None:
    session = make_session("hello")
    started: list[Any] = []
    session.on("session_started", started.append)
    await session.submit("hi")
    assert [event.turn_id for event in started] == [None]
