"""The three APIs side by side: one conversation case, three providers, one strict server."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2

from agentframework.errors import ProviderError
from agentframework.messages import (
    AssistantMessage,
    Message,
    ToolMessage,
    ToolResultPart,
    ToolSpec,
    user_text,
)
from agentframework.providers.anthropic import AnthropicProvider
from agentframework.providers.api_provider import ApiProvider
from agentframework.providers.openai import OpenAIProvider
from agentframework.providers.protocol import (
    Chunk,
    ModelReply,
    ModelRequest,
    RetryPolicy,
    TextChunk,
    ThinkingChunk,
)
from agentframework.testing.strict_server import StrictModelServer

APIS = ("anthropic", "responses", "chat")
ORIGINS = {"anthropic": "anthropic", "responses": "openai-responses", "chat": "openai-chat"}
ONCE = RetryPolicy(max_attempts=1)
QUICK = RetryPolicy(max_attempts=3, initial_delay_s=0.001, max_delay_s=0.05)
WAIT_S = 30

READ = ToolSpec(
    "Read",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="


def provider_for(api: str, url: str, **options: Any) -> ApiProvider:
    """A provider of ``api`` that talks to the server at ``url`` and tries once unless told otherwise."""
    options = {"api_key": "test-key-of-nobody", "retry": ONCE, "default_model": "model-a", **options}
    if api == "anthropic":
        return AnthropicProvider(base_url=url, **options)
    return OpenAIProvider(api="chat" if api == "chat" else "responses", base_url=f"{url}/v1", **options)


@dataclass(frozen=True)
class Talk:
    """A provider and its server."""

    api: str
    server: StrictModelServer
    provider: ApiProvider

    def request(self, messages: Sequence[Message] | str, **fields: Any) -> ModelRequest:
        """A request for model-a with the tool Read."""
        history = [user_text(messages)] if isinstance(messages, str) else messages
        return ModelRequest(**{"model": "model-a", "messages": history, "tools": (READ,), **fields})

    async def chunks(self, messages: Sequence[Message] | str, **fields: Any) -> list[Chunk]:
        """All chunks of one request."""
        async with asyncio.timeout(WAIT_S):
            return [chunk async for chunk in self.provider.stream(self.request(messages, **fields))]

    async def failure(self, messages: Sequence[Message] | str) -> tuple[list[Chunk], ProviderError]:
        """What was shown before a request failed, and its error."""
        seen: list[Chunk] = []
        try:
            async with asyncio.timeout(WAIT_S):
                async for chunk in self.provider.stream(self.request(messages)):
                    seen.append(chunk)
        except ProviderError as error:
            return seen, error
        raise AssertionError("the request did not fail")

    async def ask(self, messages: Sequence[Message] | str, **fields: Any) -> AssistantMessage:
        """The reply to one request."""
        reply = (await self.chunks(messages, **fields))[-1]
        assert isinstance(reply, ModelReply)
        return reply.message


@asynccontextmanager
async def talk(api: str, *, allow_leftovers: bool = False, **options: Any) -> AsyncIterator[Talk]:
    """A strict server and a provider of ``api`` for it.

    Its HTTP client does without certificates, which take longer to load than most tests to run.
    """
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(StrictModelServer(allow_leftovers=allow_leftovers))
        if "http_client" not in options:
            options["http_client"] = await stack.enter_async_context(httpx2.AsyncClient(verify=False))
        provider = provider_for(api, server.url, **options)
        stack.push_async_callback(provider.aclose)
        yield Talk(api, server, provider)


def shown(chunks: Sequence[Chunk]) -> str:
    """The text that a reader would have seen."""
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, TextChunk))


def thought(chunks: Sequence[Chunk]) -> str:
    """The reasoning that a reader would have seen."""
    return "".join(chunk.text for chunk in chunks if isinstance(chunk, ThinkingChunk))


def answers(message: AssistantMessage, *contents: str) -> ToolMessage:
    """Results for the calls of ``message``, in order."""
    return ToolMessage(
        tuple(
            ToolResultPart(call.id, call.name, content)
            for call, content in zip(message.tool_calls, contents, strict=True)
        )
    )
