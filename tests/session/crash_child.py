"""Runs a session until it is killed: each prompt has a round of three tools and a streamed answer.

``python crash_child.py CWD STORE [SESSION]``. Prints a line for each thing that happens, so that whoever kills it can
choose the moment; ``done N`` says that turn N was reported complete.
"""

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from agentframework import InteractiveSession, JsonlSessionStore, Tool
from agentframework.events import BaseEvent
from agentframework.providers.protocol import Chunk, ModelRequest
from agentframework.testing import ScriptedProvider, call, say


class Endless(ScriptedProvider):
    """Asks for three tools, then answers, and so on; slowly."""

    def __init__(self) -> None:
        super().__init__()
        self._steps = itertools.cycle(
            [say("I look. ", call("Look", n=1), call("Look", n=2), call("Touch", n=3)), say("That ", "was ", "it.")]
        )

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        inner = ScriptedProvider(next(self._steps))
        async for chunk in inner.stream(request):
            await asyncio.sleep(0.0005)
            yield chunk


async def slow(arguments: dict[str, Any], _context: object) -> str:
    await asyncio.sleep(0.001)
    print(f"tool {arguments['n']}", flush=True)
    return f"result {arguments['n']}"


async def main(cwd: str, directory: str, resume: str | None = None) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    tools = [
        Tool("Look", "Looks.", schema, slow, risk="inspect"),
        Tool("Touch", "Touches.", schema, slow, risk="modify"),
    ]
    session = InteractiveSession(
        cwd=Path(cwd),
        provider=Endless(),
        model="m",
        default_tools=tools,
        permission_mode="bypassPermissions",
        session_store=JsonlSessionStore(directory),
        resume_session_id=resume,
    )

    def say_so(event: BaseEvent) -> None:
        if event.type in ("text_delta", "tool_start", "tool_end"):
            print(event.type, flush=True)

    for name in ("text_delta", "tool_start", "tool_end"):
        session.on(name, say_so)
    async with session:
        print(f"session {session.session_id}", flush=True)
        for number in range(1000):
            await session.submit_nowait(f"prompt {number}").completed
            print(f"done {number}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
