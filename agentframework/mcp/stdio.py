"""The stdio transport: a server as a child process.

Our own beside the official one, because a child has to die with its owner in every case, its messages have to be
bounded, what it prints besides them must harm nobody, and its end has to be noticed when it comes and not at the next
call. Source: MCP specification 2025-11-25, basic/transports (stdio) and basic/lifecycle (shutdown).
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import ErrorData, JSONRPCError, jsonrpc_message_adapter

from agentframework.mcp.around import Around
from agentframework.mcp.border import Border
from agentframework.mcp.config import StdioServer
from agentframework.mcp.lifeline import Lifeline
from agentframework.mcp.lines import Lines, TooLong
from agentframework.sandbox.environment import inherited
from agentframework.sandbox.process import group_alive

DEFAULT_MAX_MESSAGE = 64 * 1024 * 1024
LEAVE_S = 2.0  # after the end of its input
TERMINATE_S = 1.0
KILL_S = 1.0
_POLL_S = 0.01
_CHUNK = 256 * 1024
_QUEUED = 64
_STDERR_KEPT = 4096
_SHOWN = 80
_EXIT_S = 0.5
_LAST_WORDS_S = 0.25

Inbox = MemoryObjectSendStream[SessionMessage | Exception]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class _UnreadableError(Exception):
    """The output cannot be followed any further."""


@asynccontextmanager
async def stdio_transport(
    server: StdioServer, around: Around, border: Border, ended: Callable[[str], None], note: Callable[[str], None]
) -> AsyncGenerator[Streams]:
    """Start ``server`` and speak with it; leaving ends it with all its descendants.

    ``ended`` is called once, with the reason, when its output ends before that; ``note`` gets what it printed that is
    no message, once. Raises ``OSError`` or ``ValueError`` if it cannot be started.
    """
    child = _Child(server, border, ended, note)
    await child.start(around)
    try:
        yield child.streams
    finally:
        await _in_any_case(child.stop())


async def _in_any_case(work: Any) -> None:
    """Finish ``work`` even if the caller is cancelled meanwhile, once or often."""
    task = asyncio.ensure_future(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    task.result()
    if cancelled is not None:
        raise cancelled


class _Child:
    def __init__(
        self, server: StdioServer, border: Border, ended: Callable[[str], None], note: Callable[[str], None]
    ) -> None:
        self._server = server
        self._border = border
        self._ended = ended
        self._note = note
        self._lines = Lines(server.max_buffer_size or DEFAULT_MAX_MESSAGE)
        self._inbox, to_client = anyio.create_memory_object_stream[SessionMessage | Exception](_QUEUED)
        from_client, self._outbox = anyio.create_memory_object_stream[SessionMessage](_QUEUED)
        self.streams: Streams = (to_client, from_client)
        self._process: asyncio.subprocess.Process | None = None
        self._lifeline = Lifeline()
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = False
        self._stderr = b""
        self._junk = 0

    async def start(self, around: Around) -> None:
        server = self._server
        environment = dict(around.environment) if server.inherit_env else inherited(around.environment)
        try:
            self._process = await asyncio.create_subprocess_exec(
                server.command,
                *server.args,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                cwd=around.cwd if server.cwd is None else os.path.join(around.cwd, server.cwd),
                env={**environment, **(server.env or {})},
            )
        except BaseException:
            self._close_streams()
            raise
        self._border.deliver = self._deliver
        self._border.resend = self._resend
        loop = asyncio.get_running_loop()
        name = os.path.basename(server.command)
        # No await before the tasks exist: a cancellation must find everything it has to end.
        self._tasks = [
            loop.create_task(self._read(), name=f"{name} stdout"),
            loop.create_task(self._drain(), name=f"{name} stderr"),
            loop.create_task(self._write(), name=f"{name} stdin"),
            loop.create_task(self._lifeline.tie(self._process.pid), name=f"{name} lifeline"),
        ]

    # --- from the server --------------------------------------------------------------------------------

    async def _read(self) -> None:
        process = self._process
        assert process is not None
        assert process.stdout is not None
        try:
            while data := await process.stdout.read(_CHUNK):
                for line in self._lines.feed(data):
                    await self._take(line)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return  # the client is gone
        except _UnreadableError as error:
            self._ended(str(error))
        else:
            # Before the client sees the end, so that whoever fails with it can say why.
            if not self._stopping:
                self._ended(await self._reason())
        finally:
            self._inbox.close()

    async def _take(self, line: bytes | TooLong) -> None:
        if isinstance(line, TooLong):
            self._border.deliver(self._refusal(line))
            return
        text = line.strip()
        if not text:
            return
        try:
            message = jsonrpc_message_adapter.validate_json(text, by_name=False)
        except ValueError:
            self._report_junk(text)
            return
        await self._inbox.send(self._border.incoming(SessionMessage(message)))

    def _refusal(self, line: TooLong) -> SessionMessage:
        """An error in the place of a message that is too long; without its id nobody could be told."""
        limit = self._server.max_buffer_size or DEFAULT_MAX_MESSAGE
        text = f"the server sent a message of {line.size} bytes; max_buffer_size allows {limit}"
        if line.request_id is None:
            raise _UnreadableError(text)
        error = ErrorData(code=-32603, message=text)
        return SessionMessage(JSONRPCError(jsonrpc="2.0", id=line.request_id, error=error))

    def _report_junk(self, text: bytes) -> None:
        self._junk += 1
        if self._junk == 1:
            shown = text[:_SHOWN].decode("utf-8", "replace")
            self._note(f"it prints what is no message on its standard output; such lines are skipped: {shown!r}")

    async def _drain(self) -> None:
        process = self._process
        assert process is not None
        assert process.stderr is not None
        while data := await process.stderr.read(_CHUNK):
            self._stderr = (self._stderr + data)[-_STDERR_KEPT:]

    async def _reason(self) -> str:
        code = await self._exit_code(_EXIT_S)
        await asyncio.wait({self._tasks[1]}, timeout=_LAST_WORDS_S)
        last = self._stderr.decode("utf-8", "replace").strip().splitlines()[-3:]
        how = f"ended with code {code}"
        if code is None or code < 0:
            how = "closed its output" if code is None else f"was ended by signal {-code}"
        said = f"; its last words: {' | '.join(last)[-400:]}" if last else ""
        return f"the server {how}{said}"

    async def _exit_code(self, within_s: float) -> int | None:
        process = self._process
        assert process is not None
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within_s
        while process.returncode is None:  # not wait(): that also waits for pipes which grandchildren may hold
            if loop.time() >= deadline:
                return None
            await asyncio.sleep(_POLL_S)
        return process.returncode

    # --- to the server ----------------------------------------------------------------------------------

    def _deliver(self, message: SessionMessage) -> None:
        with contextlib.suppress(anyio.WouldBlock, anyio.BrokenResourceError, anyio.ClosedResourceError):
            self._inbox.send_nowait(message)

    def _resend(self, message: SessionMessage) -> None:
        process = self._process
        if process is not None and process.stdin is not None and not process.stdin.is_closing():
            process.stdin.write(_encoded(message))

    async def _write(self) -> None:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        try:
            async for message in self._outbox:
                self._border.outgoing(message)
                process.stdin.write(_encoded(message))
                await process.stdin.drain()
        except (OSError, anyio.ClosedResourceError):
            # It reads no more. If it has ended, its output ends too, and that says more.
            await asyncio.wait({self._tasks[0]}, timeout=_EXIT_S * 2)
            if not self._tasks[0].done() and not self._stopping:
                self._ended("the server closed its input")
            self._inbox.close()

    # --- the end ----------------------------------------------------------------------------------------

    async def stop(self) -> None:
        """Close its input, wait, ask it to end, make it end: the whole group."""
        self._stopping = True
        process = self._process
        assert process is not None
        assert process.stdin is not None
        await self._flush()
        with contextlib.suppress(OSError):
            process.stdin.close()
        if not await self._gone(LEAVE_S if process.returncode is None else 0.0):
            self._signal(signal.SIGTERM)
            if not await self._gone(TERMINATE_S):
                self._signal(signal.SIGKILL)
                await self._gone(KILL_S)
        await self._lifeline_tied()
        await self._lifeline.cut()
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        self._close_streams()
        # Otherwise it stays open while a process that left the group holds a pipe. Nothing public offers this.
        transport = getattr(process, "_transport", None)
        if transport is not None:
            transport.close()
        await asyncio.sleep(0)

    async def _flush(self) -> None:
        """What the client has already handed over (a cancellation, say) still goes out, if the server reads."""
        self.streams[1].close()
        await asyncio.wait({self._tasks[2]}, timeout=0.5)

    async def _lifeline_tied(self) -> None:
        await asyncio.wait({self._tasks[3]}, timeout=KILL_S)

    async def _gone(self, within_s: float) -> bool:
        process = self._process
        assert process is not None
        loop = asyncio.get_running_loop()
        deadline = loop.time() + within_s
        while process.returncode is None or group_alive(process.pid):
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(_POLL_S)
        return True

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _close_streams(self) -> None:
        for stream in (self._inbox, self._outbox, *self.streams):
            stream.close()


def _encoded(message: SessionMessage) -> bytes:
    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
    return text.encode("utf-8", "replace") + b"\n"
