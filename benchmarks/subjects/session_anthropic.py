"""`InteractiveSession` on the anthropic API."""

from _session import close, make, turn

from agentframework import AnthropicProvider, InteractiveSession

__all__ = ["close", "new_session", "setup", "turn"]


async def setup(url: str) -> None:
    global provider
    provider = AnthropicProvider(base_url=url, api_key="bench")
    await provider.start()


async def new_session() -> InteractiveSession:
    return make(provider)
