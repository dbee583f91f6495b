"""What the tests of MCP share: misbehaving servers from a few lines, and waiting without sleeping."""

import asyncio
import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentframework import McpClientManager, McpOptions, ReconnectPolicy, StdioServer
from agentframework.events import BaseEvent

HERE = Path(__file__).parent
WAIT_S = 30
FAST = ReconnectPolicy(initial_delay_s=0.05, max_delay_s=0.2)


@dataclass
class RawServer:
    """A server of a test's own, and what it was told."""

    server: StdioServer
    log: Path

    def heard(self) -> list[str]:
        """The methods it got, in order; ``start PID`` for each start."""
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    @property
    def pid(self) -> int:
        """Of the last start."""
        return int([line for line in self.heard() if line.startswith("start ")][-1].split()[1])


class Raw:
    """Makes servers below a directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0

    def __call__(self, body: str = "", **options: Any) -> RawServer:
        self._count += 1
        log = self._folder / f"raw{self._count}.log"
        setup = self._folder / f"raw{self._count}.py"
        setup.write_text(textwrap.dedent(body), encoding="utf-8")
        environment = {"RAW_LOG": str(log), "PYTHONUNBUFFERED": "1"}
        server = StdioServer(
            sys.executable, ["-S", "-E", str(HERE / "raw_server.py"), str(setup)], env=environment, **options
        )
        return RawServer(server, log)


class Watch:
    """Events of a manager, in order, and a way to wait for one."""

    def __init__(self, manager: McpClientManager) -> None:
        self.events: list[BaseEvent] = []
        self._came = asyncio.Event()
        manager.on_event(self._take)

    def _take(self, event: BaseEvent) -> None:
        self.events.append(event)
        self._came.set()

    def statuses(self, server_id: str) -> list[str]:
        """The statuses a server went through."""
        return [
            event.status  # type: ignore[attr-defined]
            for event in self.events
            if event.type == "mcp_server_status" and event.server_id == server_id  # type: ignore[attr-defined]
        ]

    def of(self, kind: str) -> list[Any]:
        """The events of one type."""
        return [event for event in self.events if event.type == kind]

    async def until(self, true: Callable[[], object]) -> None:
        """Return when ``true()`` holds; looked at after every event."""
        async with asyncio.timeout(WAIT_S):
            while not true():
                self._came.clear()
                await self._came.wait()


async def eventually(true: Callable[[], object]) -> None:
    """Return when ``true()`` holds: for what another process does."""
    async with asyncio.timeout(WAIT_S):
        while not true():  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.01)


def manager_of(*servers: RawServer, **options: Any) -> McpClientManager:
    """A manager of servers named a, b, c, …, that reconnects fast."""
    options.setdefault("reconnect", FAST)
    named = {chr(ord("a") + n): one.server for n, one in enumerate(servers)}
    return McpClientManager(named, options=McpOptions(**options))


def alive(pid: int) -> bool:
    """Whether a process runs (a zombie does not)."""
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
