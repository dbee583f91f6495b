import asyncio
import contextlib
import threading
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework import InteractiveSession, Tool, ToolContext, ToolResult, tool
from agentframework.errors import ToolExecutionError
from agentframework.messages import AssistantMessage, ToolMessage, ToolResultPart, UserMessage
from agentframework.testing import ScriptedProvider, bad_call, call, say

WAIT_S = 10


@tool(risk="inspect")
async def echo(text: str) -> str:
    """Says it back."""
    return f"echo {text}"


@tool(risk="inspect")
async def fail() -> str:
    """Fails."""
    raise RuntimeError("kaputt")


def results(session: Any) -> list[tuple[str, bool]]:
    """Content and error flag of every result of the last tool message."""
    message = [m for m in session.get_messages() if isinstance(m, ToolMessage)][-1]
    return [(part.content, part.is_error) for part in message.content]


async def test_calls_are_answered_in_order_and_the_model_goes_on(make_session) -> None:
    provider = ScriptedProvider(say("Look: ", call("echo", text="a"), call("echo", text="b")), "done")
    session = make_session(provider=provider, default_tools=[echo])
    events: list[tuple[str, str]] = []
    for name in ("tool_start", "tool_end"):
        session.on(name, lambda event: events.append((event.type, event.tool_input["text"])))
    result = await (await session.submit("go")).completed
    assert result.response == "done"
    assert [(s.name, s.args) for s in result.tool_summaries] == [("echo", '{"text": "a"}'), ("echo", '{"text": "b"}')]
    assert results(session) == [("echo a", False), ("echo b", False)]
    assert sorted(events) == [("tool_end", "a"), ("tool_end", "b"), ("tool_start", "a"), ("tool_start", "b")]
    assert [type(message) for message in provider.requests[1].messages] == [
        UserMessage, AssistantMessage, ToolMessage,
    ]  # fmt: skip
    kinds = [entry.type for entry in session.get_full_history() if entry.category == "event"]
    assert kinds == ["tool-start", "tool-start", "tool-end", "tool-end", "tool-summary", "usage-summary"]


async def test_a_failing_tool_is_an_error_result_with_its_code(make_session) -> None:
    session = make_session(say(call("fail")), "sorry", default_tools=[fail])
    outcomes: list[str] = []
    session.on("tool_end", lambda event: outcomes.append(event.outcome))
    assert (await (await session.submit("go")).completed).response == "sorry"
    assert results(session) == [("Error: RuntimeError: kaputt [TOOL_EXECUTION_FAILED]", True)]
    assert outcomes == ["error"]


@pytest.mark.parametrize(
    ("wrong", "code", "says"),
    [
        (call("ehco", text="x"), "TOOL_NOT_FOUND", "echo"),
        (call("echo", txet="x"), "TOOL_ARGUMENTS_INVALID", "text"),
        (call("echo", text=5), "TOOL_ARGUMENTS_INVALID", "text"),
        (bad_call("echo", '{"text": '), "TOOL_ARGUMENTS_INVALID", "JSON object"),
    ],
)
async def test_a_wrong_call_is_an_error_result_that_says_what_to_do(make_session, wrong, code: str, says: str) -> None:
    session = make_session(say(wrong), "ok", default_tools=[echo])
    ended: list[Any] = []
    session.on("tool_end", ended.append)
    session.on("permission_request", lambda event: pytest.fail("a call that cannot run must not ask"))
    await session.submit("go")
    ((text, is_error),) = results(session)
    assert is_error
    assert code in text
    assert says in text
    assert [event.outcome for event in ended] == ["error"]


async def test_read_only_calls_run_side_by_side_and_others_alone(make_session) -> None:
    running = 0
    most: dict[str, int] = {"look": 0, "change": 0}

    async def work(kind: str) -> str:
        nonlocal running
        running += 1
        most[kind] = max(most[kind], running)
        for _ in range(5):
            await asyncio.sleep(0)
        running -= 1
        return kind

    @tool(risk="inspect")
    async def look() -> str:
        """Looks."""
        return await work("look")

    @tool(risk="modify")
    async def change() -> str:
        """Changes."""
        return await work("change")

    calls = [call("look"), call("look"), call("change"), call("change"), call("look"), call("look")]
    session = make_session(
        say(*calls), "ok", default_tools=[look, change], permission_mode="bypassPermissions"
    )
    await session.submit("go")
    assert most == {"look": 2, "change": 1}
    assert [text for text, _ in results(session)] == ["look", "look", "change", "change", "look", "look"]


async def test_sync_tools_run_in_threads_side_by_side(make_session) -> None:
    meeting = threading.Barrier(4, timeout=WAIT_S)

    @tool(risk="inspect")
    def meet() -> str:
        """Waits for the other three."""
        meeting.wait()
        return str(threading.get_ident())

    session = make_session(say(*[call("meet") for _ in range(4)]), "ok", default_tools=[meet])
    await session.submit("go")
    names = [text for text, _ in results(session)]
    assert len(set(names)) == 4
    assert str(threading.main_thread().ident) not in names


async def test_a_result_over_the_limit_is_cut_visibly_and_text_is_made_clean(make_session) -> None:
    @tool(risk="inspect")
    def flood() -> str:
        """Says a lot."""
        return "x" * 100_000 + "\ud800"

    session = make_session(say(call("flood")), "ok", default_tools=[flood])
    await session.submit("go")
    ((text, _),) = results(session)
    assert len(text) <= 30_000
    assert "100001 characters in all" in text
    text.encode()


class Stubborn:
    """Tools that meet an abort in different ways."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.flag_seen = threading.Event()
        self.release = asyncio.Event()

    async def sleeps(self, _arguments: dict[str, Any], _context: ToolContext) -> str:
        self.began.set()
        await asyncio.Event().wait()
        return "never"

    async def swallows(self, _arguments: dict[str, Any], _context: ToolContext) -> str:
        self.began.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "finished all the same"

    async def ignores(self, _arguments: dict[str, Any], _context: ToolContext) -> str:
        self.began.set()
        while not self.release.is_set():
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                continue
        return "at last"

    async def polls_in_thread(self, _arguments: dict[str, Any], context: ToolContext) -> str:
        loop = asyncio.get_running_loop()

        def work() -> str:
            loop.call_soon_threadsafe(self.began.set)
            while not context.abort.aborted:
                time.sleep(0.005)
            self.flag_seen.set()
            return "stopped"

        return await asyncio.to_thread(work)


@pytest.mark.parametrize("kind", ["sleeps", "swallows", "ignores", "polls_in_thread"])
async def test_abort_reaches_a_running_tool(make_session, kind: str) -> None:
    behaviour = Stubborn()
    schema = {"type": "object", "properties": {}}
    stubborn = Tool("stubborn", "", schema, getattr(behaviour, kind), "inspect")
    provider = ScriptedProvider(say("Working. ", call("stubborn"), call("echo", text="x")), "next")
    session = make_session(provider=provider, default_tools=[stubborn, echo])
    outcomes: list[str] = []
    session.on("tool_end", lambda event: outcomes.append(event.outcome))
    handle = session.submit_nowait("go")
    async with asyncio.timeout(WAIT_S):
        await behaviour.began.wait()
        session.abort()
        result = await handle.completed
    assert result.interrupted
    assert "interrupted" in outcomes
    assert len(provider.requests) == 1
    assert len(results(session)) == 2
    behaviour.release.set()
    if kind == "polls_in_thread":
        assert behaviour.flag_seen.wait(WAIT_S)
    assert (await (await session.submit("again")).completed).response == "next"


async def test_calls_not_yet_begun_are_not_run_after_an_abort(make_session) -> None:
    ran: list[str] = []

    @tool(risk="modify")
    async def change(name: str) -> str:
        """Changes."""
        ran.append(name)
        session.abort()
        await asyncio.Event().wait()
        return name

    session = make_session(
        say(call("change", name="1"), call("change", name="2")),
        default_tools=[change],
        permission_mode="bypassPermissions",
    )
    assert (await (await session.submit("go")).completed).interrupted
    assert ran == ["1"]
    assert [is_error for _, is_error in results(session)] == [True, True]


async def test_live_state_shows_the_running_tool(make_session) -> None:
    seen: list[Any] = []

    @tool(risk="inspect")
    async def look(path: str) -> str:
        """Looks."""
        seen.extend(session.get_active_tools())
        return path

    session = make_session(say(call("look", path="a.txt")), "ok", default_tools=[look])
    await session.submit("go")
    assert [(active.tool_name, active.first_arg) for active in seen] == [("look", "a.txt")]
    assert session.get_active_tools() == []


async def test_progress_and_images_of_a_tool_are_passed_on(make_session) -> None:
    @tool(risk="inspect")
    async def draw(context: ToolContext) -> ToolResult:
        """Draws."""
        context.progress("half", 1, 2)
        block = {"type": "image", "mime_type": "image/png", "data_base64": "iVBORw0KGgo="}
        return ToolResult("a picture", content_blocks=(block,))

    provider = ScriptedProvider(say(call("draw")), "ok")
    session = make_session(provider=provider, default_tools=[draw])
    progress: list[Any] = []
    session.on("tool_progress", progress.append)
    await session.submit("go")
    assert [(event.text, event.progress, event.total) for event in progress] == [("half", 1, 2)]
    answer = provider.requests[1].messages[-1].content[0]
    assert isinstance(answer, ToolResultPart)
    assert answer.images[0].mime_type == "image/png"


async def test_two_tools_of_one_name_are_refused(make_session) -> None:
    with pytest.raises(ToolExecutionError, match="two tools are named 'echo'") as caught:
        make_session(default_tools=[echo], additional_tools=[echo])
    assert caught.value.code == "TOOL_NAME_CONFLICT"


steps = st.lists(
    st.sampled_from(["ok", "fail", "unknown", "malformed", "wrong", "denied"]), min_size=1, max_size=5
)


@given(st.lists(steps, max_size=3), st.integers(0, 12))
def test_whatever_happens_every_call_has_exactly_one_result_in_order(rounds: list[list[str]], abort_at: int) -> None:
    made = {
        "ok": lambda: call("echo", text="x"),
        "fail": lambda: call("fail"),
        "unknown": lambda: call("nothing"),
        "malformed": lambda: bad_call("echo", "{"),
        "wrong": lambda: call("echo", other=1),
        "denied": lambda: call("danger"),
    }

    async def play() -> None:
        danger = Tool("danger", "", {"type": "object"}, lambda _a, _c: "ran", "execute")
        script = [say("x", *[made[kind]() for kind in kinds]) for kinds in rounds]
        provider = ScriptedProvider(*script, "end", "after")
        async with InteractiveSession(cwd=".", provider=provider, default_tools=[echo, fail, danger]) as session:
            seen = 0

            def count(_event: Any) -> None:
                nonlocal seen
                seen += 1
                if seen == abort_at:
                    session.abort()

            for name in ("iteration_started", "tool_start", "tool_end", "tool_results", "model_completed"):
                session.on(name, count)
            await (await session.submit("go")).completed
            provider._steps[:] = ["after"]
            await (await session.submit("again")).completed
            check_pairing(provider.requests[-1].messages)

    asyncio.run(play())


def check_pairing(messages: Any) -> None:
    """Each call answered once, in order, right after; nothing else answered."""
    open_calls: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            assert [part.tool_use_id for part in message.content] == open_calls
            open_calls = []
        else:
            assert open_calls == []
            if isinstance(message, AssistantMessage):
                open_calls = [made.id for made in message.tool_calls]
    assert open_calls == []
