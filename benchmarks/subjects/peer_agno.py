"""Agno on Anthropic, with its in-memory store."""

from itertools import count
from typing import Any

from _bare import call
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.anthropic import Claude
from anthropic import AsyncAnthropic

numbers = count()


async def bench_add(x: int) -> str:
    """Add one."""
    return await call("bench_add", {"x": x})


async def bench_sleep(ms: int) -> str:
    """Sleep."""
    return await call("bench_sleep", {"ms": ms})


async def setup(url: str) -> None:
    global client
    client = AsyncAnthropic(base_url=url, api_key="bench", max_retries=0)


class Conversation:
    def __init__(self) -> None:
        self.agent = Agent(
            model=Claude(id="bench", async_client=client, max_tokens=1000),
            db=InMemoryDb(),
            instructions="You are a bench.",
            tools=[bench_add, bench_sleep],
            add_history_to_context=True,
            num_history_runs=100_000,
            telemetry=False,
        )
        self.id = f"session-{next(numbers)}"


async def new_session() -> Conversation:
    return Conversation()


async def turn(session: Conversation, prompt: str, on_text: Any) -> str:
    texts: list[str] = []
    async for event in session.agent.arun(prompt, stream=True, session_id=session.id):
        if event.event == "RunContent" and event.content:
            on_text(event.content)
            texts.append(event.content)
        elif event.event == "RunError":
            raise RuntimeError(event.content)
    return "".join(texts)
