"""A framework for agents inside your own program: an event-driven interactive session.

Everything public is importable from here and loaded when first used, so that ``import agentframework`` costs
next to nothing. `InteractiveSession` is the place to start; `create_query` is the one-liner.
"""

from importlib import import_module
from typing import Any

_HOMES = {
    "agentframework._base.diagnostic": (
        "Diagnostic",
    ),
    "agentframework.agent": (
        "AbortSignal",
        "Agent",
        "AgentRun",
        "OpenTelemetryObserver",
    ),
    "agentframework.assembly.builtins": (
        "builtin_commands",
        "builtin_tools",
    ),
    "agentframework.assembly.options": (
        "AutoMode",
    ),
    "agentframework.assembly.providers": (
        "resolve_provider",
    ),
    "agentframework.context": (
        "ContextManager",
        "ContextOptions",
        "estimate_message_bytes",
        "estimate_message_tokens",
    ),
    "agentframework.errors": (
        "AgentFrameworkError",
        "AuthenticationError",
        "CompactionError",
        "ConfigurationError",
        "ContextOverflowError",
        "ErrorCode",
        "ErrorInfo",
        "InvalidInputError",
        "InvalidRequestError",
        "LimitExceededError",
        "McpConnectionError",
        "McpDisconnectedError",
        "McpError",
        "McpExtensionError",
        "McpOperationError",
        "MissingCredentialsError",
        "MissingDependencyError",
        "ModelNotFoundError",
        "ModelResponseInvalidError",
        "OverloadedError",
        "PayloadError",
        "PromptBlockedError",
        "ProviderConnectionError",
        "ProviderError",
        "ProviderTimeoutError",
        "RateLimitError",
        "ReplayMismatchError",
        "SessionBusyError",
        "SessionClosedError",
        "SessionError",
        "SessionExistsError",
        "SessionLockedError",
        "SessionNotFoundError",
        "SettingsError",
        "StreamInterruptedError",
        "StructuredOutputError",
        "ToolExecutionError",
        "TurnNotRunError",
        "UnsupportedOptionError",
        "WorkspaceTrustError",
        "WouldDeadlockError",
        "is_turn_not_run_error",
    ),
    "agentframework.loop": (
        "Limits",
        "LoopGuard",
    ),
    "agentframework.mcp": (
        "DEFAULT_MCP_PROTOCOL_MODE",
        "DEFAULT_MCP_STARTUP_CONCURRENCY",
        "HttpServer",
        "McpClientManager",
        "McpConnection",
        "McpContextSelection",
        "McpExtensionSupport",
        "McpHandlers",
        "McpOptions",
        "McpPromptReference",
        "McpResourceReference",
        "McpToolExecutor",
        "ReconnectPolicy",
        "SseServer",
        "StdioServer",
        "assert_mcp_extension_supported",
        "load_mcp_context",
        "map_with_concurrency",
        "mcp_extension_support",
        "merge_handler_capabilities",
        "normalize_mcp_content_block",
        "normalize_mcp_content_blocks",
        "normalize_mcp_tool_result",
    ),
    "agentframework.messages": (
        "AssistantMessage",
        "ContextState",
        "DocumentPart",
        "ExecutionResult",
        "HistoryEntry",
        "ImageBlock",
        "ImagePart",
        "Message",
        "ModelPrice",
        "RunResult",
        "SystemNote",
        "TextPart",
        "ThinkingPart",
        "ToolCall",
        "ToolMessage",
        "ToolResultPart",
        "ToolSpec",
        "ToolSummary",
        "TurnResult",
        "Usage",
        "UserMessage",
    ),
    "agentframework.permissions": (
        "AuthorizationRule",
        "PermissionAnswer",
        "PermissionMode",
        "PermissionRules",
        "ToolApprovalRequest",
        "ToolAuthorizationEvent",
        "ToolDecision",
        "ToolPolicy",
    ),
    "agentframework.providers.anthropic": (
        "AnthropicProvider",
    ),
    "agentframework.providers.fallback": (
        "FallbackProvider",
    ),
    "agentframework.providers.local": (
        "LocalProvider",
    ),
    "agentframework.providers.openai": (
        "OpenAIProvider",
    ),
    "agentframework.providers.protocol": (
        "ModelLimits",
        "ModelReply",
        "ModelRequest",
        "Provider",
        "RetryPolicy",
        "TextChunk",
        "ThinkingChunk",
        "ToolCallChunk",
    ),
    "agentframework.providers.recording": (
        "RecordingProvider",
    ),
    "agentframework.providers.replay": (
        "ReplayProvider",
    ),
    "agentframework.session": (
        "InteractiveSession",
        "Query",
        "TurnHandle",
        "create_query",
    ),
    "agentframework.settings": (
        "ContributionSources",
        "LoadedSettings",
        "ProjectAccess",
        "SettingsSource",
        "WorkspaceTrustService",
        "contribution_sources_for",
        "create_workspace_trust_service",
        "host_settings_source",
        "load_settings",
    ),
    "agentframework.settings.schema": (
        "Settings",
    ),
    "agentframework.slash": (
        "CommandInfo",
        "CommandModule",
        "CommandResult",
    ),
    "agentframework.stores": (
        "InMemorySessionStore",
        "JsonlLogSink",
        "JsonlSessionStore",
        "SessionState",
        "SessionStore",
        "SessionSummary",
        "create_initial_session_state",
    ),
    "agentframework.tools": (
        "CompositeToolExecutor",
        "RiskClass",
        "Tool",
        "ToolCatalog",
        "ToolContext",
        "ToolExecutor",
        "ToolInfo",
        "ToolRegistry",
        "ToolResult",
        "ToolSet",
        "qualify_model_tool_name",
        "register_tool_permission_profile",
        "tool",
    ),
    "agentframework.transports.headless": (
        "create_headless_runner",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

# Spelt out in __init__.pyi, which is what type checkers and editors read.
__all__ = sorted(_HOME_OF)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
