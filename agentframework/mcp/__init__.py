"""MCP servers: configured, connected, kept alive, and asked, on the official client.

The official client is imported when the first connection is made: it costs a second or two.
"""

from agentframework.mcp.capabilities import merge_handler_capabilities
from agentframework.mcp.changes import McpChange, McpFilter, McpSubscription
from agentframework.mcp.concurrency import map_with_concurrency
from agentframework.mcp.config import HttpServer, Server, SseServer, StdioServer, as_servers
from agentframework.mcp.config_files import ServerFile, load_server_file, read_servers
from agentframework.mcp.connection import McpConnection
from agentframework.mcp.content import (
    normalize_mcp_content_block,
    normalize_mcp_content_blocks,
    normalize_mcp_tool_result,
)
from agentframework.mcp.executor import McpToolExecutor
from agentframework.mcp.extensions import (
    McpExtensionSupport,
    assert_mcp_extension_supported,
    mcp_extension_support,
)
from agentframework.mcp.manager import McpClientManager, McpConnectionSummary
from agentframework.mcp.options import (
    DEFAULT_MCP_PROTOCOL_MODE,
    DEFAULT_MCP_STARTUP_CONCURRENCY,
    McpHandlers,
    McpOperationOptions,
    McpOptions,
    ProtocolPolicy,
    ReconnectPolicy,
)
from agentframework.mcp.selection import (
    McpContextSelection,
    McpPromptReference,
    McpResourceReference,
    as_context_selection,
    load_mcp_context,
)

__all__ = [
    "DEFAULT_MCP_PROTOCOL_MODE",
    "DEFAULT_MCP_STARTUP_CONCURRENCY",
    "HttpServer",
    "McpChange",
    "McpClientManager",
    "McpConnection",
    "McpConnectionSummary",
    "McpContextSelection",
    "McpExtensionSupport",
    "McpFilter",
    "McpHandlers",
    "McpOperationOptions",
    "McpOptions",
    "McpPromptReference",
    "McpResourceReference",
    "McpSubscription",
    "McpToolExecutor",
    "ProtocolPolicy",
    "ReconnectPolicy",
    "Server",
    "ServerFile",
    "SseServer",
    "StdioServer",
    "as_context_selection",
    "as_servers",
    "assert_mcp_extension_supported",
    "load_mcp_context",
    "load_server_file",
    "map_with_concurrency",
    "mcp_extension_support",
    "merge_handler_capabilities",
    "normalize_mcp_content_block",
    "normalize_mcp_content_blocks",
    "normalize_mcp_tool_result",
    "read_servers",
]
