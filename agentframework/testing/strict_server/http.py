"""One HTTP connection: reads requests, runs one answer at a time, writes it event by event.

An `asyncio.Protocol` rather than streams: a delta costs one `transport.write`, and a client that goes away is
known at once, also while the answer waits. `server.py` decides what is answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Any

from .http_reader import BadRequest, HttpRequest, RequestReader
from .json_text import dump

__all__ = ["Connection", "Handler"]

Handler = Callable[[HttpRequest, "Connection"], Coroutine[Any, Any, None]]
"""Called when a request is whole; notes it at once and returns the coroutine that answers it."""

_EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unassigned"


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {_reason(status)}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Connection(asyncio.Protocol):
    """Owns its socket and the task of the answer under way; both end with it."""

    def __init__(self, handler: Handler, open_connections: set[Connection]) -> None:
        self._handler = handler
        self._open_connections = open_connections
        self._reader = RequestReader()
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._keeps_alive = True
        self._streaming = False
        self._closed = asyncio.Event()
        self.status = 0
        """HTTP status of the answer under way; 0 until its head is out."""
        self.on_lost: Callable[[], None] | None = None
        """Called once if the client goes away before the answer is complete."""
        self.on_done: Callable[[], None] | None = None
        """Called once when nothing more will be sent, also if the answer was stopped before its first step."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._open_connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._open_connections.discard(self)
        self._closed.set()
        if self.on_lost is not None:
            self.on_lost()
            self.on_lost = None
        if self._task is not None:
            self._task.cancel()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        self._reader.feed(data)
        if self._task is None:
            self._next()

    def _next(self) -> None:
        try:
            request = self._reader.take()
        except BadRequest as error:
            self.send(400, str(error).encode(), {"content-type": "text/plain", "connection": "close"})
            self._close()
            return
        if request is not None:
            self._keeps_alive = request.keeps_alive
            self.status = 0
            self._task = asyncio.get_running_loop().create_task(self._handler(request, self))
            self._task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._task = None
        self.on_lost = None
        on_done, self.on_done = self.on_done, None
        if on_done is not None:
            on_done()
        if self._transport is None or self._transport.is_closing():
            return
        if task.cancelled() or task.exception() is not None:
            self.abort()
        elif not self._keeps_alive:
            self._close()
        else:
            self._next()

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    async def stop(self) -> None:
        """Break the connection and wait for the answer under way to end."""
        task = self._task
        self.abort()
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        await self._closed.wait()

    # -- what an answer may do ---------------------------------------------------------------------

    def send(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        """A whole response with a length."""
        self.on_lost = None
        self.status = status
        self._write(_head(status, {**headers, "content-length": str(len(body))}) + body)

    def send_json(self, status: int, value: object, headers: Mapping[str, str]) -> None:
        self.send(status, dump(value), {"content-type": "application/json", **headers})

    def send_half(self, body: bytes, headers: Mapping[str, str]) -> None:
        """A response whose announced length is never reached."""
        length = {"content-type": "application/json", "content-length": str(len(body)), **headers}
        self.status = 200
        self._write(_head(200, length) + body[: len(body) // 2])

    def begin_stream(self, headers: Mapping[str, str]) -> None:
        """The head of an event stream, unless it is out already."""
        if not self._streaming:
            self._streaming = True
            self.status = 200
            self._write(_head(200, {**_EVENT_STREAM, "transfer-encoding": "chunked", **headers}))

    async def send_event(self, event: bytes) -> None:
        """One event, one chunk, one write; then lets others run, or waits while the client does not read."""
        self._write(b"%x\r\n%b\r\n" % (len(event), event))
        if self._writable.is_set():
            await asyncio.sleep(0)
        else:
            await self._writable.wait()

    def end_stream(self) -> None:
        self._streaming = False
        self.on_lost = None
        self._write(b"0\r\n\r\n")

    def cut(self) -> None:
        """Close after what was written, in the middle of the answer."""
        self._streaming = False
        self.on_lost = None
        self._close()

    def abort(self) -> None:
        """Drop the connection and what was not sent yet."""
        self._streaming = False
        self.on_lost = None
        if self._transport is not None:
            self._transport.abort()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(data)
