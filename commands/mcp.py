"""``/mcp``: the MCP servers of the session and how they stand."""

from collections.abc import Iterator

from agentframework.slash import Command, CommandHost, CommandResult, ServerOverview


def mcp_command() -> Command:
    """``/mcp``."""
    return Command("mcp", "Show the MCP servers and how they stand", _run, read_only=True)


async def _run(host: CommandHost, _args: str) -> CommandResult:
    servers = host.get_servers()
    if not servers:
        return CommandResult("This session has no MCP servers.", data={"servers": []})
    data = [
        {"server_id": one.server_id, "status": one.status, "reason": one.reason, "tools": list(one.tools)}
        for one in servers
    ]
    return CommandResult("\n".join(_lines(servers)), data={"servers": data})


def _lines(servers: tuple[ServerOverview, ...]) -> Iterator[str]:
    width = max(len(one.server_id) for one in servers)
    for one in servers:
        about = f"{len(one.tools)} tools" if one.status == "connected" else one.reason or ""
        yield f"{one.server_id:<{width}}  {one.status}" + (f"  {about}" if about else "")
