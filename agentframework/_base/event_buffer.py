"""Events that wait for one reader: a bounded queue, and the async iterator over it."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

E = TypeVar("E")
Merge = Callable[[E, E], E | None]


class EventBuffer(Generic[E]):
    """First in, first out, for one reader. Past ``limit`` neighbours are merged, oldest first.

    ``merge(a, b)`` gives one event for two neighbours, or None; events it cannot merge are kept beyond the
    limit, since nothing but the grain of deltas may be lost. ``on_overflow`` is called once.
    """

    __slots__ = ("_closed", "_items", "_limit", "_merge", "_on_overflow", "_waiter")

    def __init__(self, limit: int, merge: Merge[E], on_overflow: Callable[[], None]) -> None:
        self._items: deque[E] = deque()
        self._limit = limit
        self._merge = merge
        self._on_overflow: Callable[[], None] | None = on_overflow
        self._waiter: asyncio.Future[None] | None = None
        self._closed = False

    def __len__(self) -> int:
        return len(self._items)

    def push(self, event: E) -> None:
        """Add an event; ignored after `close`."""
        if self._closed:
            return
        self._items.append(event)
        if len(self._items) > self._limit:
            self._compact()
        self._wake()

    def _compact(self) -> None:
        merged: deque[E] = deque()
        for event in self._items:
            joined = self._merge(merged[-1], event) if merged else None
            if joined is None:
                merged.append(event)
            else:
                merged[-1] = joined
        self._items = merged
        # Unmergeable backlog: look again only when it has grown by half, or each push would cost O(n).
        self._limit = max(self._limit, len(merged) * 3 // 2)
        callback, self._on_overflow = self._on_overflow, None
        if callback is not None:
            callback()

    def close(self) -> None:
        """No more events; a reader gets what is left and then the end."""
        self._closed = True
        self._wake()

    def take(self) -> E:
        """The next event. Raises ``IndexError`` if there is none."""
        return self._items.popleft()

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    async def pop(self) -> E:
        """The next event, waiting for it. Raises ``StopAsyncIteration`` at the end, ``RuntimeError`` for a second
        reader at the same time."""
        while not self._items:
            if self._closed:
                raise StopAsyncIteration
            if self._waiter is not None and not self._waiter.done():
                raise RuntimeError("somebody else reads this stream; each reader needs one of its own")
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return self._items.popleft()


class EventStream(Generic[E]):
    """Async iterator over all events from the moment it was made. ``aclose()`` or garbage ends it."""

    __slots__ = ("_buffer", "_forget")

    def __init__(self, buffer: EventBuffer[E], forget: Callable[[], None]) -> None:
        self._buffer = buffer
        self._forget = forget

    def __aiter__(self) -> AsyncIterator[E]:
        return self

    async def __anext__(self) -> E:
        return await self._buffer.pop()

    async def aclose(self) -> None:
        """Stop receiving; a waiting reader sees the end."""
        self._forget()
        self._buffer.close()

    def __del__(self) -> None:
        self._forget()  # a reader that broke off its loop would be kept supplied for ever

    async def __aenter__(self) -> "EventStream[E]":
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()
