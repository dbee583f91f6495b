"""The contract of a tool, and how one call is run. The tools themselves live in ``tools_builtin``."""

from agentframework.tools.catalog import ToolCatalog, ToolSet
from agentframework.tools.decorator import tool
from agentframework.tools.profile import register_tool_permission_profile
from agentframework.tools.result import ToolResult, error_result
from agentframework.tools.tool import AskUnavailableError, RiskClass, Tool, ToolContext

__all__ = [
    "AskUnavailableError",
    "RiskClass",
    "Tool",
    "ToolCatalog",
    "ToolContext",
    "ToolResult",
    "ToolSet",
    "error_result",
    "register_tool_permission_profile",
    "tool",
]
