import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from full_server import full_server
from mcpkit import FAST

from agentframework import HttpServer, McpClientManager, McpHandlers, McpOptions
from agentframework.mcp import normalize_mcp_tool_result

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")  # our own server, old era
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


@asynccontextmanager
async def connected(mode: str, handlers: Any = None, **options: Any) -> AsyncIterator[McpClientManager]:
    async with full_server() as url:
        chosen = McpOptions(reconnect=FAST, protocol=mode, **options)
        async with McpClientManager({"full": HttpServer(url)}, handlers=handlers, options=chosen) as manager:
            yield manager


async def said(manager: McpClientManager, tool: str, **arguments: Any) -> str:
    return normalize_mcp_tool_result(await manager.call_tool("full", tool, arguments)).content


@ERAS
async def test_a_server_asks_a_person_something_in_both_eras(mode: str) -> None:
    asked: list[Any] = []

    async def elicit(params: Any) -> dict[str, Any]:
        asked.append(params)
        return {"action": "accept", "content": {"ok": len(asked) == 1}}

    async with connected(mode, {"elicitation": elicit}) as manager:
        assert await said(manager, "remove", path="/x") == "removed /x"
        assert await said(manager, "remove", path="/y") == "kept"
    assert [params.message for params in asked] == ["Delete /x?", "Delete /y?"]
    assert asked[0].requested_schema["properties"]["ok"]["type"] == "boolean"


@ERAS
async def test_a_handler_that_fails_is_answered_within_the_protocol_and_the_connection_goes_on(mode: str) -> None:
    def elicit(_params: Any) -> Any:
        raise ValueError("nobody is at home")

    async with connected(mode, McpHandlers(elicitation=elicit)) as manager:
        try:
            told = await said(manager, "remove", path="/x")
        except Exception as error:
            told = str(error)
        assert "removed" not in told
        assert await said(manager, "add", a=1, b=2) == "3"
        assert manager.get_connection("full").status == "connected"


async def test_a_server_of_the_old_era_asks_for_a_model_for_roots_and_for_a_visit() -> None:
    sampled: list[Any] = []

    def sample(params: Any) -> dict[str, Any]:
        sampled.append(params)
        return {"role": "assistant", "content": {"type": "text", "text": "Well."}, "model": "m"}

    handlers = {
        "sampling": sample,
        "roots": lambda: [{"uri": "file:///srv/work", "name": "work"}],
        "elicitation": lambda params: {"action": "accept" if params.mode == "url" else "decline"},
    }
    async with connected("legacy", handlers) as manager:
        assert await said(manager, "sample") == "the model said: Well."
        assert (sampled[0].max_tokens, sampled[0].system_prompt) == (50, "Be short.")
        assert await said(manager, "roots") == "file:///srv/work"
        assert await said(manager, "visit") == "accept"


@ERAS
async def test_log_messages_of_a_server_arrive_in_both_eras(mode: str) -> None:
    logged: list[Any] = []
    async with connected(mode, {"logging": logged.append}) as manager:
        assert await said(manager, "log") == "logged"
    assert [(params.level, params.data) for params in logged] == [("warning", "something odd")]


@ERAS
async def test_what_handlers_need_and_what_the_host_adds_is_declared(mode: str) -> None:
    async with connected(mode) as manager:
        assert json.loads(await said(manager, "declared")) == {}
    handlers = {"sampling": print, "roots": list}
    extra = {"extensions": {"example.com/x": {"level": 2}}, "elicitation": {"form": {}}}
    async with connected(mode, handlers, capabilities=extra) as manager:
        declared = json.loads(await said(manager, "declared"))
    assert declared.pop("extensions") == {"example.com/x": {"level": 2}}
    assert declared.keys() == {"sampling", "roots", "elicitation"}
    assert declared["elicitation"] == {"form": {}}
