"""`InteractiveSession` on the responses API."""

from _session import close, make, turn

from agentframework import InteractiveSession, OpenAIProvider

__all__ = ["close", "new_session", "setup", "turn"]


async def setup(url: str) -> None:
    global provider
    provider = OpenAIProvider(api="responses", base_url=url + "/v1", api_key="bench")
    await provider.start()


async def new_session() -> InteractiveSession:
    return make(provider)
