"""What a server keeps of the requests it saw, for tests to look at and to wait on."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Api", "RecordedRequest", "Rejection"]

Api = Literal["anthropic", "chat", "responses"]


@dataclass(eq=False, slots=True)
class RecordedRequest:
    """One request as it arrived, and how its answer went.

    `body` is empty when the bytes were no JSON object. `status` is the HTTP status that went
    out, set with `finished`; 0 if the connection ended before one.
    """

    number: int
    api: Api
    path: str
    headers: dict[str, str]
    raw: bytes
    body: dict[str, Any] = field(default_factory=dict[str, Any])
    status: int = 0
    finished: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server has nothing more to say or the client has gone."""
    disconnected: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the client went away before the answer was complete."""

    async def wait_finished(self, timeout: float = 10.0) -> None:
        """Raises TimeoutError after `timeout` seconds."""
        await _wait(self.finished, timeout, f"request {self.number} was not answered completely")

    async def wait_disconnected(self, timeout: float = 10.0) -> None:
        """Raises TimeoutError after `timeout` seconds."""
        await _wait(self.disconnected, timeout, f"the client of request {self.number} is still connected")


@dataclass(frozen=True, slots=True)
class Rejection:
    """A request that broke a rule of its API."""

    request: RecordedRequest
    status: int
    message: str


async def _wait(event: asyncio.Event, timeout: float, complaint: str) -> None:
    try:
        async with asyncio.timeout(timeout):
            await event.wait()
    except TimeoutError as error:
        raise TimeoutError(f"{complaint} after {timeout} s") from error
