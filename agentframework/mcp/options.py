"""How a host wants its MCP servers treated: time limits, retries, reconnecting, negotiation, listings, handlers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypedDict

from agentframework._base.abort import AbortSignal
from agentframework.errors import ConfigurationError
from agentframework.mcp.config import check_seconds, refused
from agentframework.providers.protocol import RetryPolicy

DEFAULT_MCP_STARTUP_CONCURRENCY = 4
DEFAULT_MCP_PROTOCOL_MODE = "auto"
DEFAULT_PROBE_TIMEOUT_S = 3.0
MODERN_VERSIONS = ("2026-07-28",)

Handler = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconnectPolicy:
    """What happens when a connection is lost. Seconds; the delay doubles from ``initial_delay_s`` to ``max_delay_s``.

    ``max_attempts`` counts failed attempts in a row. Every ``health_check_interval_s`` a connection that was silent is
    asked for a sign of life and given ``health_check_timeout_s`` to answer. Raises `ConfigurationError`.
    """

    enabled: bool = True
    max_attempts: int = 5
    initial_delay_s: float = 0.5
    max_delay_s: float = 10.0
    health_check_interval_s: float = 30.0
    health_check_timeout_s: float = 5.0

    def __post_init__(self) -> None:
        _check_count("reconnect.max_attempts", self.max_attempts, 0)
        for name in ("initial_delay_s", "max_delay_s"):
            check_seconds(f"reconnect.{name}", getattr(self, name), zero=True)
        for name in ("health_check_interval_s", "health_check_timeout_s"):
            check_seconds(f"reconnect.{name}", getattr(self, name))


@dataclass(frozen=True, slots=True, kw_only=True)
class ProtocolPolicy:
    """Which era of the protocol is spoken.

    ``mode`` is ``auto`` (the modern one, else the old handshake), ``legacy`` (the handshake only) or
    ``{"pin": version}`` of a modern version. A probe unanswered for ``probe_timeout_s`` is sent ``probe_max_retries``
    times more.
    Raises `ConfigurationError`.
    """

    mode: str | Mapping[str, str] = DEFAULT_MCP_PROTOCOL_MODE
    probe_timeout_s: float = DEFAULT_PROBE_TIMEOUT_S
    probe_max_retries: int = 0

    def __post_init__(self) -> None:
        check_seconds("protocol.probe_timeout_s", self.probe_timeout_s, zero=True)
        _check_count("protocol.probe_max_retries", self.probe_max_retries, 0)
        if isinstance(self.mode, Mapping):
            pin = self.mode.get("pin")
            if set(self.mode) != {"pin"} or pin not in MODERN_VERSIONS:
                known = ", ".join(MODERN_VERSIONS)
                raise refused("protocol.mode", f"can pin {known}, not {pin!r}; use legacy for older versions")
        elif self.mode not in ("auto", "legacy"):
            raise refused("protocol.mode", f'must be auto, legacy or {{"pin": version}}, not {self.mode!r}')

    @property
    def pin(self) -> str | None:
        """The pinned version."""
        return self.mode["pin"] if isinstance(self.mode, Mapping) else None


def as_protocol(value: "ProtocolPolicy | Mapping[str, Any] | str | None") -> ProtocolPolicy:
    """A policy from what stands for one. Raises `ConfigurationError`."""
    if value is None:
        return ProtocolPolicy()
    if isinstance(value, ProtocolPolicy):
        return value
    if isinstance(value, str):
        return ProtocolPolicy(mode=value)
    _check_keys("protocol", value, ProtocolPolicy)
    return ProtocolPolicy(**value)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpHandlers:
    """What servers may ask of their client. Each is a function, sync or async, of the request's parameters.

    ``sampling`` answers with a model's message, ``elicitation`` with what a person said, ``roots`` (no parameters)
    with the directories a server may look at; ``logging`` gets a server's log messages. Answers are dicts or models
    of the official client. A handler that is given is declared to servers as a capability.
    """

    sampling: Handler | None = None
    elicitation: Handler | None = None
    roots: Handler | None = None
    logging: Handler | None = None


def as_handlers(value: McpHandlers | Mapping[str, Any] | None) -> McpHandlers:
    """Handlers from what stands for them. Raises `ConfigurationError`."""
    if value is None:
        return McpHandlers()
    if isinstance(value, McpHandlers):
        return value
    _check_keys("handlers", value, McpHandlers)
    return McpHandlers(**value)


def handlers_of(
    value: McpHandlers | Mapping[str, Any] | Callable[[str], McpHandlers] | None,
) -> Callable[[str], McpHandlers]:
    """The handlers for each server's id. Raises `ConfigurationError`."""
    if callable(value):
        return value
    same = as_handlers(value)
    return lambda _server_id: same


@dataclass(frozen=True, slots=True, kw_only=True)
class McpOptions:
    """Everything about servers that is not particular to one. Times are seconds.

    ``startup_wait_s`` is how long a session's first prompt waits for servers; ``concurrency`` how many connect at once.
    ``timeout_s`` bounds the silence of one operation and starts again at progress, ``max_total_timeout_s`` its whole
    duration. ``list_max_pages`` bounds a listing, ``cache_ttl_s`` is how long one is kept where the server does not
    say and has not told of a change (0: not at all). ``capabilities`` are declared to servers beside what ``handlers``
    stand for, as on the wire. Servers whose tools would make all definitions larger than ``max_definition_bytes``
    (None: no limit) are treated as with ``defer``. Results larger than ``max_result_bytes`` are cut and kept whole in
    a file below ``spill_directory`` (None: a private temporary one, removed at the end). Raises `ConfigurationError`.
    """

    startup_wait_s: float = 5.0
    concurrency: int = DEFAULT_MCP_STARTUP_CONCURRENCY
    protocol: ProtocolPolicy | Mapping[str, Any] | str | None = None
    handlers: McpHandlers | Mapping[str, Any] | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    reconnect: ReconnectPolicy = field(default_factory=ReconnectPolicy)
    timeout_s: float | None = 60.0
    max_total_timeout_s: float | None = None
    list_max_pages: int = 20
    cache_ttl_s: float = 300.0
    list_changed_auto_refresh: bool = True
    list_changed_debounce_s: float = 0.3
    capabilities: Mapping[str, Any] | None = None
    max_definition_bytes: int | None = 200_000
    max_result_bytes: int = 100_000
    spill_directory: str | Path | None = None

    def __post_init__(self) -> None:
        check_seconds("mcp.startup_wait_s", self.startup_wait_s, zero=True)
        check_seconds("mcp.timeout_s", self.timeout_s)
        check_seconds("mcp.max_total_timeout_s", self.max_total_timeout_s)
        check_seconds("mcp.cache_ttl_s", self.cache_ttl_s, zero=True)
        check_seconds("mcp.list_changed_debounce_s", self.list_changed_debounce_s, zero=True)
        _check_count("mcp.concurrency", self.concurrency, 1)
        _check_count("mcp.list_max_pages", self.list_max_pages, 1)
        _check_count("mcp.max_result_bytes", self.max_result_bytes, 1)
        if self.max_definition_bytes is not None:
            _check_count("mcp.max_definition_bytes", self.max_definition_bytes, 0)
        check_capabilities(self.capabilities)
        check_retry(self.retry)
        as_protocol(self.protocol)
        as_handlers(self.handlers)


class McpOperationOptions(TypedDict, total=False):
    """What every operation takes: time limits, a retry policy of its own, and a signal that stops it."""

    timeout_s: float | None
    max_total_timeout_s: float | None
    retry: RetryPolicy | None
    abort: AbortSignal | None


def check_capabilities(value: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """``value``, or an empty dict for None. Raises `ConfigurationError` unless it maps names to objects."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise refused("capabilities", f"must map names to objects as on the wire, not {value!r}")
    for name, settings in value.items():
        if not isinstance(settings, Mapping):
            raise refused("capabilities", f"must map names to objects; look at {name!r}")
    return value


def check_retry(policy: RetryPolicy) -> None:
    """Raise `ConfigurationError` for a policy that cannot work."""
    _check_count("retry.max_attempts", policy.max_attempts, 1)
    for name in ("initial_delay_s", "max_delay_s", "jitter_ratio"):
        check_seconds(f"retry.{name}", getattr(policy, name), zero=True)


def _check_count(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise refused(name, f"must be a whole number of at least {least}, not {value!r}")


def _check_keys(name: str, value: Mapping[str, Any], shape: type) -> None:
    if not isinstance(value, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise refused(name, f"must be a {shape.__name__} or such a dict, not {value!r}")
    known = {item.name for item in fields(shape)}
    unknown = sorted(set(value) - known)
    if unknown:
        raise ConfigurationError(f"{name} has no {', '.join(unknown)}; there are {', '.join(sorted(known))}")
