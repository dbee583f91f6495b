"""Looking at the servers of a ``.mcp.json``: what they are, how they stand, what they have, what a tool says."""

import argparse
import asyncio
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agentframework._base.bounded import cut_end
from agentframework.cli.mcp_file import Answer
from agentframework.cli.output import write_stderr
from agentframework.errors import ConfigurationError
from agentframework.mcp import McpClientManager, McpConnectionSummary, load_server_file, normalize_mcp_tool_result
from agentframework.mcp.config import HttpServer, Server, StdioServer

_LINE = 100


def look(path: Path, found: argparse.Namespace) -> tuple[Answer, int]:
    """The answer to ``list``, ``test``, ``tools`` or ``call``, and the exit code.

    Raises `ConfigurationError` and, from ``call``, `McpError`.
    """
    file = load_server_file(path, os.environ)
    for problem in file.problems:
        write_stderr(f"agentframework: {problem}\n".encode("utf-8", "backslashreplace"))
    if found.command == "list":
        return _listed(file.servers.items()), 0
    chosen = dict(file.servers)
    if found.server is not None:
        if found.server not in chosen:
            raise ConfigurationError(f"{path} has no server {found.server!r}; there are: {', '.join(chosen) or 'none'}")
        chosen = {found.server: chosen[found.server]}
    if found.command == "call":
        return asyncio.run(_call(chosen, found))
    return asyncio.run(_test(chosen, tools=found.command == "tools"))


def _listed(servers: Iterable[tuple[str, Server]]) -> Answer:
    data = [{"id": name, "transport": _kind(server), "target": _target(server)} for name, server in servers]
    lines = [f"{one['id']}  {one['transport']}  {one['target']}" for one in data]
    return Answer("\n".join(lines) or "no servers", {"servers": data})


def _kind(server: Server) -> str:
    return "stdio" if isinstance(server, StdioServer) else "http" if isinstance(server, HttpServer) else "sse"


def _target(server: Server) -> str:
    """Without arguments' and addresses' ends that may hold keys."""
    return server.command if isinstance(server, StdioServer) else server.url.split("?")[0]


async def _test(servers: dict[str, Server], *, tools: bool) -> tuple[Answer, int]:
    async with McpClientManager(servers) as manager:
        summaries = manager.summaries()
        data = [_state(manager, one) for one in summaries]
    lines: list[str] = []
    for one, state in zip(summaries, data, strict=True):
        version = f" ({one.protocol_version})" if one.protocol_version else ""
        lines.append(f"{one.server_id}: {one.status}{version}" + (f" – {one.reason}" if one.reason else ""))
        if tools:
            lines += [f"  {tool['name']}  {cut_end(tool['description'], _LINE)}" for tool in state["tools"]]
        elif one.status == "connected":
            lines.append(f"  {len(one.tools)} tools")
        lines += [f"  note: {note}" for note in state["notes"]]
    code = 0 if all(one.status == "connected" for one in summaries) else 1
    return Answer("\n".join(lines) or "no servers", {"servers": data}), code


def _state(manager: McpClientManager, one: McpConnectionSummary) -> dict[str, Any]:
    tools = [
        {"name": tool.original_name, "model_name": tool.name, "description": " ".join(tool.spec.description.split())}
        for tool in manager.tools.server_tools(one.server_id)
    ]
    notes = [problem for server_id, problem in manager.problems if server_id == one.server_id]
    return {
        "id": one.server_id,
        "status": one.status,
        "reason": one.reason,
        "protocol_version": one.protocol_version,
        "era": one.era,
        "tools": tools,
        "notes": notes,
    }


async def _call(servers: dict[str, Server], found: argparse.Namespace) -> tuple[Answer, int]:
    try:
        arguments = json.loads(found.arguments)
    except ValueError as error:
        raise ConfigurationError(f"the arguments are no JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise ConfigurationError("the arguments must be one JSON object")
    manager = McpClientManager(servers)
    try:
        await manager.get_connection(found.server).connect()
        answer = await manager.call_tool(found.server, found.tool, arguments)
    finally:
        await manager.disconnect_all()
    result = normalize_mcp_tool_result(answer)
    images = [f"[{image.mime_type} image]" for image in result.images]
    data = answer.model_dump(by_alias=True, mode="json", exclude_none=True)
    return Answer("\n".join(filter(None, [result.content, *images])), data), 1 if result.is_error else 0
