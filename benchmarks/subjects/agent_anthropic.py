"""`Agent` on the Anthropic API."""

from itertools import count

from _agent import Conversation, close, make, turn

from agentframework import AnthropicProvider

__all__ = ["close", "new_session", "setup", "turn"]

numbers = count(1)


async def setup(url: str) -> None:
    global agent
    provider = AnthropicProvider(base_url=url, api_key="bench")
    await provider.start()
    agent = make(provider)


async def new_session() -> Conversation:
    return Conversation(agent, next(numbers))
