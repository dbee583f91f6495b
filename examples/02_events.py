"""Events: three ways to follow a turn. Listeners by name and by class, and a stream of everything as JSON lines.

Run it with ``python examples/02_events.py`` and ANTHROPIC_API_KEY set. It writes ``events.jsonl``.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

from agentframework import AnthropicProvider, InteractiveSession, Provider
from agentframework.events import BaseEvent, ToolEnd, to_dict


async def main(provider: Provider) -> list[str]:
    """Ask about the files here, show the tool calls, log every event, and return the calls that were shown."""
    session = InteractiveSession(cwd=".", provider=provider)
    calls: list[str] = []

    @session.on("tool_start")
    def announce(event) -> None:
        print(f"… {event.tool_name}({event.first_arg})")

    @session.on(ToolEnd)  # by class: type checkers know the fields
    async def note(event: ToolEnd) -> None:
        await asyncio.sleep(0)  # async listeners may wait; they get their events one after the other
        calls.append(f"{event.tool_name}({event.first_arg}): {event.outcome}")

    # A stream gets everything from the moment it is made, here from before the start to the end of the session.
    log = asyncio.create_task(write_log(session.events(), Path("events.jsonl")))
    async with session:
        handle = await session.submit("What do the text files here say?")
        print((await handle.completed).response)
    await log
    return calls


async def write_log(events: AsyncIterator[BaseEvent], path: Path) -> None:
    """One JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        async for event in events:
            file.write(json.dumps(to_dict(event)) + "\n")


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
