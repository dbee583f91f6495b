"""Strands Agents on Anthropic."""

from typing import Any

from _bare import call
from strands import Agent, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models.anthropic import AnthropicModel


@tool
async def bench_add(x: int) -> str:
    """Add one.

    Args:
        x: a number
    """
    return await call("bench_add", {"x": x})


@tool
async def bench_sleep(ms: int) -> str:
    """Sleep.

    Args:
        ms: how long
    """
    return await call("bench_sleep", {"ms": ms})


async def setup(url: str) -> None:
    global model
    settings = {"base_url": url, "api_key": "bench", "max_retries": 0}
    model = AnthropicModel(client_args=settings, model_id="bench", max_tokens=1000)


async def new_session() -> Agent:
    return Agent(
        model=model,
        tools=[bench_add, bench_sleep],
        system_prompt="You are a bench.",
        callback_handler=None,
        conversation_manager=NullConversationManager(),
    )


async def turn(session: Agent, prompt: str, on_text: Any) -> str:
    answer: Any = None
    async for event in session.stream_async(prompt):
        if "data" in event:
            on_text(event["data"])
        elif "result" in event:
            answer = event["result"]
    return str(answer)
