import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentframework import InteractiveSession, Tool
from agentframework.errors import ErrorCode, OverloadedError, ReplayMismatchError
from agentframework.events import BaseEvent, Complete, Interrupted, TextDelta, ToolEnd, to_dict
from agentframework.messages import ExecutionResult
from agentframework.providers.protocol import Provider
from agentframework.providers.recording import RecordingProvider
from agentframework.providers.replay import ReplayProvider
from agentframework.testing import ScriptedProvider, bad_call, call, say, think

# What differs between two runs of the same conversation: identities and times.
_OWN = {"session_id", "turn_id", "time", "seq", "id", "timestamp", "duration_ms"}


# A coroutine, since two calls in threads of their own may end in either order.
async def _look(arguments: dict[str, Any], _context: object) -> str:
    return f"looked at {arguments['what']}"


LOOK = Tool(
    "Look",
    "Looks.",
    {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]},
    _look,
    risk="inspect",
)


def session_of(provider: Provider, folder: Path) -> InteractiveSession:
    return InteractiveSession(cwd=folder, provider=provider, model="some-model", default_tools=[LOOK])


async def converse(provider: Provider, folder: Path, *prompts: str) -> list[BaseEvent]:
    session = session_of(provider, folder)
    stream = session.events()
    async with asyncio.timeout(20), session:
        for prompt in prompts:
            await session.submit(prompt)
    return [event async for event in stream]


def plain(value: Any) -> Any:
    """JSON without what is new in every run."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items() if name not in _OWN}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def as_plain_json(events: list[BaseEvent]) -> list[Any]:
    return [plain(to_dict(event)) for event in events]


async def test_a_replayed_conversation_has_the_same_events(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    scripted = ScriptedProvider(
        say(think("Where?"), "Let me ", "look.", call("Look", what="here"), call("Look", what="there")),
        say("Again.", bad_call("Look", "{")),
        say("Nothing ", "there."),
        say("You are welcome."),
    )
    recorded = await converse(RecordingProvider(scripted, path), tmp_path, "Look around", "Thanks")
    scripted.assert_finished()
    replay = ReplayProvider(path, strict=True)
    replayed = await converse(replay, tmp_path, "Look around", "Thanks")
    assert replay.remaining == 0
    assert sum(isinstance(event, ToolEnd) for event in replayed) == 3
    assert as_plain_json(replayed) == as_plain_json(recorded)


async def test_a_failed_turn_replays_as_the_same_failure(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    scripted = ScriptedProvider(say("One moment", OverloadedError("too busy", status=529)))
    recorded = await converse(RecordingProvider(scripted, path), tmp_path, "Hi")
    replayed = await converse(ReplayProvider(path), tmp_path, "Hi")
    assert as_plain_json(replayed) == as_plain_json(recorded)


async def _interrupt_once_it_speaks(provider: Provider, folder: Path) -> ExecutionResult:
    async with asyncio.timeout(20), session_of(provider, folder) as session:

        def stop_after_two(event: TextDelta) -> None:
            if event.text == "two ":
                asyncio.get_running_loop().call_soon(session.abort)

        session.on(TextDelta, stop_after_two)
        return await session.submit_nowait("Count").completed


async def test_an_interrupted_turn_replays_up_to_the_interruption(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    scripted = ScriptedProvider(say("one ", "two ", asyncio.Event(), "three"))
    recorded = await _interrupt_once_it_speaks(RecordingProvider(scripted, path), tmp_path)
    replayed = await _interrupt_once_it_speaks(ReplayProvider(path), tmp_path)
    assert recorded.interrupted
    assert recorded.response == "one two "
    assert replace(replayed, context_state=recorded.context_state) == recorded


async def test_a_mismatch_is_the_turns_error_and_the_session_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    await converse(RecordingProvider(ScriptedProvider("Hello"), path), tmp_path, "Hi")
    async with asyncio.timeout(20), session_of(ReplayProvider(path), tmp_path) as session:
        with pytest.raises(ReplayMismatchError) as caught:
            await session.submit_nowait("Ho").completed
        assert caught.value.code == ErrorCode.REPLAY_MISMATCH
        assert "expected 'Hi', got 'Ho'" in caught.value.message
        assert (await session.submit_nowait("Hi").completed).response == "Hello"


async def test_a_recording_grows_over_several_sessions(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    await converse(RecordingProvider(ScriptedProvider("Hello"), path), tmp_path, "Hi")
    await converse(RecordingProvider(ScriptedProvider("Bye"), path), tmp_path, "Ciao")
    events = await converse(ReplayProvider(path), tmp_path, "Hi", "Ciao")
    assert [event.result.response for event in events if isinstance(event, Complete)] == ["Hello", "Bye"]
    assert not any(isinstance(event, Interrupted) for event in events)
