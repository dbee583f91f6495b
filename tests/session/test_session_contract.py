import asyncio
import dataclasses
import inspect
import os
from pathlib import Path
from typing import Any

import pytest

from agentframework import (
    InteractiveSession,
    PermissionRules,
    Tool,
    ToolContext,
    create_query,
    tool,
)
from agentframework.errors import ConfigurationError, InvalidInputError, LimitExceededError, SessionClosedError
from agentframework.events import EVENT_TYPES, ToolStart
from agentframework.loop import Limits
from agentframework.messages import DocumentPart, ImagePart, TextPart, ToolMessage, ToolResultPart
from agentframework.testing import ScriptedProvider, call, say

WAIT_S = 10
DEFAULT_TOOLS = [
    "Shell", "Bash", "Read", "Write", "Edit", "Glob", "Grep", "WebFetch", "WebSearch", "AskUserQuestion",
]  # fmt: skip


@tool(risk="inspect")
async def look(path: str = "") -> str:
    """Looks."""
    return f"seen {path}"


def make_danger(ran: list[str]) -> Tool:
    """A tool that has to be asked about."""
    return Tool("danger", "", {"type": "object"}, lambda _arguments, _context: ran.append("ran"))


def results(session: InteractiveSession) -> list[ToolResultPart]:
    return [part for m in session.get_messages() if isinstance(m, ToolMessage) for part in m.content]


# --- tools ------------------------------------------------------------------------------------------------


async def test_a_session_with_only_cwd_and_provider_offers_the_ten_tools_in_order(tmp_path: Path) -> None:
    provider = ScriptedProvider("hi")
    async with InteractiveSession(cwd=tmp_path, provider=provider) as session:
        started: list[Any] = []
        session.on("session_started", started.append)
        await session.submit("go")
    assert [spec.name for spec in provider.requests[0].tools] == DEFAULT_TOOLS
    shell = next(spec for spec in provider.requests[0].tools if spec.name == "Bash")
    assert "run_in_background" not in shell.input_schema["properties"]


async def test_additional_tools_come_after_the_defaults_and_a_list_replaces_them(tmp_path: Path) -> None:
    for options, names in [
        ({"additional_tools": [look]}, [*DEFAULT_TOOLS, "look"]),
        ({"default_tools": [], "additional_tools": [look]}, ["look"]),
        ({"default_tools": [look]}, ["look"]),
        ({"default_tools": []}, []),
    ]:
        provider = ScriptedProvider("hi")
        async with InteractiveSession(cwd=tmp_path, provider=provider, **options) as session:
            await session.submit("go")
        assert [spec.name for spec in provider.requests[0].tools] == names


async def test_a_turn_tells_a_tool_where_and_for_what_it_runs(make_session, tmp_path: Path) -> None:
    seen: list[ToolContext] = []

    @tool(risk="inspect")
    async def note(context: ToolContext) -> str:
        """Notes its context."""
        seen.append(context)
        return "noted"

    limits = Limits(max_iterations=None, max_tool_result_bytes=12_345)
    first, second = call("note"), call("note")
    session = make_session(say(first), say(second), "done", "end", default_tools=[note], limits=limits)
    handle = await session.submit("go")
    one, two = seen
    for context in seen:
        assert context.session_id == session.session_id
        assert context.turn_id == handle.turn_id
        assert context.cwd == context.workspace_root == str(tmp_path.resolve())
        assert context.max_result_bytes == 12_345
        assert context.sandbox.roots == (str(tmp_path.resolve()),)
        assert not context.abort.aborted
    assert (one.iteration, two.iteration) == (1, 2)
    assert (one.tool_use_id, two.tool_use_id) == (first.id, second.id)
    assert one.run_id == two.run_id != one.turn_id


async def test_no_credential_is_in_the_context_of_a_tool(make_session) -> None:
    secret = "sk-secret-0123456789"
    seen: list[ToolContext] = []

    class Keyed(ScriptedProvider):
        def __init__(self, *steps: Any) -> None:
            super().__init__(*steps)
            self.api_key = secret
            self.headers = {"authorization": f"Bearer {secret}"}

    @tool(risk="inspect")
    async def note(context: ToolContext) -> str:
        """Notes its context."""
        seen.append(context)
        return "noted"

    await make_session(provider=Keyed(say(call("note")), "done"), default_tools=[note]).submit("go")
    assert {field.name for field in dataclasses.fields(ToolContext)} == {
        "session_id", "run_id", "turn_id", "iteration", "tool_use_id", "cwd", "workspace_root", "max_result_bytes",
        "sandbox", "abort", "progress", "ask",
    }  # fmt: skip
    values = [getattr(seen[0], field.name) for field in dataclasses.fields(ToolContext)]
    held = [value for value in values if not inspect.isroutine(value)]
    shown = [repr(value) + repr(getattr(value, "__dict__", "")) for value in held]
    assert not [text for text in shown if secret in text or "api_key" in text]


async def test_progress_may_be_reported_from_the_thread_of_a_sync_tool(make_session) -> None:
    kept: list[ToolContext] = []

    @tool(risk="inspect")
    def work(context: ToolContext) -> str:
        """Works."""
        kept.append(context)
        for number in range(3):
            context.progress(f"step {number}", number, 3)
        return "worked"

    session = make_session(say(call("work")), "done", "again", default_tools=[work])
    events: list[str] = []

    async def later(event: Any) -> None:
        events.append(event.text)

    session.on("tool_progress", later)
    session.on("tool_progress", lambda event: events.append(f"now {event.text}"))
    await session.submit("go")
    kept[0].progress("too late")
    await session.submit("again")
    assert [text for text in events if text.startswith("now")] == ["now step 0", "now step 1", "now step 2"]
    assert [text for text in events if not text.startswith("now")] == ["step 0", "step 1", "step 2"]
    assert results(session)[0].content == "worked"


# --- results, history, events -------------------------------------------------------------------------------


async def test_the_history_of_a_result_is_the_live_timeline(make_session) -> None:
    session = make_session("one", "two")
    first = await (await session.submit("a")).completed
    assert first.history is session.get_full_history()
    before = len(first.history)
    await session.submit("b")
    assert len(first.history) > before
    assert [entry.data.text for entry in first.history if entry.category == "chat"] == ["a", "one", "b", "two"]


async def test_an_idle_session_says_so(make_session) -> None:
    session = make_session()
    assert session.session_id.startswith("session_")
    assert (session.is_executing(), session.get_pending_count(), session.get_pending_prompt()) == (False, 0, None)
    assert (session.get_active_driver_id(), session.get_streaming_text(), session.get_active_tools()) == (None, "", [])
    assert (list(session.get_full_history()), session.get_messages()) == ([], [])
    session.abort()
    session.cancel_queue()
    session.resolve_permission("p1", True)
    session.resolve_ask("a1", "x")
    assert session.permission_mode == "default"
    state = session.get_context_state()
    assert (state.used_tokens, state.messages, state.max_tokens) == (0, 0, 200_000)


@pytest.mark.parametrize("name", ["nonsense", "text", "", "TEXT_DELTA", int, None])
async def test_an_unknown_event_is_refused_by_on_once_and_off(make_session, name: Any) -> None:
    session = make_session()
    for method in (session.on, session.once, session.off):
        with pytest.raises(ValueError, match="unknown event"):
            method(name, print)


@pytest.mark.parametrize("method", ["on", "once"])
async def test_listeners_are_registered_by_name_by_class_and_as_decorators(make_session, method: str) -> None:
    session = make_session(say(call("look"), call("look")), "done", default_tools=[look])
    heard: list[str] = []
    register = getattr(session, method)

    @register("tool_start")
    def by_name(event: Any) -> None:
        heard.append(f"name {event.tool_name}")

    @register(ToolStart)
    async def by_class(event: ToolStart) -> None:
        heard.append(f"class {event.tool_name}")

    await session.submit("go")
    await session.shutdown()
    times = 2 if method == "on" else 1
    assert sorted(heard) == ["class look"] * times + ["name look"] * times


async def test_a_slow_reader_of_events_loses_nothing_but_the_grain_of_deltas(make_session) -> None:
    pieces = [f"{number} " for number in range(12_000)]
    session = make_session(say(*pieces))
    warnings: list[str] = []
    session.on("warning", lambda event: warnings.append(event.message))
    stream = session.events()
    await session.submit("go")
    await session.shutdown()
    events = [event async for event in stream]
    assert "".join(event.text for event in events if event.type == "text_delta") == "".join(pieces)
    assert len(events) < 10_100
    assert [event.type for event in events if event.type in ("turn_started", "complete")] == [
        "turn_started", "complete",
    ]  # fmt: skip
    assert len(warnings) == 1
    assert "too slow" in warnings[0]
    assert [event.seq for event in events] == sorted({event.seq for event in events})


async def test_events_after_the_end_of_the_session_end_at_once(make_session) -> None:
    session = make_session("a")
    await session.submit("x")
    await session.shutdown()
    async with asyncio.timeout(WAIT_S):
        assert [event async for event in session.events()] == []
    session.on("complete", print)
    session.off("complete", print)


async def test_each_reader_of_events_needs_a_stream_of_its_own(make_session) -> None:
    session = make_session()
    stream = session.events()
    waiting = asyncio.ensure_future(anext(stream))
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="one of its own"):
        await anext(stream)
    await session.start()
    async with asyncio.timeout(WAIT_S):
        assert (await waiting).type == "session_started"


async def test_a_reader_that_breaks_off_is_supplied_no_longer(make_session) -> None:
    session = make_session("a", "b")

    async def read_one() -> str:
        async for event in session.events():
            return event.type
        return "nothing"

    task = asyncio.ensure_future(read_one())
    await asyncio.sleep(0)
    await session.submit("x")
    async with asyncio.timeout(WAIT_S):
        assert await task == "session_started"
    del task
    assert session._emitter._streams == ()


# --- options ------------------------------------------------------------------------------------------------


def test_limits_bound_calls_rounds_and_bytes_unless_told_otherwise() -> None:
    limits = Limits()
    assert (limits.max_iterations, limits.max_tool_calls_per_turn) == (8, 8)
    assert (limits.max_tool_argument_bytes, limits.max_tool_result_bytes) == (262_144, 2_097_152)


async def test_a_session_bounds_neither_rounds_nor_calls_but_bytes(make_session) -> None:
    rounds = [say(*[call("look", path=f"{line}/{number}") for number in range(12)]) for line in range(12)]
    large = say(call("look", path="x" * 262_144))
    session = make_session(*rounds, large, "done", default_tools=[look])
    assert (await (await session.submit("go")).completed).response == "done"
    found = results(session)
    assert len(found) == 12 * 12 + 1
    assert not any(part.is_error for part in found[:-1])
    assert "the limit is 262144" in found[-1].content
    assert "[TOOL_ARGUMENTS_INVALID]" in found[-1].content


async def test_a_picture_over_two_mebibytes_is_refused_with_a_code(make_session) -> None:
    @tool(risk="inspect")
    async def draw(size: int) -> ImagePart:
        """Draws."""
        return ImagePart("image/png", "A" * size)

    calls = say(call("draw", size=2_097_152), call("draw", size=2_097_153))
    provider = ScriptedProvider(calls, "done")
    session = make_session(provider=provider, default_tools=[draw])
    await session.submit("go")
    fits, too_large = results(session)
    assert (fits.is_error, len(fits.images), too_large.is_error, too_large.images) == (False, 1, True, ())
    assert "the limit is 2097152 [TOOL_RESULT_TOO_LARGE]" in too_large.content
    assert provider.requests[1].messages[-1].content == (fits, too_large)


async def test_of_too_many_calls_in_one_reply_none_runs_and_each_is_answered(make_session) -> None:
    ran: list[str] = []
    limits = Limits(max_tool_calls_per_turn=2)
    calls = [call("danger") for _ in range(3)]
    provider = ScriptedProvider(say("Now: ", *calls), "next")
    session = make_session(
        provider=provider, default_tools=[make_danger(ran)], limits=limits, permission_mode="bypassPermissions"
    )
    ended: list[Any] = []
    session.on("tool_end", ended.append)
    handle = await session.submit("go")
    with pytest.raises(LimitExceededError, match="3 tool calls in one reply, the limit is 2") as caught:
        await handle.completed
    assert caught.value.code == "AGENT_LIMIT_EXCEEDED"
    assert caught.value.details["limit"] == "max_tool_calls_per_turn"
    assert ran == []
    assert [part.tool_use_id for part in results(session)] == [made.id for made in calls]
    assert all(part.is_error and "the limit is 2" in part.content for part in results(session))
    assert [event.tool_use_id for event in ended] == [made.id for made in calls]
    assert (await (await session.submit("again")).completed).response == "next"
    assert len(provider.requests[1].messages) == 4


@pytest.mark.parametrize(
    "content",
    [
        ["text"],
        [b"bytes"],
        [None],
        [{"type": "video"}],
        [{"type": "image", "mime_type": "image/png"}],
        [ImagePart("image/png", b"raw")],  # type: ignore[arg-type]
        [TextPart(3)],  # type: ignore[arg-type]
        [DocumentPart("application/pdf", None)],  # type: ignore[arg-type]
        "image",
    ],
)
async def test_content_that_cannot_be_used_is_refused_before_anything_happens(make_session, content: Any) -> None:
    session = make_session("ok")
    with pytest.raises(InvalidInputError) as caught:
        await session.submit("look at this", content=content)
    assert caught.value.code == "INVALID_INPUT"
    assert (list(session.get_full_history()), session.is_executing()) == ([], False)
    assert (await (await session.submit("then so")).completed).response == "ok"


@pytest.mark.parametrize("text", [None, 3, b"bytes", ["list"]])
async def test_a_prompt_that_is_no_text_is_refused(make_session, text: Any) -> None:
    with pytest.raises(InvalidInputError, match="has to be text"):
        await make_session().submit(text)


async def test_a_change_to_a_model_that_is_refused_changes_nothing(make_session) -> None:
    class Picky(ScriptedProvider):
        def resolve_model(self, model: str) -> str:
            raise ConfigurationError(f"no model {model}")

    session = make_session("still here")
    with pytest.raises(ConfigurationError, match="no model other"):
        session.set_model("other", Picky())
    assert session.model == "scripted-model"
    assert (await (await session.submit("x")).completed).response == "still here"


async def test_every_way_to_speak_is_closed_after_shutdown(make_session) -> None:
    session = make_session()
    await session.shutdown()
    for speak in (session.submit, session.execute_command):
        with pytest.raises(SessionClosedError) as caught:
            await speak("x")
        assert caught.value.code == "SESSION_CLOSED"
    with pytest.raises(SessionClosedError):
        session.submit_nowait("x")
    with pytest.raises(SessionClosedError):
        await session.start()
    session.abort()
    session.cancel_queue()
    session.resolve_permission("p1", True)


# --- create_query -------------------------------------------------------------------------------------------


async def test_a_query_works_in_the_current_directory_and_asks_by_default(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    async with create_query(provider=ScriptedProvider("ok")) as query:
        assert query.session.cwd == os.path.realpath(tmp_path)
        assert query.session.permission_mode == "default"
        assert await query("hi") == "ok"


async def test_a_query_in_the_default_mode_reads_unasked_and_asks_for_the_rest(tmp_path: Path) -> None:
    ran: list[str] = []
    asked: list[str] = []

    def handler(name: str, _arguments: Any) -> bool:
        asked.append(name)
        return False

    change = Tool("change", "", {"type": "object"}, lambda _a, _c: ran.append("change"), "modify")
    execute = Tool("execute", "", {"type": "object"}, lambda _a, _c: ran.append("execute"), "execute")
    calls = say(call("look"), call("change"), call("execute"), call("danger"))
    async with create_query(
        provider=ScriptedProvider(calls, "done"), cwd=tmp_path, permission_handler=handler,
        additional_tools=[look, change, execute, make_danger(ran)],
    ) as query:  # fmt: skip
        assert await query("go") == "done"
        assert [part.is_error for part in results(query.session)] == [False, True, True, True]
    assert (ran, sorted(asked)) == ([], ["change", "danger", "execute"])


async def test_a_query_may_run_unattended(tmp_path: Path) -> None:
    ran: list[str] = []
    async with create_query(
        provider=ScriptedProvider(say(call("danger")), "done"),
        cwd=tmp_path,
        permission_mode="bypassPermissions",
        additional_tools=[make_danger(ran)],
    ) as query:
        assert await query("go") == "done"
    assert ran == ["ran"]


async def test_deny_rules_hold_in_a_query_that_runs_unattended(tmp_path: Path) -> None:
    ran: list[str] = []
    async with create_query(
        provider=ScriptedProvider(say(call("danger")), "done"), cwd=tmp_path, permission_mode="bypassPermissions",
        permissions=PermissionRules(deny=["danger"]), additional_tools=[make_danger(ran)],
    ) as query:  # fmt: skip
        await query("go")
    assert ran == []


async def test_max_turns_bounds_each_prompt_of_a_query(tmp_path: Path) -> None:
    provider = ScriptedProvider(say(call("look")), say(call("look")), say(call("look")), "within")
    async with create_query(provider=provider, cwd=tmp_path, max_turns=2, additional_tools=[look]) as query:
        with pytest.raises(LimitExceededError):
            await query("go")
        assert await query("go on") == "within"
    assert len(provider.requests) == 4


async def test_a_query_can_be_left_many_times_and_answers_no_more(tmp_path: Path) -> None:
    query = create_query(provider=ScriptedProvider("a"), cwd=tmp_path)
    assert await query("x") == "a"
    await query.aclose()
    await query.aclose()
    with pytest.raises(SessionClosedError):
        await query("y")


def test_every_event_of_the_vocabulary_can_be_listened_to(tmp_path: Path) -> None:
    session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider(), default_tools=[])
    for name, kind in EVENT_TYPES.items():
        session.on(name, print)
        session.off(kind, print)
        assert not session._emitter.has_listeners(name)
