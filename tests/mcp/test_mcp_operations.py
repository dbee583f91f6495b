from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from full_server import MODERN, full_server
from mcpkit import FAST, Raw, Watch, manager_of

from agentframework import HttpServer, McpClientManager, McpOperationError, McpOptions, SseServer
from agentframework.mcp import McpChange

WAYS = [("http", "auto"), ("http", "legacy"), ("sse", "auto"), ("sse", "legacy"), ("http", "pin")]
ways = pytest.mark.parametrize(("transport", "mode"), WAYS)


@asynccontextmanager
async def connected(transport: str, mode: str, **options: object) -> AsyncIterator[McpClientManager]:
    async with full_server(transport) as url:
        server = SseServer(url) if transport == "sse" else HttpServer(url)
        protocol = {"mode": {"pin": MODERN} if mode == "pin" else mode}
        chosen = McpOptions(reconnect=FAST, protocol=protocol, **options)  # type: ignore[arg-type]
        async with McpClientManager({"full": server}, options=chosen) as manager:
            yield manager


@ways
async def test_everything_a_server_offers_can_be_asked_for(transport: str, mode: str) -> None:
    async with connected(transport, mode) as manager:
        (summary,) = manager.summaries()
        assert summary.status == "connected", summary.reason
        modern = mode != "legacy"
        assert summary.era == ("modern" if modern else "legacy")
        assert summary.protocol_version == (MODERN if modern else "2025-11-25")
        connection = manager.get_connection("full")
        assert (connection.server_info.name, connection.instructions) == ("full", "Be kind.")
        added = await manager.call_tool("full", "add", {"a": 2, "b": 3})
        assert added.structured_content == {"result": 5}
        assert [str(one.uri) for one in await manager.list_resources("full")] == ["mem://greeting"]
        read = await manager.read_resource("full", "mem://greeting")
        assert read.contents[0].text == "Hello from a resource."  # type: ignore[union-attr]
        (template,) = await manager.list_resource_templates("full")
        assert template.uri_template == "mem://users/{name}"
        (prompt,) = await manager.list_prompts("full")
        assert prompt.name == "summarize"
        got = await manager.get_prompt("full", "summarize", {"language": "Latin"})
        assert got.messages[0].content.text == "Sum up in Latin."  # type: ignore[union-attr]
        done = await manager.complete(
            "full", {"type": "ref/prompt", "name": "summarize"}, {"name": "language", "value": "L"}
        )
        assert done.completion.values == ["La", "Lb"]
        reference = {"type": "ref/resource", "uri": "mem://users/{name}"}
        done = await manager.complete("full", reference, {"name": "name", "value": "x"}, {"other": "y"})
        assert done.completion.values == ["xa", "xb", "xy"]
        await manager.ping("full")
        with pytest.raises(McpOperationError, match="read_resource failed"):
            await manager.read_resource("full", "mem://nothing")


@ways
async def test_a_tool_that_a_server_adds_is_there_in_every_era(transport: str, mode: str) -> None:
    async with connected(transport, mode, list_changed_debounce_s=0.01) as manager:
        watch = Watch(manager)
        await manager.call_tool("full", "grow")
        await watch.until(lambda: any("mcp__full__extra" in one.added for one in watch.of("mcp_tool_catalog_updated")))
        assert manager.tools.get("mcp__full__extra") is not None


@ways
async def test_changes_are_listened_to_in_every_era(transport: str, mode: str) -> None:
    async with connected(transport, mode) as manager:
        listening = await manager.listen("full", tools_list_changed=True, resource_subscriptions=["mem://greeting"])
        await manager.call_tool("full", "touch", {"uri": "mem://other"})
        await manager.call_tool("full", "touch", {"uri": "mem://greeting"})
        await manager.call_tool("full", "grow")
        heard = set()
        async for change in listening:
            heard.add(change)
            if len(heard) == 2:
                break
        assert heard == {McpChange("resource", "mem://greeting"), McpChange("tools")}
        await listening.close()
        assert [change async for change in listening] == []


@ways
async def test_a_subscription_outlives_listeners_and_ends_when_nobody_wants_it(transport: str, mode: str) -> None:
    async with connected(transport, mode) as manager:
        connection = manager.get_connection("full")
        await manager.subscribe_resource("full", "mem://greeting")
        async with await manager.listen("full", resource_subscriptions=["mem://greeting"]) as listening:
            await manager.call_tool("full", "touch", {"uri": "mem://greeting"})
            assert await anext(listening) == McpChange("resource", "mem://greeting")
        assert connection._hub.uris == ("mem://greeting",)
        await manager.unsubscribe_resource("full", "mem://greeting")
        assert connection._hub.uris == ()


async def test_a_subscription_that_a_server_refuses_is_an_error_and_forgotten(raw: Raw) -> None:
    async with manager_of(raw()) as manager:
        with pytest.raises(McpOperationError, match="subscribe_resource failed"):
            await manager.subscribe_resource("a", "mem://x")
        assert manager.get_connection("a")._hub.uris == ()
