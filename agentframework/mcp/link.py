"""One connection from its beginning to its end: a task that owns an official client.

The client has to be entered and left in one task, and a failing transport cancels the task that entered it. So that
task does nothing else, nobody else is hurt, and whoever wants to know waits for `Link.ended`. A link is used once.
"""

import asyncio
import contextlib
import logging
import math
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from time import monotonic
from typing import Any

from mcp import Client
from mcp.client.caching import CacheConfig
from mcp_types import DiscoverResult, Implementation

from agentframework.errors import McpConnectionError
from agentframework.mcp.around import Around
from agentframework.mcp.border import Border
from agentframework.mcp.config import Server, StdioServer
from agentframework.mcp.failures import CONNECTION_CLOSED, connection_error, leaf
from agentframework.mcp.handlers import client_callbacks
from agentframework.mcp.http import Exchange, current_exchange, http_transport
from agentframework.mcp.options import McpHandlers, McpOptions, ProtocolPolicy
from agentframework.mcp.stdio import stdio_transport

CLOSE_S = 8.0
"""Longer than a stdio server is given to end; a transport that takes longer is cancelled."""

# What goes wrong is reported by us, once and in words; the client's tracebacks are for hosts that ask for them.
logging.getLogger("mcp").addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class LinkPlan:
    """What every link to one server is made from."""

    server_id: str
    server: Server
    around: Around
    protocol: ProtocolPolicy
    handlers: McpHandlers
    options: McpOptions
    note: Callable[[str], None]
    notified: Callable[[Any], Awaitable[None]]


class Link:
    """A connection. ``ended`` is done when it is over, ``reason`` then says why."""

    def __init__(self, plan: LinkPlan) -> None:
        self._plan = plan
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._border = Border(plan.protocol, plan.note, plan.options.capabilities)
        self._lost: str | None = None
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.client: Client = None  # type: ignore[assignment] - set before anybody gets a link
        self.reason: str | None = None
        self.renewing = False
        self.busy = 0  # operations that wait for an answer
        self.needs_auth = False
        self._tasks: list[asyncio.Task[Any]] = []
        self._doubted: asyncio.Future[None] | None = None

    @property
    def alive(self) -> bool:
        """Whether operations may be sent."""
        return self._opened.done() and not self.ended.done() and self._lost is None

    @property
    def last_heard(self) -> float:
        """When the server last said anything (``time.monotonic``)."""
        return self._border.last_heard

    async def open(self, timeout_s: float) -> None:
        """Connect. Raises `McpConnectionError`; then nothing of the link is left."""
        self._task = asyncio.get_running_loop().create_task(self._run(), name=f"mcp {self._plan.server_id}")
        try:
            async with asyncio.timeout(timeout_s):
                await asyncio.shield(self._opened)
        except TimeoutError:
            await self.close()
            text = f"MCP server {self._plan.server_id}: no handshake within {timeout_s:g} s"
            raise McpConnectionError(text, details={"server_id": self._plan.server_id}, retryable=True) from None
        except BaseException:
            await self.close()
            raise

    def heard(self) -> None:
        """The server is known to be well."""
        self._border.last_heard = monotonic()

    def doubt(self) -> None:
        """The server may be gone: it is to be asked at once, not at the next interval."""
        self._border.last_heard = -math.inf
        if self._doubted is not None and not self._doubted.done():
            self._doubted.set_result(None)

    def doubted(self) -> "asyncio.Future[None]":
        """Done at the next doubt."""
        if self._doubted is None or self._doubted.done():
            self._doubted = asyncio.get_running_loop().create_future()
        return self._doubted

    def own(self, task: asyncio.Task[Any]) -> None:
        """End ``task`` before the link."""
        self._tasks.append(task)

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Take over an operation that ignores its cancellation; it ends with the link."""
        self.own(task)

    def lose(self, reason: str, *, renew: bool = False, auth: bool = False) -> None:
        """The connection is of no use any more; its end is begun.

        ``renew``: a new one may be made at once; ``auth``: only with other credentials.
        """
        if self._lost is None:
            self._lost = reason
            self.reason = reason
            self.renewing = renew
            self.needs_auth = auth
        self._stop.set()
        if not self.ended.done():
            self.ended.set_result(None)

    async def close(self) -> None:
        """End it and wait until nothing of it is left."""
        self.lose("closed")
        for own in self._tasks:
            own.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_S)
            self._tasks.clear()
        task = self._task
        if task is None:
            return
        if not self._opened.done():
            task.cancel()
        try:
            await asyncio.wait({task}, timeout=CLOSE_S)
        finally:
            if not task.done():
                task.cancel()
        if not task.done():
            await asyncio.wait({task}, timeout=CLOSE_S)

    # --- the task ---------------------------------------------------------------------------------------

    async def _run(self) -> None:
        exchange = Exchange()
        current_exchange.set(exchange)
        try:
            await self._live(self._plan.protocol)
        except BaseException as error:
            self._failed(error, exchange)
            if isinstance(error, asyncio.CancelledError | KeyboardInterrupt | SystemExit):
                raise
        finally:
            self._border.close()
            if not self._opened.done():
                self._opened.cancel()
            self.lose(self.reason or "the connection ended")

    def _failed(self, error: BaseException, exchange: Exchange) -> None:
        if not self._opened.done():
            problem = connection_error(self._plan.server_id, self._plan.server, error, exchange)
            if self._lost is not None and self._lost != "closed":
                problem.message = f"MCP server {self._plan.server_id}: {self._lost}"
                problem.args = (problem.message,)
            self._opened.set_exception(problem)
            self._opened.exception()  # whoever opens sees it; if nobody does any more, that is no fault
        elif self.reason is None:
            self.reason = f"the connection broke: {leaf(error) or type(leaf(error)).__name__}"

    async def _live(self, protocol: ProtocolPolicy) -> None:
        try:
            await self._serve(protocol)
        except BaseException as error:
            if not self._may_be_afraid_of_probes(error, protocol):
                raise
        else:
            return
        # Some older programs end at a request that they do not know. They get one chance without it.
        self._lost = None
        self.reason = None
        self._stop = asyncio.Event()
        self.ended = asyncio.get_running_loop().create_future()
        self._border = Border(ProtocolPolicy(mode="legacy"), self._plan.note, self._plan.options.capabilities)
        await self._serve(ProtocolPolicy(mode="legacy"))

    def _may_be_afraid_of_probes(self, error: BaseException, protocol: ProtocolPolicy) -> bool:
        closed = getattr(leaf(error), "code", None) == CONNECTION_CLOSED
        local = isinstance(self._plan.server, StdioServer)
        return closed and local and protocol.mode == "auto" and not self._opened.done() and self._lost != "closed"

    async def _serve(self, protocol: ProtocolPolicy) -> None:
        self.client = self._new_client(protocol)
        async with self.client as client:
            if protocol.pin is not None:
                await self._adopt_pin(client, protocol.pin)
            _tolerate_off_schema_results(client, self._plan.note)
            if not self._opened.done():
                self._opened.set_result(None)
            await self._stop.wait()

    async def _adopt_pin(self, client: Client, pin: str) -> None:
        client.session.adopt(DiscoverResult.model_validate(await client.session.send_discover(pin)))

    def _new_client(self, protocol: ProtocolPolicy) -> Client:
        plan = self._plan
        mode = protocol.pin or str(protocol.mode)
        return Client(
            self._transport(),
            mode=mode,
            client_info=Implementation(name="agentframework", version=_own_version()),
            message_handler=self._handle,
            cache=CacheConfig(default_ttl_ms=int(plan.options.cache_ttl_s * 1000)),
            **client_callbacks(plan.handlers),
        )

    def _transport(self) -> AbstractAsyncContextManager[Any]:
        plan = self._plan
        if isinstance(plan.server, StdioServer):
            return stdio_transport(plan.server, plan.around, self._border, self.lose, plan.note)
        return http_transport(plan.server, self._border)

    async def _handle(self, message: Any) -> None:
        if not isinstance(message, Exception):
            await self._plan.notified(message)


def _own_version() -> str:
    try:
        return version("agentframework")
    except PackageNotFoundError:  # run from a folder that was never installed
        return "0"


def _tolerate_off_schema_results(client: Client, note: Callable[[str], None]) -> None:
    """Results that break the tool's own output schema are passed on with a note; the client would throw them away."""
    session = client.session
    check = session.validate_tool_result

    async def validate(name: str, result: Any) -> None:
        with contextlib.suppress(KeyError):
            if name not in session._tool_output_schemas:  # pyright: ignore[reportPrivateUsage]
                return  # it would ask for the whole list, behind our back
            try:
                await check(name, result)
            except RuntimeError as error:
                note(f"tool {name!r} returned what its own output schema does not allow: {str(error).splitlines()[0]}")

    session.validate_tool_result = validate  # type: ignore[method-assign]
