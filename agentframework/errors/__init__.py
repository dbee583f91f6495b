"""Every error this package raises on purpose.

Lowest layer: imports nothing of ours. Each class has a stable ``code`` (an `ErrorCode`), a message that
says what to do, and ``details`` (JSON-able facts such as the file, the field or the HTTP status)::

    AgentFrameworkError
    ├── ConfigurationError              the host asked for something that cannot work
    │   ├── MissingCredentialsError     no API key; names the environment variable
    │   ├── MissingDependencyError      an optional package is not installed; names the extra
    │   ├── SettingsError               a settings file that cannot be used; names file, line and column
    │   ├── UnsupportedOptionError      this provider's API has no such option
    │   └── WorkspaceTrustError         trust in a project cannot be recorded, or is not what it claims to be
    ├── InvalidInputError               a blank prompt, a malformed message
    ├── SessionError
    │   ├── SessionClosedError          used after shutdown
    │   ├── SessionBusyError            a second run of an active session
    │   ├── SessionExistsError          a new session has the id of a stored one
    │   ├── SessionLockedError          a stored session is open elsewhere
    │   ├── SessionNotFoundError        no stored session has this id
    │   ├── WouldDeadlockError          a turn waits for a turn queued behind itself
    │   ├── PromptBlockedError          a hook refused the prompt
    │   ├── CompactionError             the conversation could not be shortened
    │   └── TurnNotRunError             coalesced, dropped or cancelled before it ran
    ├── ProviderError                   the model side failed
    │   ├── ProviderConnectionError     unreachable, refused, DNS, TLS
    │   ├── ProviderTimeoutError        connected, then silent for too long
    │   ├── AuthenticationError         key refused
    │   ├── RateLimitError              429
    │   ├── OverloadedError             503, 529
    │   ├── ModelNotFoundError          unknown model
    │   ├── InvalidRequestError         the API refused the request
    │   │   └── ContextOverflowError    the conversation does not fit the window
    │   ├── StreamInterruptedError      the stream ended before its terminal event
    │   ├── ModelResponseInvalidError   neither text nor calls
    │   └── ReplayMismatchError         a recording has no answer for this request
    ├── McpError                        an MCP server; details name it
    │   ├── McpConnectionError          could not be reached or did not answer the handshake
    │   ├── McpDisconnectedError        the connection was lost or closed
    │   ├── McpOperationError           refused or failed an operation, or took too long
    │   └── McpExtensionError           an optional extension of the protocol is not supported
    ├── LimitExceededError              iterations, tool calls, tokens, cost or time used up
    ├── PayloadError                    a large value beside a journal is missing or was changed
    ├── StructuredOutputError           the reply never matched the response format
    └── ToolExecutionError              a tool was refused, unknown or failed (TOOL_* codes)

What you would do about it decides the base: fix the configuration, fix the input, retry, raise a limit.
"""

from typing import Literal, TypeGuard

from agentframework.errors.base import (
    AgentFrameworkError,
    ErrorCode,
    ErrorInfo,
    describe_error,
)
from agentframework.errors.mcp import (
    McpConnectionError,
    McpDisconnectedError,
    McpError,
    McpExtensionError,
    McpOperationError,
)
from agentframework.errors.provider import (
    AuthenticationError,
    ContextOverflowError,
    InvalidRequestError,
    ModelNotFoundError,
    ModelResponseInvalidError,
    OverloadedError,
    ProviderConnectionError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
    ReplayMismatchError,
    StreamInterruptedError,
)

__all__ = [
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
    "TurnNotRunReason",
    "UnsupportedOptionError",
    "WorkspaceTrustError",
    "WouldDeadlockError",
    "describe_error",
    "is_turn_not_run_error",
]


class ConfigurationError(AgentFrameworkError):
    """Options, files or servers that cannot work as given."""

    default_code = ErrorCode.INVALID_CONFIGURATION


class MissingCredentialsError(ConfigurationError):
    """No API key was passed in and none is in the environment variable named in the message."""

    default_code = ErrorCode.MISSING_CREDENTIALS


class MissingDependencyError(ConfigurationError):
    """An optional package is not installed; the message says how to install it."""

    default_code = ErrorCode.MISSING_DEPENDENCY


class SettingsError(ConfigurationError):
    """A settings file that cannot be used. ``details`` hold ``path``, ``line``, ``column`` and ``problem``."""

    default_code = ErrorCode.SETTINGS_INVALID


class UnsupportedOptionError(ConfigurationError):
    """The chosen provider's API has no such option."""

    default_code = ErrorCode.UNSUPPORTED_OPTION


class WorkspaceTrustError(ConfigurationError):
    """Trust in a project could not be recorded, was changed meanwhile, or did not come from a trust service."""

    default_code = ErrorCode.WORKSPACE_AUTHORITY_REQUIRED


class InvalidInputError(AgentFrameworkError):
    """A prompt, message or argument that cannot be used."""

    default_code = ErrorCode.INVALID_INPUT


class SessionError(AgentFrameworkError):
    """Base of errors about the life of a session."""


class SessionClosedError(SessionError):
    """The session was shut down."""

    default_code = ErrorCode.SESSION_CLOSED


class SessionBusyError(SessionError):
    """The session is already running something that cannot be shared."""

    default_code = ErrorCode.SESSION_ALREADY_RUNNING


class SessionExistsError(SessionError):
    """There is a stored session of this id."""

    default_code = ErrorCode.SESSION_EXISTS


class SessionLockedError(SessionError):
    """A stored session has another writer, in this process or another."""

    default_code = ErrorCode.SESSION_LOCKED


class SessionNotFoundError(SessionError):
    """No stored session has this id."""

    default_code = ErrorCode.SESSION_NOT_FOUND


class WouldDeadlockError(SessionError):
    """The running turn waits for a turn that can only start after it."""

    default_code = ErrorCode.WOULD_DEADLOCK


class PromptBlockedError(SessionError):
    """A hook refused the prompt; nothing was sent to the model."""

    default_code = ErrorCode.PROMPT_BLOCKED


class CompactionError(SessionError):
    """The conversation could not be shortened: no usable summary, or a hook objected. It is as it was."""

    default_code = ErrorCode.COMPACTION_FAILED


TurnNotRunReason = Literal["coalesced", "dropped", "cancelled"]

_NOT_RUN = {
    "coalesced": "a newer prompt of the same driver replaced it",
    "dropped": "the queue was full",
    "cancelled": "the queue was cleared",
}


class TurnNotRunError(SessionError):
    """A submitted prompt that never ran: ``reason`` is ``coalesced``, ``dropped`` or ``cancelled``."""

    default_code = ErrorCode.TURN_NOT_RUN

    def __init__(self, turn_id: str, reason: TurnNotRunReason) -> None:
        super().__init__(
            f"turn {turn_id} did not run: {_NOT_RUN[reason]}", details={"turn_id": turn_id, "reason": reason}
        )
        self.turn_id = turn_id
        self.reason: TurnNotRunReason = reason


def is_turn_not_run_error(error: object) -> TypeGuard[TurnNotRunError]:
    """True for a `TurnNotRunError` and nothing else."""
    return isinstance(error, TurnNotRunError)


class LimitExceededError(AgentFrameworkError):
    """A limit of the run was reached; ``details["limit"]`` names it. Tokens, cost and time have codes of their own."""

    default_code = ErrorCode.AGENT_LIMIT_EXCEEDED


class PayloadError(AgentFrameworkError):
    """A value stored beside a journal cannot be read back; ``details["issue"]`` says why."""

    default_code = ErrorCode.PAYLOAD_INVALID


class StructuredOutputError(AgentFrameworkError):
    """No reply matched the response format."""

    default_code = ErrorCode.STRUCTURED_OUTPUT_INVALID


class ToolExecutionError(AgentFrameworkError):
    """A tool call that was refused, unknown, malformed or failed; the code says which."""

    default_code = ErrorCode.TOOL_EXECUTION_FAILED
