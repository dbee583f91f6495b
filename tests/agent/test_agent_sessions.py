import base64
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agentframework import (
    Agent,
    AgentFrameworkError,
    AssistantMessage,
    ContextOptions,
    ErrorCode,
    ImagePart,
    JsonlSessionStore,
    SessionState,
    TextPart,
    ToolResult,
    UserMessage,
    tool,
)
from agentframework.events import Compact
from agentframework.messages import ToolCall
from agentframework.testing import ScriptedProvider, call, say

DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PLACEHOLDER = (
    f"[image image/png, {len(base64.b64decode(DOT))} bytes, sha256 {hashlib.sha256(base64.b64decode(DOT)).hexdigest()}]"
)


class FourVerbs:
    """The least that a store can be."""

    def __init__(self) -> None:
        self.states: dict[str, SessionState] = {}
        self.patches: list[Mapping[str, Any]] = []

    async def create(self, state: SessionState) -> None:
        self.states[state.session_id] = state

    async def get(self, session_id: str) -> SessionState | None:
        return self.states.get(session_id)

    async def update(self, session_id: str, patch: Mapping[str, Any]) -> None:
        self.patches.append(patch)
        self.states[session_id] = self.states[session_id].patched(patch)

    async def delete(self, session_id: str) -> None:
        self.states.pop(session_id, None)


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def test_a_run_without_a_session_gets_a_new_one() -> None:
    async with Agent(provider=ScriptedProvider("a", "b")) as agent:
        first, second = agent.run("a"), agent.run("b")
        assert first.session_id != second.session_id
        await first.result()
        await second.result()
        assert await agent.sessions.get(first.session_id) is not None


async def test_a_known_session_goes_on_with_its_conversation() -> None:
    provider = ScriptedProvider("There is one.", "It is red.")
    async with Agent(provider=provider) as agent:
        kinds = [event.type async for event in agent.run("Which lamps?", session_id="s1")]
        again = [event.type async for event in agent.run("Which colour?", session_id="s1")]
    assert [message.text for message in provider.requests[1].messages] == [
        "Which lamps?", "There is one.", "Which colour?",
    ]  # fmt: skip
    assert "session_started" in kinds
    assert "session_started" not in again


async def test_the_state_of_a_session_is_kept() -> None:
    store = FourVerbs()
    provider = ScriptedProvider(say(call("add", a=1, b=2)), "3", ValueError("broken"))
    async with Agent(provider=provider, tools=[add], session_store=store) as agent:
        assert agent.sessions is store
        await agent.run("1 + 2?", session_id="s1").result()
        state = store.states["s1"]
        assert (state.status, state.iteration, state.content) == ("completed", 2, "3")
        assert [message.role for message in state.messages] == ["user", "assistant", "tool", "assistant"]
        assert state.updated_at >= state.created_at
        assert [patch["status"] for patch in store.patches] == ["running", "running", "completed"]
        assert [len(patch["messages"]) for patch in store.patches] == [1, 3, 4]
        with pytest.raises(ValueError, match="broken"):
            await agent.run("More", session_id="s1").result()
        assert store.states["s1"].status == "failed"
        await agent.sessions.delete("s1")
        assert await agent.sessions.get("s1") is None


async def test_of_images_only_placeholders_are_kept() -> None:
    @tool
    def look() -> ToolResult:
        """Look."""
        return ToolResult("A dot.", content_blocks=(ImagePart("image/png", DOT, 1, 1),))

    store = FourVerbs()
    provider = ScriptedProvider(say(call("look")), "A dot.")
    async with Agent(provider=provider, tools=[look], session_store=store) as agent:
        run = agent.run("See", content=[ImagePart("image/png", DOT)], session_id="s1")
        result = await run.result()
    assert "A dot." in str(provider.requests[1].messages[-1])
    assert DOT in str(provider.requests[1].messages), "the model sees them"
    assert DOT in str(result.messages)
    kept = store.states["s1"].messages
    assert DOT not in str(kept)
    assert PLACEHOLDER in kept[0].text
    assert PLACEHOLDER in kept[2].text


async def test_a_file_store_keeps_sessions_between_agents(tmp_path: Path) -> None:
    async with Agent(provider=ScriptedProvider("One."), session_store=JsonlSessionStore(tmp_path)) as agent:
        await agent.run("First", session_id="s1").result()
    provider = ScriptedProvider("Two.")
    async with Agent(provider=provider, session_store=JsonlSessionStore(tmp_path)) as agent:
        await agent.run("Second", session_id="s1").result()
        listed = await agent.sessions.list()  # type: ignore[attr-defined]
        assert [one.session_id for one in listed] == ["s1"]
    assert [message.text for message in provider.requests[0].messages] == ["First", "One.", "Second"]


async def test_a_session_that_another_agent_runs_is_locked(tmp_path: Path) -> None:
    store = JsonlSessionStore(tmp_path)
    gate_provider = ScriptedProvider(say("One."))
    async with Agent(provider=gate_provider, session_store=store) as first:
        await first.run("First", session_id="s1").result()
        await store.acquire("s1")
        async with Agent(provider=ScriptedProvider(), session_store=JsonlSessionStore(tmp_path)) as second:
            with pytest.raises(AgentFrameworkError) as caught:
                await second.run("Second", session_id="s1").result()
        assert caught.value.code == ErrorCode.SESSION_LOCKED
        await store.release("s1")


async def test_calls_without_a_result_in_a_stored_session_are_answered() -> None:
    store = FourVerbs()
    lost = AssistantMessage((ToolCall("c1", "add", {}, "{}"),))
    store.states["s1"] = SessionState("s1", "running", (UserMessage((TextPart("Add"),)), lost))
    provider = ScriptedProvider("Again.")
    async with Agent(provider=provider, tools=[add], session_store=store) as agent:
        await agent.run("Go on", session_id="s1").result()
    assert [message.role for message in provider.requests[0].messages] == ["user", "assistant", "tool", "user"]
    assert [message.role for message in store.states["s1"].messages][:4] == ["user", "assistant", "tool", "user"]


async def test_a_session_id_that_cannot_name_a_file_is_refused() -> None:
    async with Agent(provider=ScriptedProvider()) as agent:
        with pytest.raises(AgentFrameworkError) as caught:
            await agent.run("Hi", session_id="../etc/passwd").result()
    assert caught.value.code == ErrorCode.INVALID_INPUT


async def test_a_store_that_fails_fails_the_run() -> None:
    class Broken(FourVerbs):
        async def update(self, session_id: str, patch: Mapping[str, Any]) -> None:
            raise OSError("disk full")

    async with Agent(provider=ScriptedProvider("Hi."), session_store=Broken()) as agent:
        run = agent.run("Hi", session_id="s1")
        told: list[Any] = []
        with pytest.raises(OSError, match="disk full"):
            await _read(run, told)
        assert [event.type for event in told][-2:] == ["warning", "error"]


async def _read(run: Any, into: list[Any]) -> None:
    async for event in run:
        into.append(event)


async def test_a_long_conversation_is_cut_ahead_of_the_request_and_kept_whole() -> None:
    provider = ScriptedProvider(*(f"answer {n}" for n in range(6)))
    options = ContextOptions(max_messages=5)
    async with Agent(provider=provider, context=options) as agent:
        compacts: list[Compact] = []
        for number in range(6):
            events = [event async for event in agent.run(f"question {number}", session_id="s1")]
            compacts += [event for event in events if isinstance(event, Compact)]
        state = await agent.sessions.get("s1")
    assert max(len(request.messages) for request in provider.requests) <= 5
    assert provider.requests[-1].messages[-1].text == "question 5"
    assert state is not None
    assert len(state.messages) == 12
    first = compacts[0]
    assert (first.trigger, first.before.messages, first.after.messages) == ("auto", 7, 3)
    assert first.before.tokens > first.after.tokens
    assert first.before.bytes > first.after.bytes


async def test_a_summary_is_made_once_and_goes_on_in_later_runs() -> None:
    asked: list[int] = []

    async def summarize(messages: Any, _abort: Any) -> str:
        asked.append(len(messages))
        return f"{len(messages)} messages about numbers."

    store = FourVerbs()
    provider = ScriptedProvider(*(f"answer {n}" for n in range(7)))
    options = ContextOptions(max_messages=9, strategy="summarize", summarize=summarize)
    for number in range(7):
        async with Agent(provider=provider, context=options, session_store=store) as agent:
            await agent.run(f"question {number}", session_id="s1").result()
    assert asked == [6]
    sent = [message.text for message in provider.requests[-1].messages]
    assert "6 messages about numbers." in sent[0]
    assert sent[1:] == [text for n in range(3, 6) for text in (f"question {n}", f"answer {n}")] + ["question 6"]
