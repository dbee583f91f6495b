import pytest

import agentframework

NAMES = (
    "Agent",
    "AgentFrameworkError",
    "CompositeToolExecutor",
    "ContextManager",
    "DEFAULT_MCP_PROTOCOL_MODE",
    "DEFAULT_MCP_STARTUP_CONCURRENCY",
    "ErrorCode",
    "HttpServer",
    "ImageBlock",
    "InMemorySessionStore",
    "McpClientManager",
    "McpConnection",
    "McpConnectionError",
    "McpContextSelection",
    "McpExtensionError",
    "McpExtensionSupport",
    "McpHandlers",
    "McpOperationError",
    "McpOptions",
    "McpToolExecutor",
    "ReconnectPolicy",
    "RetryPolicy",
    "SessionState",
    "SessionStore",
    "SseServer",
    "StdioServer",
    "ToolCatalog",
    "ToolContext",
    "ToolExecutionError",
    "ToolExecutor",
    "ToolInfo",
    "ToolPolicy",
    "ToolRegistry",
    "ToolResult",
    "TurnNotRunError",
    "assert_mcp_extension_supported",
    "create_headless_runner",
    "create_initial_session_state",
    "estimate_message_bytes",
    "estimate_message_tokens",
    "is_turn_not_run_error",
    "map_with_concurrency",
    "mcp_extension_support",
    "merge_handler_capabilities",
    "normalize_mcp_content_block",
    "normalize_mcp_content_blocks",
    "normalize_mcp_tool_result",
    "qualify_model_tool_name",
)


@pytest.mark.parametrize("name", NAMES)
def test_a_promised_name_is_public(name: str) -> None:
    assert name in agentframework.__all__
    assert getattr(agentframework, name) is not None
