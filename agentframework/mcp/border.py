"""What passes between the official client and a server, watched at the one place where everything passes.

Four things are done here and nowhere else: a probe that a server leaves unanswered is ended in our time instead of the
client's, answers that break the protocol are mended part by part, each sign of life is noted, and capabilities of the
host's own are declared, for which the client has no place.
"""

import asyncio
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from agentframework.mcp.capabilities import with_capabilities
from agentframework.mcp.options import ProtocolPolicy
from agentframework.mcp.repair import Note, mended

REQUEST_TIMEOUT = -32001
_DISCOVER = "server/discover"
_OLDEST_LIKELY = "2025-11-25"
_MOST_OPEN = 10_000

Send = Callable[[SessionMessage], Any]


class Border:
    """Between one client and one server, for one connection.

    ``note`` gets each fault that was mended, in words; ``capabilities`` are declared beside the client's own.
    ``deliver`` and ``resend`` are set by the transport: they hand a message to the client and to the server without
    waiting.
    """

    def __init__(self, protocol: ProtocolPolicy, note: Note, capabilities: Mapping[str, Any] | None = None) -> None:
        self._protocol = protocol
        self._capabilities = capabilities or {}
        self._note = note
        self._methods: dict[Any, str] = {}
        self._version = _OLDEST_LIKELY
        self._probe: asyncio.TimerHandle | None = None
        self._probes_left = protocol.probe_max_retries
        self._settled = protocol.mode != "auto" or not protocol.probe_timeout_s
        self.deliver: Send = lambda _message: None
        self.resend: Send = lambda _message: None
        self.last_heard = monotonic()
        self.probed_in_vain = False

    def outgoing(self, message: SessionMessage) -> None:
        """The client is about to send ``message``."""
        inner = message.message
        if isinstance(inner, JSONRPCRequest):
            if self._capabilities:
                _declare(inner, self._capabilities)
            if len(self._methods) >= _MOST_OPEN:  # the oldest was given up long ago
                self._methods.pop(next(iter(self._methods)))
            self._methods[inner.id] = inner.method
            if inner.method == _DISCOVER and not self._settled:
                self._await_probe(message)
        elif isinstance(inner, JSONRPCNotification) and inner.method == "notifications/cancelled":
            self._methods.pop((inner.params or {}).get("requestId"), None)

    def incoming(self, message: SessionMessage) -> SessionMessage:
        """The server has sent ``message``: what the client is to see of it."""
        self.last_heard = monotonic()
        inner = message.message
        if isinstance(inner, JSONRPCError):
            self._answered(self._methods.pop(inner.id, None), None)
        elif isinstance(inner, JSONRPCResponse):
            method = self._methods.pop(inner.id, None)
            self._answered(method, inner.result)
            if method is not None:
                result = mended(method, self._version, inner.result, self._note)
                if result is not inner.result:
                    inner.result = result
        return message

    def report(self, problem: str) -> None:
        """Tell of what a transport had to mend."""
        self._note(problem)

    def close(self) -> None:
        """Nothing is awaited any more."""
        self._end_probe()

    def _answered(self, method: str | None, result: dict[str, Any] | None) -> None:
        if method == _DISCOVER:
            self._end_probe()
            if result is not None and not self._settled:
                self._version, self._settled = "2026-07-28", True
        elif method == "initialize" and result is not None:
            self._settled = True
            version = result.get("protocolVersion")
            self._version = version if isinstance(version, str) else _OLDEST_LIKELY

    def _await_probe(self, message: SessionMessage) -> None:
        self._end_probe()
        loop = asyncio.get_running_loop()
        self._probe = loop.call_later(self._protocol.probe_timeout_s, self._probe_expired, message)

    def _probe_expired(self, message: SessionMessage) -> None:
        inner = message.message
        assert isinstance(inner, JSONRPCRequest)
        if self._probes_left > 0:
            self._probes_left -= 1
            self._await_probe(message)
            self.resend(message)
            return
        self._probe = None
        self.probed_in_vain = True
        error = ErrorData(code=REQUEST_TIMEOUT, message="no answer to the probe")
        self.deliver(SessionMessage(JSONRPCError(jsonrpc="2.0", id=inner.id, error=error)))

    def _end_probe(self) -> None:
        if self._probe is not None:
            self._probe.cancel()
            self._probe = None


def _declare(request: JSONRPCRequest, capabilities: Mapping[str, Any]) -> None:
    """Add to what ``request`` declares: the handshake does so once, a request of the modern era each time."""
    params = dict(request.params or {})
    if request.method == "initialize":
        params["capabilities"] = with_capabilities(params.get("capabilities") or {}, capabilities)
    else:
        meta = dict(params.get("_meta") or {})
        if CLIENT_CAPABILITIES_META_KEY not in meta:
            return
        meta[CLIENT_CAPABILITIES_META_KEY] = with_capabilities(meta[CLIENT_CAPABILITIES_META_KEY], capabilities)
        params["_meta"] = meta
    request.params = params
