"""One listener of one event: how an event reaches it, and what happens when it fails.

A sync listener runs in place. An async one gets its events in order, one after the other, in a task of its own that
lives while there are some.
"""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from agentframework._base.event_buffer import EventBuffer
from agentframework._base.owner import TaskOwner


class Typed(Protocol):
    """Anything with an event name."""

    type: ClassVar[str]


E = TypeVar("E", bound=Typed)


@dataclass(frozen=True, slots=True)
class ListenerFault:
    """A listener raised: which one, for which event, what."""

    listener: str
    event_type: str
    error: BaseException


class SubscriptionHost(Protocol[E]):
    """What a subscription needs of the emitter it belongs to."""

    owner: TaskOwner

    def off(self, event: str | type, listener: Callable[..., Any]) -> None:
        """Remove a listener."""
        ...

    def report(self, subscription: "Subscription[E]", event: E, error: BaseException) -> None:
        """A listener failed."""
        ...

    def new_buffer(self) -> EventBuffer[E]:
        """A queue for an async listener."""
        ...


class Subscription(Generic[E]):
    """One listener of one event: delivers, isolates faults, and runs async listeners in order."""

    __slots__ = ("_buffer", "_context", "_emitter", "_is_async", "listener", "name", "once", "task")

    def __init__(self, emitter: SubscriptionHost[E], name: str, listener: Callable[[E], Any], once: bool) -> None:
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
        if outcome is not None and inspect.isawaitable(outcome):
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
    task = current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0


def current_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
