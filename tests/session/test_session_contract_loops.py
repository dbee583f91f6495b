import asyncio
import gc
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from sessionkit import WAIT_S, look, results, settle

from agentframework import InteractiveSession, tool
from agentframework.errors import (
    AgentFrameworkError,
    SessionBusyError,
)
from agentframework.testing import ScriptedProvider, call, say


def test_a_session_may_be_used_from_one_loop_after_the_other(tmp_path: Path) -> None:
    session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider("one", "two", "three"), default_tools=[])
    heard: list[str] = []
    told: list[asyncio.Event] = []

    async def listener(event: Any) -> None:
        heard.append(event.result.response)
        told[-1].set()

    session.on("complete", listener)

    async def ask(text: str) -> str:
        told.append(asyncio.Event())
        async with asyncio.timeout(WAIT_S):
            answer = (await (await session.submit(text)).completed).response
            await told[-1].wait()
        return answer

    assert [asyncio.run(ask(text)) for text in "abc"] == ["one", "two", "three"]
    assert heard == ["one", "two", "three"]
    asyncio.run(session.shutdown())


def test_a_turn_that_ended_with_its_loop_leaves_the_session_usable(tmp_path: Path) -> None:
    provider = ScriptedProvider(say("half", call("wait")), "next")
    began: list[asyncio.Event] = []

    @tool(risk="inspect")
    async def wait() -> None:
        """Waits for ever."""
        began[0].set()
        await asyncio.Event().wait()

    session = InteractiveSession(cwd=tmp_path, provider=provider, default_tools=[wait, look])
    handles: list[Any] = []

    async def leave() -> None:
        began.append(asyncio.Event())
        handles.append(session.submit_nowait("go"))
        handles.append(session.submit_nowait("waits", driver_id="other"))
        async with asyncio.timeout(WAIT_S):
            await began[0].wait()

    async def use() -> list[str]:
        return [await settle(await session.submit("again")), *[await settle(handle) for handle in handles]]

    asyncio.run(leave())
    assert not session.is_executing()
    assert asyncio.run(use()) == ["next", "interrupted", "cancelled"]
    assert results(session)[0].is_error
    asyncio.run(session.shutdown())


async def test_a_prompt_from_another_loop_while_a_turn_runs_is_refused(make_session) -> None:
    gate = asyncio.Event()
    session = make_session(say(gate, "done"))
    handle = session.submit_nowait("go")
    caught: list[AgentFrameworkError] = []

    async def ask() -> None:
        try:
            session.submit_nowait("from elsewhere")
        except SessionBusyError as error:
            caught.append(error)

    thread = threading.Thread(target=lambda: asyncio.run(ask()))
    thread.start()
    await asyncio.to_thread(thread.join, WAIT_S)
    gate.set()
    assert await settle(handle) == "done"
    assert [error.code for error in caught] == ["SESSION_ALREADY_RUNNING"]
    assert "one loop" in str(caught[0])


PREAMBLE = """
import asyncio, gc, sys, threading
from agentframework import InteractiveSession, tool
from agentframework.testing import ScriptedProvider, call, say

def make(*steps, **options):
    options.setdefault("default_tools", [])
    return InteractiveSession(cwd=".", provider=ScriptedProvider(*steps), **options)

async def heard(event):
    pass
"""


def run_quietly(script: str, folder: Path) -> str:
    """What a program prints that must not complain of anything."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PREAMBLE + textwrap.dedent(script)],
        cwd=folder, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONASYNCIODEBUG": ""},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_session_may_be_dropped_without_being_shut_down(tmp_path: Path) -> None:
    script = """
    async def main():
        for _ in range(3):
            session = make("a", "b")
            session.on("text_delta", heard)
            session.once("complete", heard)
            stream = session.events()
            await (await session.submit("x")).completed
            session.submit_nowait("y")
            del session, stream
            gc.collect()
            await asyncio.sleep(0.01)
            gc.collect()
        await asyncio.sleep(0)
        print(len(asyncio.all_tasks()), sum(isinstance(o, InteractiveSession) for o in gc.get_objects()))
    asyncio.run(main())
    """
    assert run_quietly(script, tmp_path) == "1 0\n"


def test_a_session_that_nobody_shut_down_is_given_back(tmp_path: Path) -> None:
    async def use() -> None:
        session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider("a"), default_tools=[])
        session.on("complete", lambda _event: None)
        await session.submit("x")

    asyncio.run(use())
    gc.collect()
    left = [found for found in gc.get_objects() if isinstance(found, InteractiveSession)]
    assert [session for session in left if session.cwd == str(tmp_path.resolve())] == []


@pytest.mark.parametrize("kind", ["model", "async tool", "sync tool", "question", "queue", "listener"])
def test_a_program_may_end_in_the_middle_of_a_turn(tmp_path: Path, kind: str) -> None:
    script = f"""
    kind = {kind!r}
    began = threading.Event()

    @tool(risk="inspect")
    async def wait() -> str:
        "Waits."
        began.set()
        await asyncio.Event().wait()

    @tool(risk="inspect")
    def poll(context: __import__("agentframework").ToolContext) -> str:
        "Polls."
        began.set()
        while not context.abort.aborted:
            threading.Event().wait(0.01)
        return "stopped"

    @tool
    async def danger() -> str:
        "Needs a yes."

    async def slow(event):
        began.set()
        await asyncio.Event().wait()

    async def main():
        forever = asyncio.Event()
        steps = {{
            "model": say("x", forever), "async tool": say(call("wait")), "sync tool": say(call("poll")),
            "question": say(call("danger")), "queue": say("x", forever), "listener": say("x", forever),
        }}
        session = make(steps[kind], "never", default_tools=[wait, poll, danger])
        session.on("text_delta", slow if kind == "listener" else lambda event: began.set())
        session.on("permission_request", lambda event: began.set())
        session.on("interrupted", lambda event: print("interrupted"))
        session.submit_nowait("go")
        if kind == "queue":
            session.submit_nowait("waits", driver_id="other")
        while not began.is_set():
            await asyncio.sleep(0.01)

    asyncio.run(main())
    print("end")
    """
    assert run_quietly(script, tmp_path) == "interrupted\nend\n"


def test_a_keyboard_interrupt_of_a_listener_ends_the_program_and_not_the_transcript(tmp_path: Path) -> None:
    session = InteractiveSession(
        cwd=tmp_path,
        provider=ScriptedProvider(say(call("look"), call("look")), "after"),
        default_tools=[look],
    )

    def interrupt(_event: Any) -> None:
        raise KeyboardInterrupt

    async def go() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _loop, _context: None)
        session.on("tool_start", interrupt)
        await session.submit("go")

    async def again() -> str:
        session.off("tool_start", interrupt)
        outcome = await settle(await session.submit("again"))
        await session.shutdown()
        return outcome

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(go())
    gc.collect()
    assert asyncio.run(again()) == "after"
    assert len(results(session)) == 2
