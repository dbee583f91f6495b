import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from full_server import full_server
from mcpkit import FAST, Raw, manager_of

from agentframework import HttpServer, McpClientManager, McpOperationError, McpOptions, RetryPolicy, SseServer


@asynccontextmanager
async def connected(transport: str, **options: Any) -> AsyncIterator[McpClientManager]:
    async with full_server(transport) as url:
        server = (SseServer if transport == "sse" else HttpServer)(url, **options)
        async with McpClientManager({"full": server}, options=McpOptions(reconnect=FAST)) as manager:
            yield manager


async def headers(manager: McpClientManager) -> dict[str, str]:
    result = await manager.call_tool("full", "headers")
    return json.loads(result.content[0].text)  # type: ignore[union-attr]


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_token_and_further_headers_go_with_every_request(transport: str) -> None:
    async with connected(transport, auth="t0ken", headers={"X-Team": "docs"}) as manager:
        got = await headers(manager)
        assert (got["authorization"], got["x-team"]) == ("Bearer t0ken", "docs")
        assert "t0ken" not in repr(manager.get_connection("full").server)


class Renewing(httpx2.Auth):
    """Another token for each request."""

    def __init__(self) -> None:
        self.given = 0

    def auth_flow(self, request: httpx2.Request) -> Any:
        self.given += 1
        request.headers["Authorization"] = f"Bearer number-{self.given}"
        yield request


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_provider_object_is_handed_to_the_official_transport(transport: str) -> None:
    provider = Renewing()
    async with connected(transport, auth=provider) as manager:
        first = (await headers(manager))["authorization"]
        assert first.startswith("Bearer number-")
        assert (await headers(manager))["authorization"] != first
    assert provider.given > 2


async def test_a_program_runs_where_it_is_told_to(raw: Raw, tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    body = "def call(request, name, arguments):\n    reply(request, text(os.getcwd()))\n"
    async with manager_of(raw(body, cwd=str(folder))) as manager:
        result = await manager.call_tool("a", "echo")
        assert Path(result.content[0].text) == folder  # type: ignore[union-attr]


async def test_limits_for_all_operations_hold_where_none_is_given(raw: Raw) -> None:
    server = raw("def call(request, name, arguments):\n    pass\n")
    async with manager_of(server, timeout_s=0.2) as manager:
        with pytest.raises(McpOperationError, match=r"no answer within 0\.2 s"):
            await manager.call_tool("a", "echo")
    async with manager_of(raw("def call(request, name, arguments):\n    pass\n"), max_total_timeout_s=0.2) as manager:
        with pytest.raises(McpOperationError, match="in all"):
            await manager.call_tool("a", "echo")


async def test_a_policy_repeats_only_the_operations_that_it_names(raw: Raw) -> None:
    body = """
    left = {"resources/list": 1, "prompts/list": 1}
    CAPABILITIES["resources"] = CAPABILITIES["prompts"] = {}
    def other(request):
        method = request["method"]
        if left.get(method):
            left[method] -= 1
            fail(request, -32603, "busy")
        else:
            reply(request, {method.split("/")[0]: []})
    """
    retry = RetryPolicy(max_attempts=2, initial_delay_s=0.01, retryable_operations=frozenset({"list_resources"}))
    async with manager_of(raw(body), retry=retry) as manager:
        assert await manager.list_resources("a") == []
        with pytest.raises(McpOperationError, match="busy"):
            await manager.list_prompts("a")


async def test_an_unanswered_probe_is_sent_again_as_often_as_told(raw: Raw) -> None:
    body = """
    def other(request):
        pass
    """
    server = raw(body)
    protocol = {"mode": "auto", "probe_timeout_s": 0.2, "probe_max_retries": 2}
    async with manager_of(server, protocol=protocol) as manager:
        assert manager.get_connection("a").era == "legacy"
    assert server.heard().count("server/discover") == 3
