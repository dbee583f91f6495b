"""What all errors have: a stable code, a message that says what to do, and details as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar


class ErrorCode(StrEnum):
    """Stable identifiers for programs; messages may change, these do not."""

    INVALID_CONFIGURATION = "INVALID_CONFIGURATION"
    MISSING_CREDENTIALS = "MISSING_CREDENTIALS"
    MISSING_DEPENDENCY = "MISSING_DEPENDENCY"
    UNSUPPORTED_OPTION = "UNSUPPORTED_OPTION"
    SETTINGS_INVALID = "SETTINGS_INVALID"
    WORKSPACE_AUTHORITY_REQUIRED = "WORKSPACE_AUTHORITY_REQUIRED"
    INVALID_INPUT = "INVALID_INPUT"

    SESSION_CLOSED = "SESSION_CLOSED"
    SESSION_ALREADY_RUNNING = "SESSION_ALREADY_RUNNING"
    SESSION_EXISTS = "SESSION_EXISTS"
    SESSION_LOCKED = "SESSION_LOCKED"
    SESSION_NOT_FOUND = "SESSION_NOT_FOUND"
    PAYLOAD_INVALID = "PAYLOAD_INVALID"
    WOULD_DEADLOCK = "WOULD_DEADLOCK"
    PROMPT_BLOCKED = "PROMPT_BLOCKED"
    COMPACTION_FAILED = "COMPACTION_FAILED"
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
    TOKEN_LIMIT_EXCEEDED = "TOKEN_LIMIT_EXCEEDED"
    COST_LIMIT_EXCEEDED = "COST_LIMIT_EXCEEDED"
    TIME_LIMIT_EXCEEDED = "TIME_LIMIT_EXCEEDED"
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
