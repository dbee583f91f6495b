"""What a tool is run with, outside of any session."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentframework import Tool, ToolContext, ToolResult
from agentframework._base.abort import AbortSignal
from agentframework.sandbox import LocalSandbox
from agentframework.tools import AskUnavailableError
from agentframework.tools.executor import execute_tool

SCHEMA: Mapping[str, Any] = {"type": "object", "properties": {}}


def make_context(*, cwd: str = ".", max_result_bytes: int = 2_097_152) -> ToolContext:
    """A context of a turn that nobody watches."""
    sandbox = LocalSandbox(cwd)

    def report(text: str, progress: float | None = None, total: float | None = None) -> None:
        return None

    async def ask(_questions: Sequence[Mapping[str, Any]]) -> Any:
        raise AskUnavailableError("nobody is here")

    return ToolContext(
        session_id="session",
        run_id="run",
        turn_id="turn",
        iteration=1,
        tool_use_id="call",
        cwd=sandbox.roots[0],
        workspace_root=sandbox.roots[0],
        max_result_bytes=max_result_bytes,
        sandbox=sandbox,
        abort=AbortSignal(),
        progress=report,
        ask=ask,
    )


async def run(tool: Tool, /, **arguments: Any) -> ToolResult:
    """The result of one call, in a context of its own."""
    return await execute_tool(tool, arguments, make_context())
