"""The conformance checks on our own providers: over the three APIs, recorded and replayed, standing in for another."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from apikit import APIS, provider_for

from agentframework import FallbackProvider, OverloadedError, RecordingProvider, ReplayProvider
from agentframework.messages import ToolSpec
from agentframework.testing import ScriptedProvider
from agentframework.testing.conformance import PROVIDER_CHECKS, Prompts, ProviderCheck, Subject, says_who_it_is
from agentframework.testing.strict_server import (
    RecordedRequest,
    Reply,
    StrictModelServer,
    call,
    error,
    reply,
    text,
    usage,
)

WEATHER = ToolSpec(
    "weather",
    "The weather of a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
PROMPTS = Prompts(tool="How is the weather in Oslo?", tool_spec=WEATHER, overflow="OVERFLOW " * 10)
each_check = pytest.mark.parametrize("check", PROVIDER_CHECKS, ids=lambda check: check.__name__)


def answer(request: RecordedRequest) -> Reply | list[Any]:
    """A model that counts, asks for the weather, and otherwise says hello."""
    body = request.raw.decode()
    if "Bearer refused" in str(request.headers) or "'refused'" in str(request.headers):
        return [error(401, "invalid x-api-key")]
    if "OVERFLOW" in body:
        return [error(400, "prompt is too long: 200001 tokens > 200000 maximum")]
    if "Count from one" in body:
        cut = any(f'"{name}":16,' in body for name in ("max_tokens", "max_output_tokens"))
        return reply(text("one two three four " * 15, chunks=60), finish_reason="length" if cut else None)
    if "weather" in body and "It is sunny." not in body:
        return [text("Let me see."), call("weather", {"city": "Oslo"})]
    return reply(text("Hello!", chunks=2), usage=usage(20, 5, cache_read=8))


@asynccontextmanager
async def scripted(api: str) -> AsyncIterator[Subject]:
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(StrictModelServer(answer))
        client = await stack.enter_async_context(httpx2.AsyncClient(verify=False))
        provider = provider_for(api, server.url, http_client=client)
        refused = provider_for(api, server.url, http_client=client, api_key="refused")
        yield Subject(provider, PROMPTS, refused=refused)
        for made in (provider, refused):
            await made.aclose()
        assert server.rejections == []


@pytest.mark.parametrize("api", APIS)
@each_check
async def test_our_three_apis(check: ProviderCheck, api: str) -> None:
    async with scripted(api) as subject:
        await check(subject)


@each_check
async def test_a_recording_and_its_replay(check: ProviderCheck, tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    async with scripted("anthropic") as subject:
        await check(Subject(RecordingProvider(subject.provider, path), PROMPTS))
    if check is not says_who_it_is:  # asks nothing, so there is nothing to replay
        await check(Subject(ReplayProvider(path), PROMPTS, subject.model or subject.provider.default_model))


@each_check
async def test_providers_that_stand_in_for_each_other(check: ProviderCheck) -> None:
    async with scripted("chat") as subject:
        broken = ScriptedProvider(*[OverloadedError("busy")] * 10)
        await check(Subject(FallbackProvider([broken, subject.provider]), PROMPTS))
