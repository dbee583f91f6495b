"""The model side failed."""

from collections.abc import Mapping
from typing import Any, ClassVar

from agentframework.errors.base import AgentFrameworkError, ErrorCode


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
