"""Making a server tell of changes: subscriptions in the old era, one listening stream in the modern one."""

import asyncio
import contextlib
import math
from collections.abc import Callable, Sequence
from typing import Any

from mcp import MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp_types import (
    EmptyResult,
    SubscribeRequest,
    SubscribeRequestParams,
    UnsubscribeRequest,
    UnsubscribeRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agentframework.mcp.changes import ChangeHub
from agentframework.mcp.link import Link
from agentframework.mcp.options import ReconnectPolicy
from agentframework.mcp.steady import backoff_s

OPEN_S = 10.0
_LISTS = ("tools", "prompts", "resources")


def is_modern(link: Link) -> bool:
    """Whether the link speaks the modern era."""
    return link.client.protocol_version in MODERN_PROTOCOL_VERSIONS


async def subscribe(link: Link, uri: str) -> None:
    """``resources/subscribe``, old era."""
    await link.client.session.send_request(SubscribeRequest(params=SubscribeRequestParams(uri=uri)), EmptyResult)


async def unsubscribe(link: Link, uri: str) -> None:
    """``resources/unsubscribe``, old era."""
    await link.client.session.send_request(UnsubscribeRequest(params=UnsubscribeRequestParams(uri=uri)), EmptyResult)


class ListenStream:
    """The one stream of a modern link, opened again when the filter or the stream changes.

    ``gap`` is called when changes may have been missed; ``note`` gets what is wrong, once.
    """

    def __init__(
        self, link: Link, hub: ChangeHub, policy: ReconnectPolicy, gap: Callable[[], None], note: Callable[[str], None]
    ) -> None:
        self._link = link
        self._hub = hub
        self._policy = policy
        self._gap = gap
        self._note = note
        self._changed = asyncio.Event()
        self._asked = 0  # how often the filter was to be followed
        self._followed: float = 0  # up to which of these it was
        self._turned = asyncio.Event()
        self._problem: BaseException | None = None

    async def applied(self) -> None:
        """Make the stream follow the hub, and return when it does. Raises what keeps it from that."""
        self._asked += 1
        number = self._asked
        self._changed.set()
        while self._followed < number:
            await self._turned.wait()
        if self._problem is not None:
            raise self._problem

    def _settle(self, number: float) -> None:
        self._followed = number
        turned, self._turned = self._turned, asyncio.Event()
        turned.set()

    async def run(self) -> None:
        """Keep the stream while the link lives."""
        old: Any = None
        failures = 0
        try:
            while self._link.alive:
                self._changed.clear()
                number, wanted = self._asked, self._filter()
                fresh = subscription = None
                if wanted:
                    try:
                        fresh = self._link.client.listen(**wanted)
                        async with asyncio.timeout(OPEN_S):
                            subscription = await fresh.__aenter__()
                        self._problem = None
                    except (MCPError, SubscriptionLost, TimeoutError) as error:
                        fresh, self._problem = None, error
                await _left(old)
                old = fresh
                self._settle(number)
                if wanted and subscription is None:
                    failures += 1
                    if failures == 1:
                        self._note(f"it does not tell of changes: {self._problem or type(self._problem).__name__}")
                    await self._pause(failures)
                elif not await self._drained(subscription):
                    failures += 1
                    await self._pause(failures)
                    self._gap()
                else:
                    failures = 0
        finally:
            await _left(old)
            self._problem = self._problem or SubscriptionLost("the connection ended")
            self._settle(math.inf)

    def _filter(self) -> dict[str, Any]:
        declared = self._link.client.server_capabilities
        wanted: dict[str, Any] = {}
        for name in _LISTS:
            capability = getattr(declared, name, None)
            if capability is not None and getattr(capability, "list_changed", None):
                wanted[f"{name}_list_changed"] = True
        uris: Sequence[str] = self._hub.uris
        return {**wanted, "resource_subscriptions": list(uris)} if uris else wanted

    async def _drained(self, subscription: Any) -> bool:
        """Wait until the filter changes (True) or the stream ends (False). Its events reach the hub by another way."""
        changed = asyncio.ensure_future(self._changed.wait())
        drain = asyncio.ensure_future(_drain(subscription))
        try:
            await asyncio.wait({changed, drain}, return_when=asyncio.FIRST_COMPLETED)
            return changed.done()
        finally:
            for task in (changed, drain):
                task.cancel()
            await asyncio.wait({changed, drain})

    async def _pause(self, failures: int) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(backoff_s(self._policy, failures)):
                await self._changed.wait()


async def _drain(subscription: Any) -> None:
    if subscription is None:
        await asyncio.Event().wait()
    else:
        await _emptied(subscription)


async def _emptied(subscription: Any) -> None:
    with contextlib.suppress(SubscriptionLost):
        async for _ in subscription:
            pass


async def _left(stream: Any) -> None:
    if stream is not None:
        with contextlib.suppress(MCPError, SubscriptionLost):
            await stream.__aexit__(None, None, None)
