from pathlib import Path
from typing import Any

from mcpkit import FAST, Raw, alive, eventually

from agentframework import InteractiveSession, McpOptions, PermissionRules, qualify_model_tool_name, tool
from agentframework.testing import ScriptedProvider, call, say


def session_of(folder: Path, *steps: Any, servers: dict[str, Any], **options: Any) -> InteractiveSession:
    options.setdefault("mcp", McpOptions(reconnect=FAST, startup_wait_s=30))
    options.setdefault("default_tools", [])
    return InteractiveSession(cwd=folder, provider=ScriptedProvider(*steps), mcp_servers=servers, **options)


def names(session: InteractiveSession) -> list[list[str]]:
    provider: Any = session._parts.settings.provider
    return [[tool.name for tool in request.tools] for request in provider.requests]


async def test_a_model_uses_the_tools_of_a_server(raw: Raw, tmp_path: Path) -> None:
    steps = (say(call("mcp__raw__echo", text="hello")), "It said hello.")
    events: list[str] = []
    session = session_of(tmp_path, *steps, servers={"raw": raw().server}, allowed_tools=["mcp__raw"])
    for kind in ("mcp_server_status", "mcp_tool_discovered", "tool_end"):
        session.on(kind, lambda event: events.append(event.type))
    async with session:
        result = await (await session.submit("Say hello.")).completed
        assert result.response == "It said hello."
        assert result.tool_summaries[0].name == "mcp__raw__echo"
    assert names(session)[0] == ["mcp__raw__echo"]
    assert events[0] == "mcp_server_status"
    assert "tool_end" in events


async def test_a_servers_tool_is_asked_about_unless_the_host_trusts_it(raw: Raw, tmp_path: Path) -> None:
    body = "TOOLS[0]['annotations'] = {'readOnlyHint': True}"
    for trusted, outcome in ((False, "denied"), (True, "success")):
        steps = (say(call("mcp__raw__echo", text="x")), "done")
        servers = {"raw": raw(body, trust_annotations=trusted).server}
        outcomes: list[str] = []
        async with session_of(tmp_path, *steps, servers=servers) as session:
            session.on("tool_end", lambda event, into=outcomes: into.append(event.outcome))
            await session.submit("Go.")
        assert outcomes == [outcome]


async def test_a_rule_for_a_server_is_for_its_tools_and_no_other_servers(raw: Raw, tmp_path: Path) -> None:
    other = qualify_model_tool_name("raw.2", "echo")
    steps = (say(call("mcp__raw__echo", text="1"), call(other, text="2")), "done")
    servers = {"raw": raw().server, "raw.2": raw().server}
    outcomes: list[tuple[str, str]] = []
    warnings: list[str] = []
    session = session_of(tmp_path, *steps, servers=servers, permissions=PermissionRules(allow=["mcp__raw"]))
    session.on("tool_end", lambda event: outcomes.append((event.tool_name, event.outcome)))
    session.on("warning", lambda event: warnings.append(event.message))
    async with session:
        await session.submit("Go.")
    assert outcomes == [("mcp__raw__echo", "success"), (other, "denied")]
    assert warnings == []


async def test_the_first_turn_goes_on_without_a_slow_server_whose_tools_join_later(raw: Raw, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    slow = raw(f"def start():\n    while not os.path.exists({str(gate)!r}):\n        time.sleep(0.01)\n")
    steps = ("first", "second")
    options = McpOptions(startup_wait_s=0.05, reconnect=FAST)
    servers = {"quick": raw().server, "slow": slow.server}
    async with session_of(tmp_path, *steps, servers=servers, mcp=options) as session:
        await session.submit("One.")
        gate.touch()
        await eventually(lambda: all(map(session.mcp.tools.server_tools, ("quick", "slow"))))
        await session.submit("Two.")
        assert "mcp__slow__echo" not in names(session)[0]
        assert names(session)[1] == ["mcp__quick__echo", "mcp__slow__echo"]


async def test_a_server_that_was_lost_gives_the_model_an_error_and_the_turn_goes_on(raw: Raw, tmp_path: Path) -> None:
    deadly = raw("def call(request, name, arguments):\n    os._exit(1)\n")
    steps = (say(call("mcp__raw__echo", text="x")), "It is broken.")
    results: list[str] = []
    async with session_of(tmp_path, *steps, servers={"raw": deadly.server}, allowed_tools=["mcp__raw"]) as session:
        session.on("tool_end", lambda event: results.append(event.result))
        result = await (await session.submit("Go.")).completed
        assert result.response == "It is broken."
    assert "MCP_DISCONNECTED" in results[0]


async def test_the_processes_of_a_session_end_with_it(raw: Raw, tmp_path: Path) -> None:
    server = raw()
    async with session_of(tmp_path, "hi", servers={"raw": server.server}) as session:
        await session.submit("Hi.")
        pid = server.pid
        assert alive(pid)
    assert not alive(pid)


async def test_a_session_starts_no_server_before_it_is_started(raw: Raw, tmp_path: Path) -> None:
    server = raw()
    session = session_of(tmp_path, servers={"raw": server.server})
    assert server.heard() == []
    await session.shutdown()
    assert server.heard() == []


async def test_a_hosts_tool_keeps_its_name_and_the_servers_is_left_out(raw: Raw, tmp_path: Path) -> None:
    @tool(name="mcp__raw__echo", risk="inspect")
    async def mine(text: str) -> str:
        """Mine."""
        return f"mine {text}"

    warnings: list[str] = []
    session = session_of(tmp_path, "hi", servers={"raw": raw().server}, additional_tools=[mine])
    session.on("warning", lambda event: warnings.append(event.message))
    async with session:
        await session.submit("Hi.")
    assert names(session) == [["mcp__raw__echo"]]
    assert any("the name is taken" in warning for warning in warnings)
