"""Where events are stamped: one place gives each its session, turn, number and time."""

from collections.abc import Callable
from itertools import count
from time import time_ns
from typing import Any

from agentframework.events.base import BaseEvent


class EventSink:
    """Makes events and hands them to ``deliver``. ``turn_id`` is set by whoever runs the turn.

    ``has_listeners`` answers whether somebody registered for an event name: a prompt that nobody hears is
    denied at once.
    """

    __slots__ = ("_deliver", "_next", "has_listeners", "session_id", "turn_id")

    def __init__(
        self, session_id: str, deliver: Callable[[Any], None], has_listeners: Callable[[str], bool]
    ) -> None:
        self.session_id = session_id
        self.turn_id: str | None = None
        self.has_listeners = has_listeners
        self._deliver = deliver
        self._next = count(1).__next__

    def emit(self, event_class: type[BaseEvent], *fields: Any, **named: Any) -> None:
        """Make an event of ``event_class`` from its own fields and deliver it."""
        # To the microsecond, which is what the JSON form keeps: an event equals its copy that was written and read.
        moment = time_ns() // 1000 / 1_000_000
        self._deliver(event_class(self.session_id, self.turn_id, self._next(), moment, *fields, **named))
