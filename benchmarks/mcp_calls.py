"""What a call of an MCP tool costs through the manager, as a ratio to the bare client: ``mcp_calls.py [CALLS]``.

Processor time of this process alone, the two in turns against one kind of server over stdio, best rounds against best
rounds: other work on the machine only ever adds.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from mcp import Client, StdioServerParameters

from agentframework import McpClientManager, StdioServer

ROUNDS = 7
SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if "id" not in message:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
    else:
        result = {"content": [{"type": "text", "text": "hello"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
ARGUMENTS = {"text": "hello", "number": 7}


async def timed(call: Callable[[], Awaitable[Any]], calls: int) -> float:
    """Seconds of processor time for one call."""
    began = time.process_time()
    for _ in range(calls):
        await call()
    return (time.process_time() - began) / calls


async def main(calls: int) -> None:
    """Measure and print."""
    words = ["-S", "-E", "-c", SERVER]
    bare: list[float] = []
    ours: list[float] = []
    async with (
        Client(StdioServerParameters(command=sys.executable, args=words), mode="legacy") as client,
        McpClientManager({"echo": StdioServer(sys.executable, words)}, protocol="legacy") as manager,
    ):
        await client.list_tools()
        for _ in range(ROUNDS):
            bare.append(await timed(lambda: client.call_tool("echo", ARGUMENTS), calls))
            ours.append(await timed(lambda: manager.call_tool("echo", "echo", ARGUMENTS), calls))
    least, most = min(bare), min(ours)
    print(f"bare client {least * 1e6:.0f} us a call, manager {most * 1e6:.0f} us, ratio {most / least:.2f}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
