"""Servers' tools as tools of a session or an agent."""

import asyncio
from collections.abc import Mapping
from typing import Any

from agentframework.errors import ErrorCode, McpError, ToolExecutionError
from agentframework.mcp.content import holds_images, normalize_mcp_tool_result
from agentframework.mcp.manager import McpClientManager
from agentframework.mcp.spill import Spill
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult
from agentframework.tools.info import ToolInfo
from agentframework.tools.registry import DiscoveredTool
from agentframework.tools.result import error_result


class McpToolExecutor:
    """Runs the tools of a manager's servers under the names that a model sees.

    Results are cut to ``options.max_result_bytes`` of the manager and kept whole in a file. Does not own the manager.
    """

    def __init__(self, manager: McpClientManager) -> None:
        self.manager = manager
        self._spill = Spill(manager.options.spill_directory, manager.options.max_result_bytes)

    def list_tools(self) -> list[Tool]:
        """The tools of all servers as they are known now, in a stable order."""
        return [self.tool(found) for found in self.manager.tools.all()]

    def tools_of(self, server_id: str) -> list[Tool]:
        """The tools of one server."""
        return [self.tool(found) for found in self.manager.tools.server_tools(server_id)]

    def get_tool_info(self, tool_name: str) -> ToolInfo | None:
        """Server and original name of a tool; None if there is none of that name."""
        found = self.manager.tools.get(tool_name)
        return None if found is None else found.info

    async def initialize(self) -> None:
        """Connect the servers."""
        await self.manager.connect_all()

    async def close(self) -> None:
        """Remove the files of results. The connections belong to the manager's owner."""
        self._spill.close()

    async def execute(self, tool_name: str, tool_input: Mapping[str, Any], context: ToolContext, /) -> ToolResult:
        """Run a tool. What goes wrong is a result with ``is_error``, but for an unknown name.

        That raises `ToolExecutionError` with code ``TOOL_NOT_FOUND``.
        """
        found = self.manager.tools.get(tool_name)
        if found is None:
            raise ToolExecutionError(f"no MCP server offers {tool_name!r}", code=ErrorCode.TOOL_NOT_FOUND)
        return await self._run(found, dict(tool_input), context)

    def tool(self, found: DiscoveredTool) -> Tool:
        """A discovered tool as a `Tool`: unclassified unless the host trusts what its server says of it."""

        async def run(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
            return await self._run(found, arguments, context)

        trusted = self.manager.get_connection(found.server_id).server.trust_annotations
        return Tool(
            name=found.name,
            description=found.spec.description,
            input_schema=found.spec.input_schema,
            run=run,
            risk=RiskClass.INSPECT if trusted and found.annotations.get("readOnlyHint") is True else None,
            info=found.info,
            max_result_characters=self.manager.options.max_result_bytes,
        )

    async def _run(self, found: DiscoveredTool, arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        def report(progress: float, total: float | None, message: str | None) -> None:
            context.progress(message or "", progress, total)

        try:
            answer = await self.manager.call_tool(
                found.server_id, found.original_name, arguments, abort=context.abort, on_progress=report
            )
        except McpError as error:
            return error_result(f"{error.message} [{error.code}]")
        if holds_images(answer):
            result = await asyncio.to_thread(normalize_mcp_tool_result, answer)
        else:
            result = normalize_mcp_tool_result(answer)
        return self._spill.bounded(result, found.name)
