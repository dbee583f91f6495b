import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import anyio

from agentframework import AssistantMessage, InteractiveSession, JsonlSessionStore, ToolMessage
from agentframework.messages import Message
from agentframework.stores.records import restore
from agentframework.stores.restoring import LOST_TEXT
from agentframework.testing import ScriptedProvider, say

CHILD = Path(__file__).with_name("crash_child.py")
ROUNDS = int(os.environ.get("AF_CRASH_ROUNDS", "12"))


async def run_and_kill(folder: Path, lines: int, resume: str | None, until: str | None = None) -> tuple[str, int]:
    """Let a child run for so many lines, or to one that begins so, and kill it.

    Its session, and how many turns it had said to be done.
    """
    command = [sys.executable, str(CHILD), str(folder), str(folder / "sessions"), *([resume] if resume else [])]
    session_id, done, seen = "", 0, 0
    with anyio.fail_after(120):
        async with await anyio.open_process(command, stdout=subprocess.PIPE, stderr=None) as child:
            assert child.stdout is not None
            rest = ""
            while seen < lines:
                rest += (await child.stdout.receive()).decode()
                *whole, rest = rest.split("\n")
                for line in whole:
                    seen += 1
                    session_id = line.removeprefix("session ") if line.startswith("session ") else session_id
                    done += line.startswith("done")
                    if until is not None and line.startswith(until):
                        lines = 0
            child.send_signal(signal.SIGKILL)
            await child.wait()
            async for data in child.stdout:
                rest += data.decode()
            done += sum(line.startswith("done") for line in rest.split("\n")[:-1])
    return session_id, done


def check_pairing(messages: list[Message]) -> None:
    for place, message in enumerate(messages):
        calls = [item.id for item in message.tool_calls] if isinstance(message, AssistantMessage) else []
        following = messages[place + 1] if place + 1 < len(messages) else None
        if calls:
            assert isinstance(following, ToolMessage)
            assert [part.tool_use_id for part in following.content] == calls
        if isinstance(message, ToolMessage):
            before = messages[place - 1]
            assert isinstance(before, AssistantMessage)
            assert before.tool_calls


async def resumed(folder: Path, session_id: str) -> list[Message]:
    """What is sent with the next prompt."""
    provider = ScriptedProvider(say("I am back."))
    async with InteractiveSession(
        cwd=folder, provider=provider, model="m", session_store=JsonlSessionStore(folder / "sessions"),
        resume_session_id=session_id,
    ) as session:  # fmt: skip
        await session.submit("after the crash")
    return list(provider.requests[0].messages)


async def test_a_call_that_had_ended_keeps_its_result_and_no_tool_runs_again(tmp_path: Path) -> None:
    session_id, _ = await run_and_kill(tmp_path, 1000, None, until="tool 1")
    messages = await resumed(tmp_path, session_id)
    check_pairing(messages)
    answers = next(message for message in messages if isinstance(message, ToolMessage))
    texts = [part.content for part in answers.content]
    assert texts[2] == LOST_TEXT
    assert all(text in (LOST_TEXT, f"result {number}") for number, text in enumerate(texts, 1))


async def test_nothing_that_was_reported_is_missing_after_kills_at_any_moment(tmp_path: Path) -> None:
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    session_id: str | None = None
    reported = 0
    earlier: list[Message] = []
    for number in range(ROUNDS):
        context = f"seed {seed}, round {number}"
        found, done = await run_and_kill(tmp_path, chance.randrange(2, 40), session_id)
        session_id = session_id or found
        reported += done
        store = JsonlSessionStore(tmp_path / "sessions")
        if not store.path_of(session_id).exists():
            assert reported == 0, context
            session_id = None
            continue
        stored = restore(session_id, await store.read(session_id))
        assert stored.problems == [], context
        assert sum(message.text == "That was it." for message in stored.messages) >= reported, context
        assert stored.messages[: len(earlier)] == earlier, context
        earlier = stored.messages
    if session_id is not None:
        messages = await resumed(tmp_path, session_id)
        check_pairing(messages)
        kept = [message for message in messages if not isinstance(message, ToolMessage)]
        assert [message.id for message in earlier if not isinstance(message, ToolMessage)] == [m.id for m in kept[:-1]]
