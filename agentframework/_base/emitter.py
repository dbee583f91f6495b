"""Typed events to listeners, on top of pyee's registry.

What pyee leaves open is decided here and in `subscription`: a listener that throws harms nobody and is reported once;
listeners may be added and removed while an event is on its way. Event names are registered under prefixed
keys, because pyee gives ``error`` a meaning of its own; that channel carries listener faults only.

Knows nothing of particular events: an event is any object with a ``type``.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import Any, Generic, TypeVar

from agentframework._base.event_buffer import EventBuffer, EventStream, Merge
from agentframework._base.owner import TaskOwner
from agentframework._base.subscription import ListenerFault, Subscription, Typed, current_task

E = TypeVar("E", bound=Typed)
F = TypeVar("F", bound=Callable[..., Any])


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
        self._subscriptions: dict[tuple[str, Any], Subscription[E]] = {}
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
            subscription = Subscription(self, name, listener, once)
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

    def report(self, subscription: Subscription[E], event: E, error: BaseException) -> None:
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
        current = current_task()
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
