"""A hook engine with real parts around it, and a web server to talk to, for the tests of this folder."""

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentframework._base.emitter import EventEmitter
from agentframework.events import EVENT_TYPES, BaseEvent, HookError, merge_deltas
from agentframework.events.sink import EventSink
from agentframework.hooks import HookEngine, HookEvent, HookOutcome, HookSurroundings, ModelPort, parse_hooks
from agentframework.sandbox.process import group_alive

WAIT_S = 10.0
ENVIRONMENT = {"PATH": os.environ["PATH"], "SECRET_TOKEN": "s3cret", "LANG": "C.UTF-8"}


def command(line: str, **fields: Any) -> dict[str, Any]:
    """A command hook."""
    return {"type": "command", "command": line, **fields}


def calling(function: Any, **fields: Any) -> dict[str, Any]:
    """A callable hook."""
    return {"type": "callable", "callable": function, **fields}


def printing(value: Any, **fields: Any) -> dict[str, Any]:
    """A command hook that prints ``value`` (text as it is, anything else as JSON) and reads its input."""
    text = value if isinstance(value, str) else json.dumps(value)
    return command(f"cat >/dev/null; cat <<'END_OF_ANSWER'\n{text}\nEND_OF_ANSWER", **fields)


def on(event: str, *hooks: Any, matcher: Any = None) -> dict[str, Any]:
    """Settings with one group."""
    return {event: [{"matcher": matcher, "hooks": list(hooks)}]}


class Desk:
    """An engine in ``cwd``; ``events`` holds what it emits."""

    def __init__(
        self,
        cwd: Path,
        settings: Any,
        *,
        fail_closed: bool = False,
        environment: Mapping[str, str] | None = None,
        model: ModelPort | None = None,
    ) -> None:
        self.events: list[BaseEvent] = []
        emitter: EventEmitter[Any] = EventEmitter(
            EVENT_TYPES, merge=merge_deltas, on_fault=lambda fault: None, on_overflow=lambda: None
        )
        sink = EventSink("session-1", self.events.append, emitter.has_listeners)
        around = HookSurroundings(
            "session-1", str(cwd), lambda: "default", ENVIRONMENT if environment is None else environment, model
        )
        self.config = parse_hooks(settings, fail_closed=fail_closed)
        self.engine = HookEngine(self.config, around, sink)

    async def run(self, event: str, **fields: Any) -> HookOutcome:
        async with asyncio.timeout(WAIT_S):
            return await self.engine.run(HookEvent(event), fields)

    async def before(self, tool_name: str = "Bash", **tool_input: Any) -> HookOutcome:
        """A ``PreToolUse`` of a call."""
        return await self.run("PreToolUse", tool_name=tool_name, tool_input=tool_input, tool_use_id="t1")

    @property
    def errors(self) -> list[str]:
        return [event.message for event in self.events if isinstance(event, HookError)]


class HookServer:
    """Answers every request with ``status`` and ``body`` and keeps what was posted."""

    def __init__(self, body: bytes | str, status: str = "200 OK", headers: Sequence[str] = ()) -> None:
        data = body.encode() if isinstance(body, str) else body
        head = [f"HTTP/1.1 {status}", f"content-length: {len(data)}", "connection: close", *headers]
        self._answer = "\r\n".join(head).encode() + b"\r\n\r\n" + data
        self.requests: list[tuple[dict[str, str], Any]] = []
        self.silent = False
        self.asked = asyncio.Event()

    async def __aenter__(self) -> "HookServer":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/hook"
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if line)
            body = await reader.readexactly(int(headers["content-length"]))
            self.requests.append((headers, json.loads(body)))
            self.asked.set()
            if self.silent:
                await reader.read()
                return
            writer.write(self._answer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def until(path: Path) -> str:
    """The text of a file that somebody is about to write, once it ends in a newline."""
    async with asyncio.timeout(WAIT_S):
        while not (path.exists() and path.read_text().endswith("\n")):  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0.01)
    return path.read_text()


async def group_of(path: Path) -> int:
    """The process group that a hook has written to ``path``."""
    return int((await until(path)).split()[0])


def assert_gone(group: int) -> None:
    """Nothing of the process group runs any more."""
    assert not group_alive(group)
