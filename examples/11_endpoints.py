"""A small agent with MCP servers by address: all tools of one, some of another, and one approval for each round.

Run it with ``python examples/11_endpoints.py`` and ANTHROPIC_API_KEY set. The servers are here in this program.
"""

import asyncio
import socket
from contextlib import asynccontextmanager

import uvicorn
from mcp.server import MCPServer

from agentframework import Agent, AnthropicProvider, HttpServer, McpOptions, Provider


@asynccontextmanager
async def served(name: str, *tools):
    """A server on a free port; gives its address."""
    server = MCPServer(name)
    for function in tools:
        server.tool()(function)
    listening = socket.create_server(("127.0.0.1", 0))
    web = uvicorn.Server(uvicorn.Config(server.streamable_http_app(), log_level="error", ws="none"))
    running = asyncio.create_task(web.serve(sockets=[listening]))
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    web.should_exit = True
    await running


def find_devices() -> str:
    """Names of the devices in the network."""
    return "printer, lamp"


def read_note(name: str) -> str:
    """A note."""
    return f"{name}: buy toner"


def delete_note(name: str) -> str:
    """Deletes a note."""
    return f"{name} is gone"


async def main(provider: Provider) -> list[str]:
    """Ask for devices; return the tools that the model was offered."""
    async with served("network", find_devices) as network, served("notes", read_note, delete_note) as notes:
        servers = [network, HttpServer(notes, denied_tools=["delete_note"])]
        async with Agent(provider=provider, mcp_servers=servers, mcp=McpOptions(startup_wait_s=60)) as agent:
            found = [event.original_name for event in await agent.initialize() if event.type == "mcp_tool_discovered"]
            approval = lambda calls: {"approvals": ["note" not in call.name for call in calls]}  # noqa: E731
            print((await agent.run("Which devices are there?", tool_approval=approval).result()).response)
    return found


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
