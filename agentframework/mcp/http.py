"""The HTTP transports: those of the official client, on an HTTP client of ours.

Ours, because the official ones tell apart neither a refused key nor an expired session nor an overloaded server: the
status of each answer is noted here for the operation that caused it.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from agentframework.mcp.border import Border
from agentframework.mcp.config import HttpServer, SseServer, is_loopback
from agentframework.mcp.stdio import DEFAULT_MAX_MESSAGE

CONNECT_S = 10.0
WRITE_S = 30.0
_QUEUED = 64
SESSION_HEADER = "mcp-session-id"


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer, which ends at ``limit`` bytes: what is cut there cannot be read as JSON."""

    def __init__(self, inner: Any, limit: int, exceeded: Callable[[], None]) -> None:
        self._inner = inner
        self._limit = limit
        self._exceeded = exceeded

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._limit
        async for piece in self._inner:
            left -= len(piece)
            if left < 0:
                self._exceeded()
                return
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


class Exchange:
    """What HTTP said about one operation: the status of the last answer, and whether it was about an old session."""

    __slots__ = ("challenge", "status", "with_session")

    def __init__(self) -> None:
        self.status: int | None = None
        self.with_session = False
        self.challenge: str | None = None

    async def note(self, response: httpx2.Response) -> None:
        """An answer has come."""
        self.status = response.status_code
        self.with_session = SESSION_HEADER in response.request.headers
        self.challenge = response.headers.get("www-authenticate")


# The official transport posts each message in the context of whoever sent it.
current_exchange: ContextVar[Exchange | None] = ContextVar("agentframework_mcp_exchange", default=None)


async def _note_response(response: httpx2.Response) -> None:
    exchange = current_exchange.get()
    if exchange is not None:
        await exchange.note(response)


@asynccontextmanager
async def http_transport(server: HttpServer | SseServer, border: Border) -> AsyncGenerator[tuple[Any, Any]]:
    """Streams to a server behind an address. Whatever goes wrong with the network ends the task that entered this."""
    async with contextlib.AsyncExitStack() as stack:
        if isinstance(server, SseServer):
            inner: Any = sse_client(
                server.url,
                headers=_headers(server),
                timeout=WRITE_S,
                sse_read_timeout=None,  # type: ignore[arg-type] - silence is measured by us
                httpx_client_factory=_factory(server, border),
                auth=_auth(server),
            )
        else:
            client = await stack.enter_async_context(_factory(server, border)(_headers(server), None, _auth(server)))
            limit = server.max_buffer_size or DEFAULT_MAX_MESSAGE
            inner = streamable_http_client(server.url, http_client=client, max_sse_event_size=limit)
        read, write = await stack.enter_async_context(inner)
        yield await stack.enter_async_context(_watched(read, border)), _WatchedWrite(write, border)


def _headers(server: HttpServer | SseServer) -> dict[str, str]:
    headers = dict(server.headers or {})
    if isinstance(server.auth, str):
        headers["Authorization"] = f"Bearer {server.auth}"
    return headers


def _auth(server: HttpServer | SseServer) -> Any:
    return None if isinstance(server.auth, str) else server.auth


def _factory(server: HttpServer | SseServer, border: Border) -> Callable[..., httpx2.AsyncClient]:
    parts = urlsplit(server.url)
    local = is_loopback(parts.hostname or "")
    limit = server.max_buffer_size or DEFAULT_MAX_MESSAGE

    async def bound(response: httpx2.Response) -> None:
        """A stream of events may be as long as it likes; its events are bounded by the transport."""
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Bounded(
                response.stream, limit, lambda: border.report(f"an answer larger than {limit} bytes was cut off")
            )

    def make(headers: Any = None, timeout: Any = None, auth: Any = None) -> httpx2.AsyncClient:
        # No limit on reading: a stream may be silent for hours. Operations have their own, and so has the connection.
        limits = httpx2.Timeout(CONNECT_S, read=None, write=WRITE_S, pool=WRITE_S)
        return httpx2.AsyncClient(
            headers=headers,
            auth=auth,
            timeout=limits,
            event_hooks={"response": [_note_response, bound]},
            trust_env=not local,
            verify=parts.scheme == "https",
        )

    return make


@asynccontextmanager
async def _watched(read: Any, border: Border) -> AsyncGenerator[MemoryObjectReceiveStream[SessionMessage | Exception]]:
    """``read`` seen through ``border``, in a stream into which the border may put messages of its own."""
    sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](_QUEUED)

    def deliver(message: SessionMessage) -> None:
        with contextlib.suppress(anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
            sender.send_nowait(message)

    border.deliver = deliver

    async def pump() -> None:
        with sender, contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for item in read:
                await sender.send(border.incoming(item) if isinstance(item, SessionMessage) else item)

    task = asyncio.get_running_loop().create_task(pump(), name="mcp http reader")
    try:
        yield receiver
    finally:
        task.cancel()
        sender.close()
        receiver.close()
        await asyncio.wait({task})


class _WatchedWrite:
    """A stream to the server that shows each message to the border first, in the sender's own context."""

    def __init__(self, inner: Any, border: Border) -> None:
        self._inner = inner
        self._border = border

    async def send(self, item: SessionMessage, /) -> None:
        self._border.outgoing(item)
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> "_WatchedWrite":
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()
