"""The contract of a tool, and how one call is run. The tools themselves live in ``tools_builtin``."""

from agentframework.tools.catalog import ToolCatalog, ToolSet
from agentframework.tools.decorator import tool
from agentframework.tools.executors import CompositeToolExecutor, ToolExecutor
from agentframework.tools.info import ToolInfo, ToolSource
from agentframework.tools.names import qualify_model_tool_name
from agentframework.tools.profile import register_tool_permission_profile
from agentframework.tools.registry import DiscoveredTool, RegistryChange, ToolRegistry
from agentframework.tools.result import ToolResult, error_result
from agentframework.tools.tool import AskUnavailableError, RiskClass, Tool, ToolContext

__all__ = [
    "AskUnavailableError",
    "CompositeToolExecutor",
    "DiscoveredTool",
    "RegistryChange",
    "RiskClass",
    "Tool",
    "ToolCatalog",
    "ToolContext",
    "ToolExecutor",
    "ToolInfo",
    "ToolRegistry",
    "ToolResult",
    "ToolSet",
    "ToolSource",
    "error_result",
    "qualify_model_tool_name",
    "register_tool_permission_profile",
    "tool",
]
