"""Every error this package raises on purpose.

Lowest layer: imports nothing of ours. Each class has a stable ``code`` (an `ErrorCode`), a message that
says what to do, and ``details`` (JSON-able facts such as the file, the field or the HTTP status)::

    AgentFrameworkError
    ├── ConfigurationError              the host asked for something that cannot work
    │   ├── MissingCredentialsError     no API key; names the environment variable
    │   ├── MissingDependencyError      an optional package is not installed; names the extra
    │   └── UnsupportedOptionError      this provider's API has no such option
    ├── InvalidInputError               a blank prompt, a malformed message
    ├── SessionError
    │   ├── SessionClosedError          used after shutdown
    │   ├── SessionBusyError            a second run of an active session
    │   ├── SessionExistsError          a new session has the id of a stored one
    │   ├── SessionLockedError          a stored session is open elsewhere
    │   ├── SessionNotFoundError        no stored session has this id
    │   ├── WouldDeadlockError          a turn waits for a turn queued behind itself
    │   ├── PromptBlockedError          a hook refused the prompt
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

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Literal, TypeGuard


class ErrorCode(StrEnum):
    """Stable identifiers for programs; messages may change, these do not."""

    INVALID_CONFIGURATION = "INVALID_CONFIGURATION"
    MISSING_CREDENTIALS = "MISSING_CREDENTIALS"
    MISSING_DEPENDENCY = "MISSING_DEPENDENCY"
    UNSUPPORTED_OPTION = "UNSUPPORTED_OPTION"
    INVALID_INPUT = "INVALID_INPUT"

    SESSION_CLOSED = "SESSION_CLOSED"
    SESSION_ALREADY_RUNNING = "SESSION_ALREADY_RUNNING"
    SESSION_EXISTS = "SESSION_EXISTS"
    SESSION_LOCKED = "SESSION_LOCKED"
    SESSION_NOT_FOUND = "SESSION_NOT_FOUND"
    PAYLOAD_INVALID = "PAYLOAD_INVALID"
    WOULD_DEADLOCK = "WOULD_DEADLOCK"
    PROMPT_BLOCKED = "PROMPT_BLOCKED"
    TURN_NOT_RUN = "TURN_NOT_RUN"

    MODEL_REQUEST_FAILED = "MODEL_REQUEST_FAILED"
    MODEL_CONNECTION_FAILED = "MODEL_CONNECTION_FAILED"
    MODEL_TIMEOUT = "MODEL_TIMEOUT"
    MODEL_AUTHENTICATION_FAILED = "MODEL_AUTHENTICATION_FAILED"
    MODEL_RATE_LIMITED = "MODEL_RATE_LIMITED"
    MODEL_OVERLOADED = "MODEL_OVERLOADED"
    MODEL_NOT_FOUND = "MODEL_NOT_FOUND"
    MODEL_REQUEST_INVALID = "MODEL_REQUEST_INVALID"
    MODEL_STREAM_INTERRUPTED = "MODEL_STREAM_INTERRUPTED"
    MODEL_RESPONSE_INVALID = "MODEL_RESPONSE_INVALID"
    CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
    REPLAY_MISMATCH = "REPLAY_MISMATCH"

    MCP_CONNECTION_FAILED = "MCP_CONNECTION_FAILED"
    MCP_DISCONNECTED = "MCP_DISCONNECTED"
    MCP_OPERATION_FAILED = "MCP_OPERATION_FAILED"
    MCP_EXTENSION_UNSUPPORTED = "MCP_EXTENSION_UNSUPPORTED"

    AGENT_LIMIT_EXCEEDED = "AGENT_LIMIT_EXCEEDED"
    STRUCTURED_OUTPUT_INVALID = "STRUCTURED_OUTPUT_INVALID"

    TOOL_NOT_FOUND = "TOOL_NOT_FOUND"
    TOOL_DENIED = "TOOL_DENIED"
    TOOL_APPROVAL_REQUIRED = "TOOL_APPROVAL_REQUIRED"
    TOOL_ARGUMENTS_INVALID = "TOOL_ARGUMENTS_INVALID"
    TOOL_RESULT_TOO_LARGE = "TOOL_RESULT_TOO_LARGE"
    TOOL_EXECUTION_FAILED = "TOOL_EXECUTION_FAILED"
    TOOL_NAME_CONFLICT = "TOOL_NAME_CONFLICT"

    INTERNAL_ERROR = "INTERNAL_ERROR"


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error as data: what events and JSON output carry instead of the exception object."""

    code: str
    message: str
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def __str__(self) -> str:
        return self.message


class AgentFrameworkError(Exception):
    """Base of everything above. ``str(error)`` is the message; ``error.code`` is an `ErrorCode`."""

    default_code: ClassVar[ErrorCode] = ErrorCode.INTERNAL_ERROR

    def __init__(
        self, message: str, *, code: ErrorCode | None = None, details: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code: ErrorCode = code or self.default_code
        self.details: dict[str, Any] = dict(details or {})

    def __reduce__(self) -> tuple[Any, ...]:
        # Exceptions pickle through their positional arguments; keyword-only ones would be lost.
        return (_rebuild, (type(self), self.args, self.__dict__))

    @property
    def info(self) -> ErrorInfo:
        """This error as data."""
        return ErrorInfo(str(self.code), self.message, self.details)


def _rebuild(
    cls: type[AgentFrameworkError], args: tuple[Any, ...], state: dict[str, Any]
) -> AgentFrameworkError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(state)
    return error


def describe_error(error: BaseException) -> ErrorInfo:
    """`ErrorInfo` of any exception; a foreign one gets code ``INTERNAL_ERROR`` and its class name."""
    if isinstance(error, AgentFrameworkError):
        return error.info
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:
        text = "<its text cannot be shown>"
    return ErrorInfo(ErrorCode.INTERNAL_ERROR, f"{name}: {text}" if text else name, {"type": name})


class ConfigurationError(AgentFrameworkError):
    """Options, files or servers that cannot work as given."""

    default_code = ErrorCode.INVALID_CONFIGURATION


class MissingCredentialsError(ConfigurationError):
    """No API key was passed in and none is in the environment variable named in the message."""

    default_code = ErrorCode.MISSING_CREDENTIALS


class MissingDependencyError(ConfigurationError):
    """An optional package is not installed; the message says how to install it."""

    default_code = ErrorCode.MISSING_DEPENDENCY


class UnsupportedOptionError(ConfigurationError):
    """The chosen provider's API has no such option."""

    default_code = ErrorCode.UNSUPPORTED_OPTION


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


class ProviderError(AgentFrameworkError):
    """The model side failed. ``retryable`` says whether the same request may succeed later."""

    default_code = ErrorCode.MODEL_REQUEST_FAILED
    default_retryable: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | None = None,
        details: Mapping[str, Any] | None = None,
        status: int | None = None,
        retry_after_s: float | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(message, code=code, details=details)
        self.status = status
        self.retry_after_s = retry_after_s
        self.retryable = self.default_retryable if retryable is None else retryable
        if status is not None:
            self.details.setdefault("status", status)


class ProviderConnectionError(ProviderError):
    """The API could not be reached."""

    default_code = ErrorCode.MODEL_CONNECTION_FAILED
    default_retryable = True


class ProviderTimeoutError(ProviderError):
    """The API accepted the request and then stayed silent beyond the limit."""

    default_code = ErrorCode.MODEL_TIMEOUT
    default_retryable = True


class AuthenticationError(ProviderError):
    """The API refused the key (401, 403)."""

    default_code = ErrorCode.MODEL_AUTHENTICATION_FAILED


class RateLimitError(ProviderError):
    """Too many requests (429); ``retry_after_s`` when the API named a time."""

    default_code = ErrorCode.MODEL_RATE_LIMITED
    default_retryable = True


class OverloadedError(ProviderError):
    """The API is overloaded or failing (500, 503, 529)."""

    default_code = ErrorCode.MODEL_OVERLOADED
    default_retryable = True


class ModelNotFoundError(ProviderError):
    """The API does not know the model."""

    default_code = ErrorCode.MODEL_NOT_FOUND


class InvalidRequestError(ProviderError):
    """The API refused the request as malformed (400, 413, 422)."""

    default_code = ErrorCode.MODEL_REQUEST_INVALID


class ContextOverflowError(InvalidRequestError):
    """The conversation is longer than the model's window."""

    default_code = ErrorCode.CONTEXT_OVERFLOW


class StreamInterruptedError(ProviderError):
    """The stream was cut, or ended without saying that it was complete."""

    default_code = ErrorCode.MODEL_STREAM_INTERRUPTED
    default_retryable = True


class ModelResponseInvalidError(ProviderError):
    """The reply held neither text nor a tool call, or could not be understood."""

    default_code = ErrorCode.MODEL_RESPONSE_INVALID


class ReplayMismatchError(ProviderError):
    """A recording holds no answer for this request."""

    default_code = ErrorCode.REPLAY_MISMATCH


class McpError(AgentFrameworkError):
    """Something about an MCP server. ``details["server_id"]`` names it.

    ``retryable`` says whether the same request may succeed later; whether it may be repeated is another question.
    """

    default_code = ErrorCode.MCP_OPERATION_FAILED

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode | None = None,
        details: Mapping[str, Any] | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message, code=code, details=details)
        self.retryable = retryable


class McpConnectionError(McpError):
    """No connection came about: not reached, not started, or no handshake in time."""

    default_code = ErrorCode.MCP_CONNECTION_FAILED


class McpDisconnectedError(McpError):
    """The connection was lost, before or during the operation, or is closed."""

    default_code = ErrorCode.MCP_DISCONNECTED


class McpOperationError(McpError):
    """The server refused or failed an operation, or did not answer in time (``details["timeout_s"]``)."""

    default_code = ErrorCode.MCP_OPERATION_FAILED


class McpExtensionError(McpError):
    """An optional extension of the protocol that is not supported here."""

    default_code = ErrorCode.MCP_EXTENSION_UNSUPPORTED


class LimitExceededError(AgentFrameworkError):
    """A limit of the run was reached; ``details["limit"]`` names it."""

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
