"""Typed events to listeners, on top of pyee's registry.

What pyee leaves open is decided here: a listener that throws harms nobody and is reported once; an async
listener gets its events in order, one after the other, in a task of its own that lives while there are some;
listeners may be added and removed while an event is on its way. Event names are registered under prefixed
keys, because pyee gives ``error`` a meaning of its own; that channel carries listener faults only.

Knows nothing of particular events: an event is any object with a ``type``.
"""

import asyncio
import inspect
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from agentframework._base.owner import TaskOwner


class Typed(Protocol):
    """Anything with an event name."""

    type: ClassVar[str]


E = TypeVar("E", bound=Typed)
F = TypeVar("F", bound=Callable[..., Any])
Merge = Callable[[E, E], E | None]


@dataclass(frozen=True, slots=True)
class ListenerFault:
    """A listener raised: which one, for which event, what."""

    listener: str
    event_type: str
    error: BaseException


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


class _Subscription(Generic[E]):
    """One listener of one event: delivers, isolates faults, and runs async listeners in order."""

    __slots__ = ("_buffer", "_context", "_emitter", "_is_async", "listener", "name", "once", "task")

    def __init__(self, emitter: "EventEmitter[E]", name: str, listener: Callable[[E], Any], once: bool) -> None:
        self._emitter = emitter
        # Tasks of listeners belong to who registered them, not to the code that happened to emit.
        self._context = copy_context()
        self.name = name
        self.listener = listener
        self.once = once
        call = type(listener).__call__ if not inspect.isroutine(listener) else listener
        self._is_async = inspect.iscoroutinefunction(listener) or inspect.iscoroutinefunction(call)
        self._buffer: EventBuffer[E] | None = None
        self.task: asyncio.Task[Any] | None = None

    def __call__(self, event: E) -> None:
        if self.once:
            self._emitter.off(self.name, self.listener)
        if self._is_async:
            self._enqueue(event)
            return
        try:
            outcome = self.listener(event)
        except (Exception, asyncio.CancelledError) as error:
            if _is_deliberate(error):
                raise
            self._emitter.report(self, event, error)
            return
        if inspect.isawaitable(outcome):
            self._start(self._finish(outcome, event))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[Any]:
        return self._emitter.owner.start(work, f"listener of {self.name}", context=self._context.copy())

    async def _finish(self, outcome: Awaitable[Any], event: E) -> None:
        try:
            await outcome
        except (Exception, asyncio.CancelledError) as error:
            if _is_deliberate(error):
                raise
            self._emitter.report(self, event, error)

    def _enqueue(self, event: E) -> None:
        if self._buffer is None:
            self._buffer = self._emitter.new_buffer()
        self._buffer.push(event)
        if self.task is None or self.task.done():
            self.task = self._start(self._drain(self._buffer))

    async def _drain(self, buffer: EventBuffer[E]) -> None:
        while len(buffer):
            event = buffer.take()
            await self._finish(self._call(event), event)

    async def _call(self, event: E) -> None:
        await self.listener(event)


def _is_deliberate(error: BaseException) -> bool:
    """True for the cancellation of the running task; a ``CancelledError`` that a listener made up is a fault."""
    task = _current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def _current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


class EventEmitter(Generic[E]):
    """Registry and dispatch. ``known`` are the event names; any other raises ``ValueError``.

    ``on_fault`` is told once per faulty listener, ``on_undelivered`` of every event that a listener failed on.
    ``KeyboardInterrupt``, ``SystemExit`` and the like are not swallowed: the remaining listeners get the event,
    then the interrupt goes on.
    """

    __slots__ = (
        "_buffer_limit",
        "_closed",
        "_known",
        "_merge",
        "_on_fault",
        "_on_overflow",
        "_on_undelivered",
        "_registry",
        "_reported",
        "_routes",
        "_streams",
        "_subscriptions",
        "owner",
    )

    def __init__(
        self,
        known: Collection[str],
        *,
        merge: Merge[E],
        on_fault: Callable[[ListenerFault], None],
        on_overflow: Callable[[], None],
        on_undelivered: Callable[[E], None] = lambda _event: None,
        buffer_limit: int = 10_000,
    ) -> None:
        self._known = known
        self._merge = merge
        self._on_fault = on_fault
        self._on_overflow = on_overflow
        self._on_undelivered = on_undelivered
        self._buffer_limit = buffer_limit
        self._registry: Any = None  # made for the first listener: most emitters have none
        # Kept while they are registered, because the id of one that is gone may be given to another.
        self._reported: dict[int, Callable[..., Any]] = {}
        self._subscriptions: dict[tuple[str, Any], _Subscription[E]] = {}
        self._routes: dict[str, tuple[Callable[[E], None], ...]] = {}
        self._streams: tuple[EventBuffer[E], ...] = ()
        self._closed = False
        self.owner = TaskOwner()

    def _name(self, event: str | type) -> str:
        name = event if isinstance(event, str) else getattr(event, "type", None)
        if not isinstance(name, str) or name not in self._known:
            raise ValueError(f"unknown event {event!r}; known are: {', '.join(sorted(self._known))}")
        return name

    def on(self, event: str | type, listener: F, *, once: bool = False) -> F:
        """Register ``listener``; the same one twice for one event counts once. After `close` it hears nothing."""
        name = self._name(event)
        key = (name, _identity(listener))
        if key not in self._subscriptions and not self._closed:
            if self._registry is None:
                self._registry = _new_registry(self._on_fault)
            subscription = _Subscription(self, name, listener, once)
            self._subscriptions[key] = subscription
            self._registry.on(_key(name), subscription)
            self._reroute(name)
        return listener

    def off(self, event: str | type, listener: Callable[..., Any]) -> None:
        """Remove ``listener``; unknown ones are ignored."""
        name = self._name(event)
        subscription = self._subscriptions.pop((name, _identity(listener)), None)
        if subscription is not None:
            self._registry.remove_listener(_key(name), subscription)
            self._reroute(name)
            self._reported.pop(id(subscription.listener), None)

    def has_listeners(self, name: str) -> bool:
        """True if somebody registered for exactly this event (a reader of `stream` does not count)."""
        return name in self._routes

    def _reroute(self, name: str) -> None:
        """Listeners are looked up here and not for each event."""
        route = tuple(self._registry.listeners(_key(name)))
        if route:
            self._routes[name] = route
        else:
            self._routes.pop(name, None)

    def emit(self, event: E) -> None:
        """Deliver to every listener of its name and to every stream, in order of registration."""
        interrupt: BaseException | None = None
        for deliver in self._routes.get(event.type, ()):
            try:
                deliver(event)
            except BaseException as error:
                interrupt = interrupt or error
        for buffer in self._streams:
            buffer.push(event)
        if interrupt is not None:
            raise interrupt

    def report(self, subscription: _Subscription[E], event: E, error: BaseException) -> None:
        """Tell the fault channel, once per listener."""
        self._on_undelivered(event)
        listener = subscription.listener
        if id(listener) in self._reported:
            return
        if not subscription.once:
            self._reported[id(listener)] = listener
        name = getattr(listener, "__qualname__", None) or repr(listener)
        self._registry.emit("error", ListenerFault(name, event.type, error))

    def new_buffer(self) -> EventBuffer[E]:
        """A buffer with this emitter's overflow policy."""
        return EventBuffer(self._buffer_limit, self._merge, self._on_overflow)

    def stream(self) -> EventStream[E]:
        """All events from now on, buffered."""
        buffer = self.new_buffer()
        if self._closed:
            buffer.close()
        else:
            self._streams = (*self._streams, buffer)
        return EventStream(buffer, lambda: self._forget(buffer))

    def _forget(self, buffer: EventBuffer[E]) -> None:
        # A new tuple, because the garbage collector may call this in the middle of an `emit`.
        self._streams = tuple(other for other in self._streams if other is not buffer)

    async def close(self, drain_s: float = 1.0, *, spare: Collection[asyncio.Task[Any]] = ()) -> None:
        """Remove all listeners. Async ones get ``drain_s`` seconds for what is already queued, those in ``spare``
        are left alone: they wait for this very end."""
        self._closed = True
        subscriptions = list(self._subscriptions.values())
        for subscription in subscriptions:
            self._registry.remove_listener(_key(subscription.name), subscription)
        self._subscriptions.clear()
        self._routes.clear()
        for buffer in self._streams:
            buffer.close()
        self._streams = ()
        current = _current_task()
        spared = spare if current is None else (*spare, current)
        tasks = {s.task for s in subscriptions if s.task is not None and s.task not in spared}
        running = {task for task in tasks if not task.done()}
        if running:
            await asyncio.wait(running, timeout=drain_s)
        await self.owner.close(grace_s=drain_s, spare=spared)


def _new_registry(on_fault: Callable[[ListenerFault], None]) -> Any:
    from pyee.base import EventEmitter as Registry  # noqa: PLC0415 - keeps the package import light

    registry = Registry()
    registry.on("error", on_fault)
    return registry


def _key(name: str) -> str:
    return "event:" + name


def _identity(listener: Callable[..., Any]) -> Any:
    """What makes two listeners the same: equality, so that a bound method can be removed; else identity."""
    try:
        hash(listener)
    except TypeError:
        return id(listener)
    return listener
