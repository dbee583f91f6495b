import json
from pathlib import Path
from typing import Any

from mcpkit import FAST, Raw

from agentframework import InteractiveSession, McpOptions, tool
from agentframework.testing import ScriptedProvider, call, say

MANY = """
    TOOLS = [
        {"name": n, "description": d, "inputSchema": LIST}
        for n, d in (("send_mail", "Sends a message."), ("read_mail", "Reads the inbox."), ("weather", "Sun or rain."))
    ]
    def call(request, name, arguments):
        reply(request, text(name + " ran"))
"""


def session_of(folder: Path, *steps: Any, servers: dict[str, Any], **options: Any) -> InteractiveSession:
    mcp = McpOptions(reconnect=FAST, startup_wait_s=30, **options.pop("mcp", {}))
    return InteractiveSession(
        cwd=folder, provider=ScriptedProvider(*steps), mcp_servers=servers, mcp=mcp, default_tools=[], **options
    )


def offered(session: InteractiveSession) -> list[list[str]]:
    provider: Any = session._parts.settings.provider
    return [[spec.name for spec in request.tools] for request in provider.requests]


async def test_tools_of_a_deferred_server_are_found_and_then_called(raw: Raw, tmp_path: Path) -> None:
    servers = {"big": raw(MANY, defer=True).server, "small": raw().server}
    search = say(call("ToolSearch", query="send a mail", max_results=1))
    steps = (search, say(call("mcp__big__send_mail", text="x")), "done")
    results: list[str] = []
    allowed = ["mcp__big", "ToolSearch"]
    async with session_of(tmp_path, *steps, servers=servers, allowed_tools=allowed) as session:
        session.on("tool_end", lambda event: results.append(event.result))
        session.on("warning", lambda event: results.append(event.message))
        await session.submit("Go.")
    first = ["mcp__small__echo", "ToolSearch"]
    assert offered(session) == [first, [*first, "mcp__big__send_mail"], [*first, "mcp__big__send_mail"]]
    assert "mcp__big__send_mail" in results[0]
    assert "read_mail" not in results[0]
    assert results[1] == "send_mail ran"


async def test_servers_over_the_budget_are_deferred_and_found_by_name(raw: Raw, tmp_path: Path) -> None:
    servers = {"one": raw(MANY).server, "two": raw(MANY).server}
    size = sum(len(json.dumps({"type": "object", "properties": {"text": {"type": "string"}}})) + 60 for _ in range(3))
    search = say(call("ToolSearch", query="select:mcp__two__weather, mcp__two__read_mail"))
    steps = (search, say(call("ToolSearch", query="zebra")), "done")
    results: list[str] = []
    options = {"mcp": {"max_definition_bytes": size, "concurrency": 1}, "allowed_tools": ["ToolSearch"]}
    async with session_of(tmp_path, *steps, servers=servers, **options) as session:
        session.on("tool_end", lambda event: results.append(event.result))
        await session.submit("Go.")
    assert offered(session)[0] == ["mcp__one__read_mail", "mcp__one__send_mail", "mcp__one__weather", "ToolSearch"]
    assert offered(session)[1][4:] == ["mcp__two__read_mail", "mcp__two__weather"]
    assert results[1] == "No tool fits. Try other or fewer words."


async def test_without_deferred_tools_there_is_no_search(raw: Raw, tmp_path: Path) -> None:
    async with session_of(tmp_path, "hi", servers={"raw": raw().server}) as session:
        await session.submit("Hi.")
    assert offered(session) == [["mcp__raw__echo"]]


async def test_a_found_tool_goes_with_its_server(raw: Raw, tmp_path: Path) -> None:
    steps = (say(call("ToolSearch", query="mail")), "one", "two")
    servers = {"big": raw(MANY, defer=True).server}
    async with session_of(tmp_path, *steps, servers=servers, allowed_tools=["ToolSearch"]) as session:
        await session.submit("One.")
        await session.mcp.remove_server("big")
        await session.submit("Two.")
    assert len(offered(session)[1]) == 3
    assert offered(session)[2] == []


async def test_a_hosts_tool_of_that_name_stays_and_a_warning_says_so(raw: Raw, tmp_path: Path) -> None:
    @tool(name="ToolSearch", risk="inspect")
    async def mine(query: str) -> str:
        """Mine."""
        return query

    warnings: list[str] = []
    servers = {"big": raw(MANY, defer=True).server}
    session = session_of(tmp_path, "hi", servers=servers, additional_tools=[mine])
    session.on("warning", lambda event: warnings.append(event.message))
    async with session:
        await session.submit("Hi.")
    assert offered(session) == [["ToolSearch"]]
    assert any("ToolSearch" in warning for warning in warnings)
