"""MCP: a session whose model uses the tools of a server, here a small one that this file holds itself.

Run it with ``python`` and ANTHROPIC_API_KEY set.
"""

import asyncio
import sys

from agentframework import AnthropicProvider, InteractiveSession, McpOptions, Provider, StdioServer

SERVER = """
from mcp.server import MCPServer
server = MCPServer("sums")

@server.tool()
def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b

server.run("stdio")
"""


async def main(provider: Provider) -> list[str]:
    """Ask for a sum; return what the server's tool answered."""
    answers: list[str] = []
    session = InteractiveSession(
        cwd=".",
        provider=provider,
        mcp_servers={"sums": StdioServer(sys.executable, ["-c", SERVER])},
        mcp=McpOptions(startup_wait_s=60),  # the first turn waits that long at most
        allowed_tools=["mcp__sums"],  # all tools of that server, unasked
    )

    @session.on("mcp_tool_discovered")
    def discovered(event) -> None:
        print(f"{event.server_id} offers {event.original_name} as {event.name}")

    @session.on("tool_end")
    def ended(event) -> None:
        answers.append(event.result)

    async with session:
        handle = await session.submit("What is 2 + 3?")
        print((await handle.completed).response)
    return answers


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
