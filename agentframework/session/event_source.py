"""Something that emits the event vocabulary: registration, streams, and what happens when a listener fails."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

from agentframework._base.emitter import EventEmitter
from agentframework._base.event_buffer import EventStream
from agentframework._base.subscription import ListenerFault
from agentframework.errors import describe_error
from agentframework.events import (
    EVENT_TYPES,
    AskRequest,
    BaseEvent,
    PermissionRequest,
    WarningEvent,
    merge_deltas,
)
from agentframework.events.sink import EventSink

F = TypeVar("F", bound=Callable[..., Any])


class EventSource:
    """Stamps events with ``session_id`` and hands them to listeners and streams."""

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self._emitter: EventEmitter[BaseEvent] = EventEmitter(
            EVENT_TYPES,
            merge=merge_deltas,
            on_fault=self._listener_failed,
            on_overflow=self._buffer_overflowed,
            on_undelivered=self._undelivered,
        )
        self._sink = EventSink(session_id, self._deliver, self._emitter.has_listeners)

    @property
    def session_id(self) -> str:
        """Unique and printable; there from construction."""
        return self._session_id

    @overload
    def on(self, event: str | type[BaseEvent]) -> Callable[[F], F]: ...
    @overload
    def on(self, event: str | type[BaseEvent], listener: F) -> F: ...
    def on(self, event: str | type[BaseEvent], listener: Callable[..., Any] | None = None) -> Any:
        """Call ``listener(event)`` for every event of that name or class; without it, a decorator.

        Sync listeners run in place, async ones in order in a task of their own. A listener that raises harms
        nobody and is reported once, as a ``warning`` event. Raises ``ValueError`` for an unknown event.
        """
        if listener is None:
            return partial(self._emitter.on, event)
        return self._emitter.on(event, listener)

    @overload
    def once(self, event: str | type[BaseEvent]) -> Callable[[F], F]: ...
    @overload
    def once(self, event: str | type[BaseEvent], listener: F) -> F: ...
    def once(self, event: str | type[BaseEvent], listener: Callable[..., Any] | None = None) -> Any:
        """Like `on`, for the next such event only."""
        if listener is None:
            return partial(self._emitter.on, event, once=True)
        return self._emitter.on(event, listener, once=True)

    def off(self, event: str | type[BaseEvent], listener: Callable[..., Any]) -> None:
        """Remove a listener; an unknown one is ignored. A request that nobody is left to answer is denied."""
        self._emitter.off(event, listener)
        if event in (PermissionRequest, AskRequest) or event in (PermissionRequest.type, AskRequest.type):
            self._prompt_listener_removed()

    def events(self) -> EventStream[BaseEvent]:
        """Async iterator over all events from now on, until the end of the session.

        Buffers 10,000 events; past that the oldest text deltas are merged and a ``warning`` says so. A reader
        of this stream does not count as a listener: it cannot be expected to answer prompts.
        """
        return self._emitter.stream()

    def warn(self, message: str, source: str = "host") -> None:
        """Tell whoever listens that something is wrong: a ``warning`` event. ``source`` says where it comes from."""
        self._sink.emit(WarningEvent, message, source)

    def _deliver(self, event: BaseEvent) -> None:
        self._emitter.emit(event)

    def _prompt_listener_removed(self) -> None:
        """Somebody who could have answered a prompt is gone."""

    def _undelivered(self, event: BaseEvent) -> None:
        """A listener failed on ``event``."""

    def _listener_failed(self, fault: ListenerFault) -> None:
        problem = describe_error(fault.error).message
        self.warn(f"listener {fault.listener} of {fault.event_type} failed: {problem}", "listener")

    def _buffer_overflowed(self) -> None:
        self.warn("a reader of events is too slow; its oldest text deltas were merged", "events")
