"""The error JSON of the APIs.

Sources: https://platform.claude.com/docs/en/api/errors and
https://platform.openai.com/docs/guides/error-codes.
"""

from __future__ import annotations

from typing import Any

__all__ = ["error_body", "error_status"]

_ANTHROPIC_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_OPENAI_TYPES = {429: "requests"}
_OPENAI_CODES = {401: "invalid_api_key", 404: "not_found", 429: "rate_limit_exceeded"}
_STATUSES = {kind: status for status, kind in _ANTHROPIC_TYPES.items()}


def error_status(error_type: str) -> int:
    """The HTTP status that belongs to an error type which a stream would carry inside a 200."""
    return _STATUSES.get(error_type, 500)


def error_body(
    api: str,
    status: int,
    message: str,
    *,
    error_type: str | None = None,
    code: str | None = None,
    param: str | None = None,
) -> dict[str, Any]:
    """The error object of `api`; type and code default to what the API uses for `status`."""
    if api == "anthropic":
        fallback = "api_error" if status >= 500 else "invalid_request_error"
        kind = error_type or _ANTHROPIC_TYPES.get(status, fallback)
        return {"type": "error", "error": {"type": kind, "message": message}, "request_id": None}
    fallback = "server_error" if status >= 500 else "invalid_request_error"
    kind = error_type or _OPENAI_TYPES.get(status, fallback)
    detail = {"message": message, "type": kind, "param": param, "code": code or _OPENAI_CODES.get(status)}
    return {"error": detail}
