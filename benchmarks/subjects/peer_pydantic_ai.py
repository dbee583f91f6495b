"""Pydantic AI, streaming through `Agent.iter`."""

from typing import Any

from _bare import call
from anthropic import AsyncAnthropic
from pydantic_ai import Agent, UsageLimits
from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider

NO_LIMIT = UsageLimits(request_limit=None)


async def setup(url: str) -> None:
    global model
    client = AsyncAnthropic(base_url=url, api_key="bench", max_retries=0)
    model = AnthropicModel("bench", provider=AnthropicProvider(anthropic_client=client))


class Conversation:
    def __init__(self) -> None:
        self.agent = Agent(model, instructions="You are a bench.")
        self.history: list[Any] = []

        @self.agent.tool_plain
        async def bench_add(x: int) -> str:
            """Add one."""
            return await call("bench_add", {"x": x})

        @self.agent.tool_plain
        async def bench_sleep(ms: int) -> str:
            """Sleep."""
            return await call("bench_sleep", {"ms": ms})


async def new_session() -> Conversation:
    return Conversation()


async def turn(session: Conversation, prompt: str, on_text: Any) -> str:
    async with session.agent.iter(prompt, message_history=session.history, usage_limits=NO_LIMIT) as run:
        async for node in run:
            if not Agent.is_model_request_node(node):
                continue
            async with node.stream(run.ctx) as events:
                async for event in events:
                    if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                        on_text(event.delta.content_delta)
                    elif isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                        on_text(event.part.content)
    session.history = run.result.all_messages()
    return run.result.output
