"""An HTTP server without any library that speaks the old era and does what a test tells it to."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

Answer = tuple[int, dict[str, str], bytes]


class RawHttp:
    """``async with RawHttp() as server``: ``server.url``; ``heard`` lists methods, ``sessions`` those it knows.

    ``before`` may answer a message in the server's place: it gets the message and its session id, and returns a
    status, or None to go on.
    """

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.sessions: list[str] = []
        self.before: Callable[[dict[str, Any], str | None], int | None] = lambda _message, _session: None
        self.call: Callable[[dict[str, Any]], Awaitable[Any]] = self._echo
        self.version = "2025-06-18"
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    async def __aenter__(self) -> "RawHttp":
        await self.start()
        return self

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.close()
        await asyncio.sleep(0)

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                lines = head.split("\r\n")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in lines[1:] if line)
                }
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                status, extra, data = await self._answer(lines[0].split()[0], headers, body)
                fields = {"content-length": str(len(data)), **extra}
                text = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
                writer.write(f"HTTP/1.1 {status} X\r\n{text}\r\n".encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _answer(self, verb: str, headers: dict[str, str], body: bytes) -> Answer:
        if verb != "POST":
            return 405, {}, b""
        message = json.loads(body)
        method, session = message.get("method", "answer"), headers.get("mcp-session-id")
        self.heard.append(method)
        status = self.before(message, session)
        if status is not None:
            return status, {}, b""
        if method == "server/discover":
            return 400, {}, b""
        if "id" not in message:
            return 202, {}, b""
        extra: dict[str, str] = {"content-type": "application/json"}
        if method == "initialize":
            self.sessions.append(f"session-{len(self.sessions) + 1}")
            extra["mcp-session-id"] = self.sessions[-1]
        elif session not in self.sessions:
            return 404, {}, b""
        answer = {"jsonrpc": "2.0", "id": message["id"], "result": await self._result(message)}
        return 200, extra, json.dumps(answer).encode()

    async def _result(self, message: dict[str, Any]) -> Any:
        match message["method"]:
            case "initialize":
                info = {"name": "raw", "version": "1"}
                return {"protocolVersion": self.version, "capabilities": {"tools": {}}, "serverInfo": info}
            case "tools/list":
                return {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
            case "tools/call":
                return await self.call(message)
            case _:
                return {}

    async def _echo(self, message: dict[str, Any]) -> Any:
        return {"content": [{"type": "text", "text": str(message["params"].get("arguments"))}]}
