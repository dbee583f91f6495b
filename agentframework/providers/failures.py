"""What an API or the network said went wrong, as our typed errors.

One table for three APIs: by HTTP status, by the error object inside a stream, by the exception of the transport.
The API's own words are always part of the message; which key was used never is.
"""

import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

from agentframework._base.bounded import cut_end, printable
from agentframework._base.clock import now
from agentframework.errors import (
    AuthenticationError,
    ContextOverflowError,
    InvalidRequestError,
    ModelNotFoundError,
    OverloadedError,
    ProviderConnectionError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
)

_MAX_MESSAGE = 2_000

_STATUS_OF_TYPE: Mapping[str, int] = {
    "invalid_request_error": 400,
    "invalid_prompt": 400,
    "context_length_exceeded": 400,
    "authentication_error": 401,
    "invalid_api_key": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "model_not_found": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "api_error": 500,
    "server_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
_OVERFLOW_CODES = {"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"}
_OVERFLOW_WORDS = (
    "prompt is too long",
    "maximum context length",
    "context window",
    "exceed context limit",
    "available context size",
    "context length exceeded",
    "input is too long",
    "too many tokens",
)
_QUOTA_CODES = {"insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active"}


@dataclass(frozen=True, slots=True)
class Source:
    """Who was asked for what: ``host`` and ``url`` for messages, the key's variable for advice."""

    host: str
    url: str
    model: str
    key_variable: str
    secrets: tuple[str, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class _Said:
    """The parts of an error object that matter."""

    message: str
    kind: str = ""
    code: str = ""

    @property
    def names(self) -> set[str]:
        return {self.kind, self.code} - {""}


def from_status(source: Source, status: int, body: object, headers: Mapping[str, str]) -> ProviderError:
    """The error of a response that was no success. ``body`` is its JSON, or its text."""
    details = {"request_id": headers.get("request-id") or headers.get("x-request-id")}
    wish = headers.get("x-should-retry")
    error = _error(source, status, _said(body), {name: value for name, value in details.items() if value})
    error.retry_after_s = retry_after(headers)
    if wish in ("true", "false"):
        error.retryable = wish == "true"
    return error


def from_event(source: Source, value: object) -> ProviderError:
    """The error of an error object that came inside a stream which had begun with status 200."""
    said = _said(value)
    numbers = [int(name) for name in said.names if name.isdigit() and len(name) == 3]
    known = [_STATUS_OF_TYPE[name] for name in (said.code, said.kind) if name in _STATUS_OF_TYPE]
    return _error(source, (numbers or known or [500])[0], said, {"in_stream": True})


def from_transport(source: Source, error: BaseException) -> ProviderError:
    """The error of a request that got no response: timeouts, refusals, names, certificates."""
    chain = list(_causes(error))
    names = {type(cause).__name__ for cause in chain}
    if names & {"ConnectTimeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "APITimeoutError"}:
        waited = "to accept the connection" if "ConnectTimeout" in names else "to answer"
        return ProviderTimeoutError(f"{source.host} took too long {waited} ({source.url})")
    reason = _hidden(source, next((str(cause) for cause in reversed(chain) if str(cause)), "no reason given"))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in chain):
        return ProviderConnectionError(
            f"cannot trust the certificate of {source.url}: {reason}. Set SSL_CERT_FILE to your certificates.",
            retryable=False,
        )
    return ProviderConnectionError(
        f"cannot reach {source.url}: {reason}. Check base_url, the network and the proxy settings."
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by ``retry-after-ms`` or ``retry-after`` (seconds or date, RFC 9110 §10.2.3)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        if isfinite(seconds):
            return max(0.0, seconds)
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now())
    except (ValueError, TypeError, OverflowError):
        return None


def _error(source: Source, status: int, said: _Said, details: dict[str, Any]) -> ProviderError:
    details |= {name: value for name, value in (("type", said.kind), ("code", said.code)) if value}
    in_stream = bool(details.pop("in_stream", False))
    message = _hidden(source, said.message)
    label = next(iter(said.names), "error") if in_stream else str(status)

    def make(cls: type[ProviderError], opening: str, advice: str = "", retryable: bool | None = None):
        text = f"{opening} ({label}): {message}"
        if advice:
            text = f"{text}{'' if text.endswith('.') else '.'} {advice}"
        return cls(text, status=status, retryable=retryable, details=details)

    host = source.host
    if said.names & _QUOTA_CODES or status == 402 or "credit balance" in message:
        cls = RateLimitError if status == 429 else ProviderError
        return make(cls, f"{host} wants to be paid first", "Check the plan and billing.", retryable=False)
    if status in (400, 413, 422) and _is_overflow(said):
        return make(ContextOverflowError, f"the conversation is too long for {source.model}")
    if status == 404:
        if said.code == "model_not_found" or "model" in said.message.lower():
            return make(ModelNotFoundError, f"{host} has no model {source.model!r} for this key")
        return make(InvalidRequestError, f"{source.url} does not exist", "Check base_url.")
    if status in (401, 403):
        advice = f"Check the api_key argument or the variable {source.key_variable}."
        return make(AuthenticationError, f"{host} refused the API key", advice)
    if status == 429:
        return make(RateLimitError, f"{host} limits the rate of requests")
    if status in (408, 504):
        return make(ProviderTimeoutError, f"{host} gave up waiting")
    if status >= 500:
        return make(OverloadedError, f"{host} is overloaded or failing")
    if status == 409:
        return make(ProviderError, f"{host} reports a conflict", retryable=True)
    return make(InvalidRequestError, f"{host} refused the request")


def _is_overflow(said: _Said) -> bool:
    text = said.message.lower()
    return bool(said.names & _OVERFLOW_CODES) or any(words in text for words in _OVERFLOW_WORDS)


def _said(body: object) -> _Said:
    """Message, type and code in the shapes of Anthropic, OpenAI, OpenRouter, FastAPI, llama.cpp, or of a page."""
    value: Any = body
    if isinstance(value, Mapping) and value.get("error"):
        value = value["error"]
    if not isinstance(value, Mapping):
        return _Said(_short(value) or "no message")
    message = value.get("message") or value.get("detail") or ""
    kind, code = value.get("type"), value.get("code")
    if kind == "error":  # Responses: the event itself is the error object
        kind = None
    return _Said(_short(message) or "no message", str(kind or ""), "" if code is None else str(code))


def _short(message: object) -> str:
    text = message if isinstance(message, str) else str(message or "")
    return cut_end(printable(" ".join(text.split())), _MAX_MESSAGE)


def _hidden(source: Source, text: str) -> str:
    for secret in source.secrets:
        text = text.replace(secret, "[hidden]")
    return text


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
