import asyncio
from typing import Any

import pytest
from http_server import RawHttp
from mcpkit import FAST, Watch

from agentframework import (
    HttpServer,
    McpClientManager,
    McpDisconnectedError,
    McpError,
    McpOptions,
    ReconnectPolicy,
    RetryPolicy,
)


def manager_of(server: RawHttp, **options: Any) -> McpClientManager:
    options.setdefault("reconnect", FAST)
    return McpClientManager({"a": HttpServer(server.url, auth="t0ken")}, options=McpOptions(**options))


async def test_tools_of_an_http_server_are_called() -> None:
    async with RawHttp() as server, manager_of(server) as manager:
        result = await manager.call_tool("a", "echo", {"x": 1})
        assert result.content[0].text == "{'x': 1}"  # type: ignore[union-attr]
        assert manager.get_connection("a").era == "legacy"


async def test_a_forgotten_session_is_renewed_and_the_refused_call_sent_once_more() -> None:
    async with RawHttp() as server, manager_of(server) as manager:
        watch = Watch(manager)
        server.sessions.clear()
        result = await manager.call_tool("a", "echo", {"x": 1})
        assert result.content[0].text == "{'x': 1}"  # type: ignore[union-attr]
        assert server.heard.count("initialize") == 2
        assert server.heard.count("tools/call") == 2
        assert watch.statuses("a") == ["connecting", "connected"]


async def test_a_server_that_forgets_every_session_makes_no_endless_loop() -> None:
    async with RawHttp() as server, manager_of(server) as manager:
        server.before = lambda message, _session: 404 if message["method"] == "tools/call" else None
        with pytest.raises(McpDisconnectedError, match="again and again"):
            await manager.call_tool("a", "echo", {})
        assert server.heard.count("tools/call") == 2


async def test_a_refused_key_needs_authorization_and_is_not_tried_again() -> None:
    async with RawHttp() as server, manager_of(server) as manager:
        watch = Watch(manager)
        server.before = lambda message, _session: 401
        with pytest.raises(McpError, match="call_tool failed"):
            await manager.call_tool("a", "echo", {})
        await watch.until(lambda: manager.get_connection("a").status == "needs_auth")
        heard = len(server.heard)
        for _ in range(5):
            with pytest.raises(McpDisconnectedError, match="needs authorization"):
                await manager.call_tool("a", "echo", {})
        assert len(server.heard) == heard


async def test_a_key_refused_at_the_start_is_a_status() -> None:
    async with RawHttp() as server:
        server.before = lambda message, _session: 401
        manager = manager_of(server)
        (summary,) = await manager.connect_all()
        assert summary.status == "needs_auth"
        assert "401" in (summary.reason or "")
        assert "t0ken" not in str(summary)
        await manager.disconnect_all()


async def test_an_unavailable_server_is_connected_again_when_it_is_back() -> None:
    async with RawHttp() as server:
        failing = 3

        def unavailable(message: dict[str, Any], _session: str | None) -> int | None:
            nonlocal failing
            if failing == 0 or message["method"] == "server/discover":
                return None
            failing -= 1
            return 503

        async with manager_of(server) as manager:
            server.before = unavailable
            with pytest.raises(McpError):
                await manager.call_tool("a", "echo", {})
            result = await manager.call_tool("a", "echo", {"back": True})
            assert result.content[0].text == "{'back': True}"  # type: ignore[union-attr]
            assert server.heard.count("tools/call") == 2


async def test_a_server_that_goes_away_and_comes_back_is_found_again() -> None:
    async with RawHttp() as server:
        policy = ReconnectPolicy(initial_delay_s=0.05, max_delay_s=0.2, max_attempts=50)
        async with manager_of(server, reconnect=policy) as manager:
            watch = Watch(manager)
            await server.stop()
            with pytest.raises(McpError):
                await manager.call_tool("a", "echo", {})
            await watch.until(lambda: "disconnected" in watch.statuses("a"))
            await server.start()
            server.sessions.clear()
            await watch.until(lambda: manager.get_connection("a").status == "connected")
            result = await manager.call_tool("a", "echo", {})
            assert not result.is_error


async def test_reads_are_repeated_when_that_was_asked_for_and_calls_are_not() -> None:
    async with RawHttp() as server:
        retry = RetryPolicy(max_attempts=3, initial_delay_s=0.01)
        async with manager_of(server, retry=retry) as manager:
            left = {"tools/list": 2, "tools/call": 1}

            def busy(message: dict[str, Any], _session: str | None) -> int | None:
                if left.get(message["method"], 0):
                    left[message["method"]] -= 1
                    return 500
                return None

            server.before = busy
            listed = server.heard.count("tools/list")
            tools = await manager.get_connection("a").list_tools(refresh=True)
            assert [tool.name for tool in tools] == ["echo"]
            assert server.heard.count("tools/list") == listed + 3
            with pytest.raises(McpError):
                await manager.call_tool("a", "echo", {})
            assert server.heard.count("tools/call") == 1
            left["tools/call"] = 1
            allowed = RetryPolicy(max_attempts=2, initial_delay_s=0.01, retry_non_idempotent=True)
            assert not (await manager.call_tool("a", "echo", {}, retry=allowed)).is_error


async def test_a_call_whose_connection_breaks_is_not_sent_again() -> None:
    async with RawHttp() as server, manager_of(server) as manager:

        async def drop(_message: dict[str, Any]) -> Any:
            for writer in list(server._writers):
                writer.transport.abort()
            raise ConnectionError

        server.call = drop
        async with asyncio.timeout(20):
            with pytest.raises(McpError):
                await manager.call_tool("a", "echo", {})
        assert server.heard.count("tools/call") == 1
        server.call = server._echo
        assert not (await manager.call_tool("a", "echo", {})).is_error
