import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentframework import InteractiveSession, Tool, tool
from agentframework.errors import AgentFrameworkError, SessionClosedError
from agentframework.loop.tool_calls import first_argument
from agentframework.messages import AssistantMessage, Message, ToolMessage
from agentframework.testing import ScriptedProvider, bad_call, call, say

WAIT_S = 20


class Panic(BaseException):
    """Neither an error nor an interrupt."""


def waiting_for_ever(began: asyncio.Event) -> Tool:
    async def run(_arguments: Any, _context: Any) -> str:
        began.set()
        await asyncio.Event().wait()
        return "never"

    return Tool("hang", "", {"type": "object"}, run, "execute")


def turn_tasks() -> list[asyncio.Task[Any]]:
    return [task for task in asyncio.all_tasks() if task.get_name().startswith("turn ")]


def throw(error: BaseException) -> None:
    raise error


def tool_results(session: InteractiveSession) -> list[str]:
    return [part.content for m in session.get_messages() if isinstance(m, ToolMessage) for part in m.content]


async def test_a_round_cancelled_from_outside_keeps_what_has_run(tmp_path: Path) -> None:
    began = asyncio.Event()
    change = Tool("change", "", {"type": "object"}, lambda _arguments, _context: "changed", "modify")
    calls = [call("change"), call("hang"), call("change")]
    provider = ScriptedProvider(say("x", *calls), "next")
    session = InteractiveSession(
        cwd=tmp_path, provider=provider, default_tools=[change, waiting_for_ever(began)],
        permission_mode="bypassPermissions",
    )  # fmt: skip
    ended: list[tuple[str, str]] = []
    session.on("tool_end", lambda event: ended.append((event.tool_use_id, event.outcome)))
    handle = session.submit_nowait("go")
    async with asyncio.timeout(WAIT_S):
        await began.wait()
        turn_tasks()[0].cancel()
        assert (await handle.completed).interrupted
        first, second, third = tool_results(session)
        assert first == "changed"
        assert second == third == "Error: the user interrupted this call; it may have taken effect in part."
        assert ended == [(calls[0].id, "success"), (calls[1].id, "interrupted")]
        assert (await (await session.submit("again")).completed).response == "next"
    await session.shutdown()


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({}, ""),
        (None, ""),
        ({"path": "a.txt", "other": 1}, "a.txt"),
        ({"text": " two\n lines\t"}, "two lines"),
        ({"n": 3}, "3"),
        ({"list": [1, "a"]}, "[1, 'a']"),
        ({"none": None}, "None"),
        ({"long": "x" * 100}, "x" * 47 + "..." + "x" * 30),
    ],
)
def test_the_first_argument_is_one_short_line(arguments: Any, shown: str) -> None:
    assert first_argument(arguments) == shown


def test_the_first_argument_of_any_depth_and_length_is_shown_short() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    for value in (deep, list(range(100_000)), {str(n): n for n in range(1_000)}, ["x" * 100_000], 10**4_000):
        assert 0 < len(first_argument({"value": value})) <= 80


# --- anything at any moment -------------------------------------------------------------------------------

ACTIONS = (
    "abort", "submit", "cancel the queue", "raise", "panic", "cancel itself", "cancel the turn", "clear", "mode",
    "model", "shutdown", "listen", "off",
)  # fmt: skip
EVENTS = (
    "turn_started", "user_message", "thinking", "iteration_started", "text_delta", "model_completed",
    "tool_calls_detected", "permission_decision", "permission_request", "tool_start", "tool_end", "tool_results",
    "complete", "interrupted", "error", "context_update",
)  # fmt: skip
KINDS = ("look", "sync", "fail", "danger", "unknown", "malformed", "slow")


@tool(risk="inspect")
async def look() -> str:
    """Looks."""
    return "seen"


@tool(risk="modify")
def sync() -> str:
    """Changes something."""
    return "changed"


@tool(risk="inspect")
async def fail() -> str:
    """Fails."""
    raise RuntimeError("kaputt")


@tool(risk="inspect")
async def slow() -> str:
    """Takes its time."""
    await asyncio.sleep(0.001)
    return "at last"


@tool
async def danger() -> str:
    """Has to be asked about."""
    return "dared"


class Scene:
    """A session in which listeners do things at given events, and what it must look like afterwards."""

    def __init__(self, rounds: list[list[str]], actions: dict[int, str]) -> None:
        made = [say("text ", *[self._call(kind) for kind in kinds]) for kinds in rounds]
        self.provider = ScriptedProvider(*made, *["end"] * 40)
        self.session = InteractiveSession(
            cwd=".", provider=self.provider, default_tools=[look, sync, fail, slow, danger]
        )
        self.actions = actions
        self.handles: list[Any] = []
        self.started: list[str] = []
        self.ended: list[str] = []
        self.seen = 0
        self.closed = False
        self.rough = False
        for name in EVENTS:
            self.session.on(name, self.act)

    @staticmethod
    def _call(kind: str) -> Any:
        return bad_call("look", "{") if kind == "malformed" else call(kind)

    def act(self, event: Any) -> None:
        if event.type == "tool_start":
            self.started.append(event.tool_use_id)
        if event.type == "tool_end":
            self.ended.append(event.tool_use_id)
        if event.type == "permission_request":
            self.session.resolve_permission(event.id, self.seen % 2 == 0)
        self.seen += 1
        action = self.actions.get(self.seen)
        if action is not None:
            self.do(action)

    def do(self, action: str) -> None:
        self.rough = self.rough or action in ("panic", "cancel the turn")
        session = self.session
        moves: dict[str, Callable[[], object]] = {
            "abort": session.abort,
            "submit": lambda: self.submit(f"d{self.seen}"),
            "cancel the queue": session.cancel_queue,
            "raise": lambda: throw(ValueError("from a listener")),
            "panic": lambda: throw(Panic("from a listener")),
            "cancel itself": lambda: throw(asyncio.CancelledError()),
            "cancel the turn": lambda: [task.cancel() for task in turn_tasks()],
            "clear": session.clear_conversation_history,
            "mode": lambda: session.set_permission_mode("plan"),
            "model": lambda: session.set_model("another"),
            "shutdown": self.shut_down,
            "listen": lambda: session.once("tool_end", self.later),
            "off": lambda: session.off("complete", self.act),
        }
        moves[action]()

    def shut_down(self) -> None:
        self.closed = True
        self.closing = asyncio.ensure_future(self.session.shutdown())

    async def later(self, _event: Any) -> None:
        self.submit("later")

    def submit(self, driver: str) -> None:
        try:
            self.handles.append(self.session.submit_nowait("go", driver_id=driver))
        except SessionClosedError:
            assert self.closed

    async def play(self) -> None:
        self.submit("owner")
        async with asyncio.timeout(WAIT_S):
            for handle in self.handles:  # grows meanwhile
                await handle.wait_settled()
            while self.session.is_executing():
                await asyncio.gather(*[handle.wait_settled() for handle in self.handles])
                await asyncio.sleep(0)
            self.actions.clear()
            if not self.closed:
                self.provider._steps[:] = ["after"]
                handle = await self.session.submit("after")
                assert (await handle.completed).response == "after"
            await self.session.shutdown()

    def check(self) -> None:
        assert all(handle.settled for handle in self.handles)
        for request in self.provider.requests:
            check_pairing(request.messages)
        check_pairing(self.session._conversation.messages)
        said = [m for m in self.session.get_messages() if isinstance(m, AssistantMessage | ToolMessage)]
        check_pairing(said)
        if not self.rough:
            asked = [made.id for m in said if isinstance(m, AssistantMessage) for made in m.tool_calls]
            assert sorted(self.ended) == sorted(asked)
            assert set(self.started) <= set(asked)


def check_pairing(messages: Any) -> None:
    """Each call answered once, in order, right after; nothing else answered."""
    waiting: list[str] = []
    message: Message
    for message in messages:
        if isinstance(message, ToolMessage):
            assert [part.tool_use_id for part in message.content] == waiting != []
            waiting = []
            continue
        assert waiting == []
        if isinstance(message, AssistantMessage):
            waiting = [made.id for made in message.tool_calls]
    assert waiting == []


@settings(max_examples=150)
@given(
    st.lists(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4), max_size=3),
    st.dictionaries(st.integers(1, 40), st.sampled_from(ACTIONS), max_size=5),
)
def test_whatever_listeners_do_at_any_moment_the_session_stays_sound(
    rounds: list[list[str]], actions: dict[int, str]
) -> None:
    async def play() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        scene = Scene(rounds, dict(actions))
        await scene.play()
        scene.check()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        assert not [task for task in others if not task.done()]

    try:
        asyncio.run(play())
    except AgentFrameworkError as error:
        raise AssertionError(f"{error.code}: {error}") from error
