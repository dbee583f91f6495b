"""One server and its connection: connected, lost, made again, and what is asked of it meanwhile.

A task of its own keeps the connection: it makes a `Link`, waits for its end, and makes the next one after a growing
delay. Operations use the link of the moment. What has been sent is never sent again by itself, except a request that
the server provably did not run (an HTTP session that it has forgotten).
"""

import asyncio
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from agentframework._base.owner import TaskOwner
from agentframework.errors import McpConnectionError, McpDisconnectedError, McpError, describe_error
from agentframework.events.mcp import McpStatus
from agentframework.mcp.changes import ChangeHub, McpChange, change_of
from agentframework.mcp.config import Server
from agentframework.mcp.deadlines import Clock
from agentframework.mcp.operations import Send, ServerOperations, T
from agentframework.mcp.options import McpOperationOptions, check_retry
from agentframework.mcp.plan import ConnectionObserver, ConnectionPlan, Nobody
from agentframework.mcp.steady import backoff_s, may_repeat, worth_repeating
from agentframework.providers.protocol import RetryPolicy

if TYPE_CHECKING:
    from agentframework.mcp.link import Link
    from agentframework.mcp.listening import ListenStream

Era = Literal["modern", "legacy"]
_ALL_LISTS = (McpChange("tools"), McpChange("prompts"), McpChange("resources"))


class McpConnection(ServerOperations):
    """A server, by itself. `McpClientManager` keeps many of them; this is for who wants one.

    ``status`` is ``connecting connected needs_auth failed disconnected`` or ``closed``, ``reason`` why; the rest is
    known while connected and kept afterwards. Raises `McpConnectionError` from `connect`.
    """

    def __init__(
        self, server_id: str, server: Server, plan: ConnectionPlan, observer: ConnectionObserver | None = None
    ) -> None:
        self.server_id = server_id
        self.server = server
        self.status: McpStatus = "disconnected"
        self.reason: str | None = "not connected yet"
        self.protocol_version: str | None = None
        self.era: Era | None = None
        self.server_info: Any = None
        self.capabilities: Any = None
        self.instructions: str | None = None
        self._plan = plan
        self._options = plan.options
        self._observer: ConnectionObserver = observer or Nobody()
        self._hub = ChangeHub()
        self._owner = TaskOwner(on_fault=self._task_failed)
        self._keeper: asyncio.Task[None] | None = None
        self._link: Link | None = None
        self._stream: ListenStream | None = None
        self._turned = asyncio.Event()
        self._noted: set[str] = set()
        self._failed_at = 0.0

    # --- life -------------------------------------------------------------------------------------------

    async def connect(self) -> None:
        """Connect, if it is not, and return when that is so. Raises `McpConnectionError` with the reason."""
        self._check_open()
        if self._keeper is None or self._keeper.done():
            self._begin()
        await self._until_decided()

    async def disconnect(self) -> None:
        """End it for good, with everything that belongs to it. May be called many times."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None and not keeper.done():
            keeper.cancel()
            await asyncio.wait({keeper})
        await self._owner.close()
        self._hub.end()
        if self.status != "closed":
            self._turn("closed", None)

    async def reconnect(self) -> None:
        """Give up the present connection and make a new one. Raises `McpConnectionError`."""
        self._check_open()
        keeper, self._keeper = self._keeper, None
        if keeper is not None and not keeper.done():
            keeper.cancel()
            await asyncio.wait({keeper})
        await self.connect()

    def _begin(self) -> None:
        self._turn("connecting", None)
        self._keeper = self._owner.start(self._keep(), f"mcp keeper {self.server_id}")

    def _check_open(self) -> None:
        if self.status == "closed":
            raise self._gone("the connection is closed")

    async def _until_decided(self) -> None:
        while self.status in ("connecting", "disconnected"):
            if self._keeper is None or self._keeper.done():
                break
            await self._turned_from(self.status)
        if self.status == "connected":
            return
        raise McpConnectionError(
            f"MCP server {self.server_id}: {self.reason or self.status}",
            details={"server_id": self.server_id, "status": self.status},
        )

    async def _turned_from(self, _status: str) -> None:
        await self._turned.wait()

    def _turn(self, status: McpStatus, reason: str | None) -> None:
        self.status, self.reason = status, reason
        turned, self._turned = self._turned, asyncio.Event()
        turned.set()
        self._observer.status_changed(self)

    # --- keeping the connection -------------------------------------------------------------------------

    async def _keep(self) -> None:
        policy = self._options.reconnect
        failures, known = 0, False
        link: Link | None = None
        try:
            await _load_official_client()
            while True:
                if self.status != "connecting":
                    self._turn("connecting", None)
                link = self._new_link()
                try:
                    await link.open(self.server.startup_timeout_s)
                except McpConnectionError as error:
                    failures += 1
                    needs_auth = error.details.get("status") in (401, 403)
                    if needs_auth or not known or not policy.enabled or failures > policy.max_attempts:
                        self._give_up("needs_auth" if needs_auth else "failed", self._short(error))
                        return
                    self._turn("disconnected", self._short(error))
                    await asyncio.sleep(backoff_s(policy, failures))
                    continue
                known = True
                began = monotonic()
                self._connected(link)
                await self._watch(link)
                reason, renew, auth = link.reason or "the connection ended", link.renewing, link.needs_auth
                await self._let_go(link)
                if auth or not policy.enabled:
                    self._give_up("needs_auth" if auth else "disconnected", reason)
                    return
                failures = 0 if monotonic() - began >= policy.max_delay_s else failures + 1
                if failures > policy.max_attempts:
                    self._give_up("failed", f"lost again and again: {reason}")
                    return
                if not renew:
                    self._turn("disconnected", reason)
                    await asyncio.sleep(backoff_s(policy, failures or 1))
        finally:
            if link is not None:
                await self._let_go(link)

    def _give_up(self, status: McpStatus, reason: str) -> None:
        """No further attempt by itself."""
        self._failed_at = monotonic()
        self._keeper = None
        self._turn(status, reason)

    def _new_link(self) -> "Link":
        from agentframework.mcp.link import Link, LinkPlan  # noqa: PLC0415 - needs the official client, heavy

        plan = self._plan
        return Link(
            LinkPlan(
                server_id=self.server_id,
                server=self.server,
                around=plan.around,
                protocol=plan.protocol,
                handlers=plan.handlers,
                options=plan.options,
                note=self._note,
                notified=self._notified,
            )
        )

    def _connected(self, link: "Link") -> None:
        from agentframework.mcp.listening import ListenStream, is_modern  # noqa: PLC0415 - needs the official client

        client = link.client
        again = self.protocol_version is not None
        self._link = link
        self.protocol_version = client.protocol_version
        self.era = "modern" if is_modern(link) else "legacy"
        self.server_info = client.server_info
        self.capabilities = client.server_capabilities
        self.instructions = client.instructions
        if self.era == "modern":
            self._stream = ListenStream(link, self._hub, self._options.reconnect, self._missed, self._note)
            link.own(self._owner.start(self._stream.run(), f"mcp changes {self.server_id}"))
        elif self._hub.uris:
            link.own(self._owner.start(self._subscribe_again(link), f"mcp subscriptions {self.server_id}"))
        self._turn("connected", None)
        if again:
            self._missed()

    async def _subscribe_again(self, link: "Link") -> None:
        from agentframework.mcp.listening import subscribe  # noqa: PLC0415 - needs the official client

        for uri in self._hub.uris:
            try:
                await subscribe(link, uri)
            except Exception as error:
                self._note(f"the subscription of {uri} could not be renewed: {error}")

    def _missed(self) -> None:
        """Nobody knows what has changed meanwhile."""
        for change in _ALL_LISTS:
            self._tell(change)

    async def _watch(self, link: "Link") -> None:
        """Return when the link is over; a silent one is asked for a sign of life."""
        policy = self._options.reconnect
        interval = policy.health_check_interval_s
        while not link.ended.done():
            wait_s = interval if link.busy else max(interval - (monotonic() - link.last_heard), 0.0)
            signs = {link.ended, link.doubted()}
            await asyncio.wait(signs, timeout=wait_s, return_when=asyncio.FIRST_COMPLETED)
            # A server at work may be unable to answer anything else; the work has its own limits.
            if link.ended.done() or link.busy or monotonic() - link.last_heard < interval:
                continue
            try:
                await self.ping(timeout_s=policy.health_check_timeout_s, retry=RetryPolicy())
            except McpError as error:
                link.lose(f"no answer to a health check: {error.message}")
            link.heard()

    async def _let_go(self, link: "Link") -> None:
        self._link = self._stream = None
        await link.close()

    def _short(self, error: McpError) -> str:
        return error.message.removeprefix(f"MCP server {self.server_id}: ")

    # --- what the server says ---------------------------------------------------------------------------

    def _note(self, problem: str) -> None:
        if problem not in self._noted and len(self._noted) < 100:  # a faulty server cannot flood anybody
            self._noted.add(problem)
            self._observer.noted(self, problem)

    async def _notified(self, notification: Any) -> None:
        change = change_of(notification)
        if change is not None:
            self._tell(change)

    def _tell(self, change: McpChange) -> None:
        self._hub.tell(change)
        self._observer.changed(self, change)

    def _task_failed(self, name: str, error: BaseException) -> None:
        problem = f"{name} failed: {describe_error(error).message}"
        if name.startswith("mcp keeper"):
            self._give_up("failed", problem)
        self._note(problem)

    async def _listening_changed(
        self, fresh: Sequence[str], stale: Sequence[str], options: McpOperationOptions
    ) -> None:
        async def send(link: "Link", _clock: Clock) -> None:
            from agentframework.mcp.listening import subscribe, unsubscribe  # noqa: PLC0415 - needs the client

            if self._stream is not None:
                if fresh or stale:
                    await self._stream.applied()
                return
            for uri in fresh:
                await subscribe(link, uri)
            for uri in stale:
                await unsubscribe(link, uri)

        if fresh or (stale and self._link is not None):
            await self._perform("subscribe_resource" if fresh else "unsubscribe_resource", send, options)

    # --- operations -------------------------------------------------------------------------------------

    async def _perform(self, operation: str, send: "Send[T]", options: McpOperationOptions) -> T:
        policy = options.get("retry") or self._options.retry
        check_retry(policy)
        attempts = policy.max_attempts if may_repeat(operation, policy) else 1
        total = options.get("max_total_timeout_s", self._options.max_total_timeout_s)
        own = self.server.timeout_s or self._options.timeout_s
        clock = Clock.start(options.get("timeout_s", own), total)
        for number in range(1, attempts + 1):
            try:
                return await self._attempt(operation, send, clock, options)
            except McpError as error:
                if number >= attempts or not worth_repeating(error) or self.status in ("closed", "needs_auth"):
                    raise
            await asyncio.sleep(_pause_s(backoff_s(policy, number), clock))
            clock.progress()
        raise AssertionError("unreachable")

    async def _attempt(self, operation: str, send: "Send[T]", clock: Clock, options: McpOperationOptions) -> T:
        from agentframework.mcp.exchange import SessionGoneError, perform  # noqa: PLC0415 - needs the client

        abort = options.get("abort")
        link = await self._usable_link(operation, clock, options)
        try:
            return await perform(self.server_id, operation, send, link, clock, abort)
        except SessionGoneError:
            pass  # it was not run, so it may be sent once more, over a new session
        link = await self._usable_link(operation, clock, options)
        try:
            return await perform(self.server_id, operation, send, link, clock, abort)
        except SessionGoneError:
            raise self._gone(f"the server forgets its session again and again ({operation})") from None

    async def _usable_link(self, operation: str, clock: Clock, options: McpOperationOptions) -> "Link":
        """The link of the moment; while one is being made, wait for it. Nothing is sent meanwhile."""
        abort = options.get("abort")
        if abort is not None:
            abort.check()
        if self.status == "failed" and self._may_try_again():
            self._begin()
        while True:
            link = self._link
            if link is not None and link.alive:
                return link
            if (
                self.status not in ("connecting", "disconnected", "connected")
                or self._keeper is None
                or self._keeper.done()
            ):
                raise self._gone(self.reason or self.status)
            left = clock.left
            if left is not None and left <= 0:
                raise self._gone(f"not connected in time for {operation}; {self.reason or self.status}")
            await self._next_turn(left, abort)

    async def _next_turn(self, within_s: float | None, abort: Any) -> None:
        loop = asyncio.get_running_loop()
        waiting = loop.create_task(self._turned.wait())
        stop: asyncio.Future[None] = loop.create_future()
        forget: Callable[[], None] | None = None
        if abort is not None:
            forget = abort.on_abort(lambda: None if stop.done() else stop.set_result(None))
        try:
            await asyncio.wait({waiting, stop}, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            waiting.cancel()
            if forget is not None:
                forget()
        if abort is not None:
            abort.check()

    def _may_try_again(self) -> bool:
        policy = self._options.reconnect
        return policy.enabled and monotonic() - self._failed_at >= policy.initial_delay_s

    def _gone(self, reason: str) -> McpDisconnectedError:
        return McpDisconnectedError(
            f"MCP server {self.server_id} is not connected: {reason}",
            details={"server_id": self.server_id, "status": self.status},
            retryable=self.status in ("connecting", "disconnected"),
        )


def _pause_s(wanted: float, clock: Clock) -> float:
    left = None if clock.max_total_s is None else clock.began + clock.max_total_s - monotonic()
    return wanted if left is None else max(0.0, min(wanted, left))


async def _load_official_client() -> None:
    """Import what is heavy beside the event loop: a second or two the first time, nothing later."""

    def load() -> None:
        from agentframework.mcp import exchange, link, listening, sign_of_life  # noqa: PLC0415, F401

    await asyncio.to_thread(load)
