"""A framework for agents inside your own program: an event-driven interactive session.

Everything public is importable from here and loaded when first used, so that ``import agentframework`` costs
next to nothing. `InteractiveSession` is the place to start; `create_query` is the one-liner.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentframework.assembly.builtins import (
        builtin_commands,
        builtin_tools,
    )
    from agentframework.assembly.options import (
        AutoMode,
    )
    from agentframework.assembly.providers import (
        resolve_provider,
    )
    from agentframework.context import (
        estimate_message_bytes,
        estimate_message_tokens,
    )
    from agentframework.errors import (
        AgentFrameworkError,
        AuthenticationError,
        ConfigurationError,
        ContextOverflowError,
        ErrorCode,
        ErrorInfo,
        InvalidInputError,
        InvalidRequestError,
        LimitExceededError,
        MissingCredentialsError,
        MissingDependencyError,
        ModelNotFoundError,
        ModelResponseInvalidError,
        OverloadedError,
        PromptBlockedError,
        ProviderConnectionError,
        ProviderError,
        ProviderTimeoutError,
        RateLimitError,
        ReplayMismatchError,
        SessionBusyError,
        SessionClosedError,
        SessionError,
        StreamInterruptedError,
        StructuredOutputError,
        ToolExecutionError,
        TurnNotRunError,
        UnsupportedOptionError,
        WouldDeadlockError,
        is_turn_not_run_error,
    )
    from agentframework.loop import (
        Limits,
    )
    from agentframework.messages import (
        AssistantMessage,
        ContextState,
        DocumentPart,
        ExecutionResult,
        HistoryEntry,
        ImageBlock,
        ImagePart,
        Message,
        SystemNote,
        TextPart,
        ThinkingPart,
        ToolCall,
        ToolMessage,
        ToolResultPart,
        ToolSpec,
        ToolSummary,
        TurnResult,
        Usage,
        UserMessage,
    )
    from agentframework.permissions import (
        PermissionAnswer,
        PermissionMode,
        PermissionRules,
    )
    from agentframework.providers.anthropic import (
        AnthropicProvider,
    )
    from agentframework.providers.fallback import (
        FallbackProvider,
    )
    from agentframework.providers.local import (
        LocalProvider,
    )
    from agentframework.providers.openai import (
        OpenAIProvider,
    )
    from agentframework.providers.protocol import (
        ModelLimits,
        ModelReply,
        ModelRequest,
        Provider,
        RetryPolicy,
        TextChunk,
        ThinkingChunk,
        ToolCallChunk,
    )
    from agentframework.providers.recording import (
        RecordingProvider,
    )
    from agentframework.providers.replay import (
        ReplayProvider,
    )
    from agentframework.session import (
        InteractiveSession,
        Query,
        TurnHandle,
        create_query,
    )
    from agentframework.slash import (
        CommandInfo,
        CommandModule,
        CommandResult,
    )
    from agentframework.tools import (
        CompositeToolExecutor,
        RiskClass,
        Tool,
        ToolCatalog,
        ToolContext,
        ToolExecutor,
        ToolInfo,
        ToolRegistry,
        ToolResult,
        ToolSet,
        qualify_model_tool_name,
        register_tool_permission_profile,
        tool,
    )
    from agentframework.transports.headless import (
        create_headless_runner,
    )

_HOMES = {
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
        "estimate_message_bytes",
        "estimate_message_tokens",
    ),
    "agentframework.errors": (
        "AgentFrameworkError",
        "AuthenticationError",
        "ConfigurationError",
        "ContextOverflowError",
        "ErrorCode",
        "ErrorInfo",
        "InvalidInputError",
        "InvalidRequestError",
        "LimitExceededError",
        "MissingCredentialsError",
        "MissingDependencyError",
        "ModelNotFoundError",
        "ModelResponseInvalidError",
        "OverloadedError",
        "PromptBlockedError",
        "ProviderConnectionError",
        "ProviderError",
        "ProviderTimeoutError",
        "RateLimitError",
        "ReplayMismatchError",
        "SessionBusyError",
        "SessionClosedError",
        "SessionError",
        "StreamInterruptedError",
        "StructuredOutputError",
        "ToolExecutionError",
        "TurnNotRunError",
        "UnsupportedOptionError",
        "WouldDeadlockError",
        "is_turn_not_run_error",
    ),
    "agentframework.loop": (
        "Limits",
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
        "PermissionAnswer",
        "PermissionMode",
        "PermissionRules",
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
    "agentframework.slash": (
        "CommandInfo",
        "CommandModule",
        "CommandResult",
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

__all__ = [
    "AgentFrameworkError",
    "AnthropicProvider",
    "AssistantMessage",
    "AuthenticationError",
    "AutoMode",
    "CommandInfo",
    "CommandModule",
    "CommandResult",
    "CompositeToolExecutor",
    "ConfigurationError",
    "ContextOverflowError",
    "ContextState",
    "DocumentPart",
    "ErrorCode",
    "ErrorInfo",
    "ExecutionResult",
    "FallbackProvider",
    "HistoryEntry",
    "ImageBlock",
    "ImagePart",
    "InteractiveSession",
    "InvalidInputError",
    "InvalidRequestError",
    "LimitExceededError",
    "Limits",
    "LocalProvider",
    "Message",
    "MissingCredentialsError",
    "MissingDependencyError",
    "ModelLimits",
    "ModelNotFoundError",
    "ModelReply",
    "ModelRequest",
    "ModelResponseInvalidError",
    "OpenAIProvider",
    "OverloadedError",
    "PermissionAnswer",
    "PermissionMode",
    "PermissionRules",
    "PromptBlockedError",
    "Provider",
    "ProviderConnectionError",
    "ProviderError",
    "ProviderTimeoutError",
    "Query",
    "RateLimitError",
    "RecordingProvider",
    "ReplayMismatchError",
    "ReplayProvider",
    "RetryPolicy",
    "RiskClass",
    "SessionBusyError",
    "SessionClosedError",
    "SessionError",
    "StreamInterruptedError",
    "StructuredOutputError",
    "SystemNote",
    "TextChunk",
    "TextPart",
    "ThinkingChunk",
    "ThinkingPart",
    "Tool",
    "ToolCall",
    "ToolCallChunk",
    "ToolCatalog",
    "ToolContext",
    "ToolExecutionError",
    "ToolExecutor",
    "ToolInfo",
    "ToolMessage",
    "ToolRegistry",
    "ToolResult",
    "ToolResultPart",
    "ToolSet",
    "ToolSpec",
    "ToolSummary",
    "TurnHandle",
    "TurnNotRunError",
    "TurnResult",
    "UnsupportedOptionError",
    "Usage",
    "UserMessage",
    "WouldDeadlockError",
    "builtin_commands",
    "builtin_tools",
    "create_headless_runner",
    "create_query",
    "estimate_message_bytes",
    "estimate_message_tokens",
    "is_turn_not_run_error",
    "qualify_model_tool_name",
    "register_tool_permission_profile",
    "resolve_provider",
    "tool",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
