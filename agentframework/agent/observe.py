"""Who watches an agent: functions of the host that are told what happens and cannot change it."""

import asyncio
from collections.abc import Callable
from typing import Any

from agentframework._base.event_buffer import EventBuffer
from agentframework._base.owner import TaskOwner
from agentframework._base.subscription import Subscription
from agentframework.errors import ConfigurationError
from agentframework.events import BaseEvent, PermissionDecision, merge_deltas

_LIMIT = 10_000
_LAST_WORDS_S = 5.0


class Watcher:
    """One function of the host. Sync ones run in place, async ones in order in a task of the agent.

    A fault harms nobody and is reported once to ``report``.
    """

    __slots__ = ("_report", "_subscription", "owner")

    def __init__(self, function: Callable[[Any], Any], owner: TaskOwner, report: Callable[[str], None]) -> None:
        self.owner = owner
        self._report: Callable[[str], None] | None = report
        self._subscription: Subscription[Any] = Subscription(self, "observer", function, once=False)

    def __call__(self, value: Any) -> None:
        """Tell it."""
        self._subscription(value)

    def off(self, event: str | type, listener: Callable[..., Any]) -> None:
        """It watches as long as the agent lives."""

    def report(self, subscription: "Subscription[Any]", event: Any, error: BaseException) -> None:
        """It failed."""
        report, self._report = self._report, None
        if report is not None:
            name = getattr(subscription.listener, "__qualname__", repr(subscription.listener))
            report(f"observer {name} failed: {type(error).__name__}: {error}")

    def new_buffer(self) -> EventBuffer[Any]:
        """A queue for an async function."""
        return EventBuffer(_LIMIT, _merged, lambda: None)

    async def finish(self) -> None:
        """Let an async function hear what it has not heard yet, for a while."""
        task = self._subscription.task
        if task is not None and not task.done():
            await asyncio.wait({task}, timeout=_LAST_WORDS_S)


def _merged(first: Any, second: Any) -> Any:
    return merge_deltas(first, second) if isinstance(first, BaseEvent) and isinstance(second, BaseEvent) else None


class Observers:
    """The observer of an agent: a function of events, or an object with ``on_event`` and ``on_error``.

    Raises `ConfigurationError` for anything else.
    """

    def __init__(self, observer: Any, owner: TaskOwner, report: Callable[[str], None]) -> None:
        on_event, on_error = getattr(observer, "on_event", None), getattr(observer, "on_error", None)
        if on_event is None and on_error is None and observer is not None:
            on_event = observer
        for function in (on_event, on_error):
            if function is not None and not callable(function):
                raise ConfigurationError(
                    "observer is a function of events or an object with on_event and on_error",
                    details={"field": "observer"},
                )
        self.on_event = None if on_event is None else Watcher(on_event, owner, report)
        self.on_error = None if on_error is None else Watcher(on_error, owner, report)

    async def finish(self) -> None:
        """Let them hear the rest."""
        for watcher in (self.on_event, self.on_error):
            if watcher is not None:
                await watcher.finish()




class Delivery:
    """Where the events of one run go: to its reader, to the agent's observer, and decisions to the policy's."""

    __slots__ = ("_heard", "_told", "authorized")

    def __init__(self, told: Callable[[BaseEvent], None], heard: Watcher | None) -> None:
        self._told = told
        self._heard = heard
        self.authorized: Callable[[PermissionDecision], None] | None = None

    def __call__(self, event: BaseEvent) -> None:
        self._told(event)
        if self._heard is not None:
            self._heard(event)
        if self.authorized is not None and type(event) is PermissionDecision:
            self.authorized(event)
