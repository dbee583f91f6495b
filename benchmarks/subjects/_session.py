"""What the three session subjects share."""

import asyncio
from collections.abc import Callable

from agentframework import InteractiveSession, Provider, tool


@tool(risk="inspect")
async def bench_add(x: int) -> str:
    """Add one."""
    return str(x + 1)


@tool(risk="inspect")
async def bench_sleep(ms: int) -> str:
    """Sleep."""
    await asyncio.sleep(ms / 1000)
    return "slept"


def make(provider: Provider) -> InteractiveSession:
    tools = [bench_add, bench_sleep]
    return InteractiveSession(
        cwd=".", provider=provider, model="bench", default_tools=tools, system_prompt="You are a bench."
    )


async def turn(session: InteractiveSession, prompt: str, on_text: Callable[[str], None]) -> str:
    listener = session.on("text_delta", lambda event: on_text(event.text))
    handle = await session.submit(prompt)
    session.off("text_delta", listener)
    return (await handle.completed).response


async def close(session: InteractiveSession) -> None:
    await session.shutdown()
