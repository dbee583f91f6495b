"""What servers say without being asked: that a list or a resource has changed.

The old era sends notifications on the connection, the modern one on a stream that the client has to open and to open
again when the filter grows. Both end up in one `ChangeHub`, so that whoever listens need not know.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

ChangeKind = Literal["tools", "prompts", "resources", "resource"]

_KINDS: dict[str, ChangeKind] = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
    "notifications/resources/updated": "resource",
}
_MOST_WAITING = 1024


@dataclass(frozen=True, slots=True)
class McpChange:
    """A server's tools, prompts or resources are different now; ``uri`` names the one resource that was updated."""

    kind: ChangeKind
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class McpFilter:
    """What somebody wants to hear of."""

    tools_list_changed: bool = False
    prompts_list_changed: bool = False
    resources_list_changed: bool = False
    resource_subscriptions: tuple[str, ...] = ()

    def admits(self, change: McpChange) -> bool:
        """Whether ``change`` is of that. A server may name a part of a resource that was subscribed to."""
        if change.kind == "resource":
            return any(_is_part(change.uri or "", uri) for uri in self.resource_subscriptions)
        return {
            "tools": self.tools_list_changed,
            "prompts": self.prompts_list_changed,
            "resources": self.resources_list_changed,
        }[change.kind]


def _is_part(uri: str, of: str) -> bool:
    return uri == of or uri.startswith((of.rstrip("/") + "/", of + "#", of + "?"))


def change_of(notification: Any) -> McpChange | None:
    """The change that a notification of the official client is about."""
    kind = _KINDS.get(getattr(notification, "method", ""))
    if kind is None:
        return None
    uri = getattr(notification.params, "uri", None) if kind == "resource" else None
    return McpChange(kind, None if uri is None else str(uri))


class McpSubscription:
    """Changes of one server, as an async iterator; end it with `close` or ``async with``.

    Changes that wait are kept once each. It survives reconnects; what changed in between is not known, so the end of
    an outage is told as a change of every list that the filter names.
    """

    def __init__(self, wanted: McpFilter, closed: Callable[["McpSubscription"], Any]) -> None:
        self.wanted = wanted
        self._closed = closed
        self._waiting: dict[McpChange, None] = {}
        self._wake = asyncio.Event()
        self._over = False

    def offer(self, change: McpChange) -> None:
        """Something has changed."""
        if not self._over and self.wanted.admits(change):
            if len(self._waiting) >= _MOST_WAITING:
                self._waiting.pop(next(iter(self._waiting)))
            self._waiting[change] = None
            self._wake.set()

    def end(self) -> None:
        """No change will come any more; those that wait are still given out."""
        self._over = True
        self._wake.set()

    async def close(self) -> None:
        """End it. May be called many times."""
        if not self._over:
            self.end()
            await self._closed(self)

    def __aiter__(self) -> "McpSubscription":
        return self

    async def __anext__(self) -> McpChange:
        while not self._waiting:
            if self._over:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()
        change = next(iter(self._waiting))
        del self._waiting[change]
        return change

    async def __aenter__(self) -> "McpSubscription":
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self.close()


class ChangeHub:
    """Who listens to one server, and to which resources altogether."""

    def __init__(self) -> None:
        self._subscriptions: list[McpSubscription] = []
        self._uris: Counter[str] = Counter()

    @property
    def uris(self) -> tuple[str, ...]:
        """Resources that somebody wants to hear of, in a stable order."""
        return tuple(sorted(self._uris))

    def add(self, subscription: McpSubscription) -> None:
        """Hand changes to ``subscription`` from now on."""
        self._subscriptions.append(subscription)

    def remove(self, subscription: McpSubscription) -> None:
        """No more changes for ``subscription``."""
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def want(self, uris: Iterable[str]) -> list[str]:
        """Somebody wants these resources; returns those that nobody wanted before."""
        fresh: list[str] = []
        for uri in uris:
            if not self._uris[uri]:
                fresh.append(uri)
            self._uris[uri] += 1
        return fresh

    def drop(self, uris: Iterable[str]) -> list[str]:
        """Somebody wants them no more; returns those that nobody wants now."""
        stale: list[str] = []
        for uri in uris:
            if self._uris[uri] <= 1:
                del self._uris[uri]
                stale.append(uri)
            else:
                self._uris[uri] -= 1
        return stale

    def tell(self, change: McpChange) -> None:
        """Hand ``change`` to everybody who wants it."""
        for subscription in list(self._subscriptions):
            subscription.offer(change)

    def end(self) -> None:
        """The server is gone for good."""
        for subscription in self._subscriptions:
            subscription.end()
        self._subscriptions.clear()
