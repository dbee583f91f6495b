"""Work for a caller who does not wait for ever: limits in time, an abort signal, and a connection that may end first.

The deadlines are ours: the official client's do not know progress, and leave out what comes before the request.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from time import monotonic
from typing import Any, TypeVar

from agentframework._base.abort import AbortedError, AbortSignal

T = TypeVar("T")

GRACE_S = 2.0
"""What cancelled work is given to tell the server about it."""
LAST_WORDS_S = 0.5
"""What work is given to end by itself once its connection has."""


class OutOfTimeError(Exception):
    """A limit was reached; ``limit_s`` is which, ``total`` whether it was the one for the whole duration."""

    def __init__(self, limit_s: float, total: bool) -> None:
        super().__init__(f"no answer within {limit_s:g} s" + (" in all" if total else ""))
        self.limit_s = limit_s
        self.total = total


class LinkEndedError(Exception):
    """The connection ended before the work did."""


@dataclass(slots=True)
class Clock:
    """When an operation has to be over. ``progress`` starts the first limit again, not the second."""

    timeout_s: float | None
    max_total_s: float | None
    began: float
    moved: float

    @classmethod
    def start(cls, timeout_s: float | None, max_total_s: float | None) -> "Clock":
        """A clock that begins now."""
        now = monotonic()
        return cls(timeout_s, max_total_s, now, now)

    def progress(self) -> None:
        """The server has said that it is getting on."""
        self.moved = monotonic()

    @property
    def left(self) -> float | None:
        """Seconds until the nearer limit; None for ever."""
        limits = [
            start + limit
            for start, limit in ((self.moved, self.timeout_s), (self.began, self.max_total_s))
            if limit is not None
        ]
        return min(limits) - monotonic() if limits else None

    def check(self) -> None:
        """Raise `OutOfTimeError` if a limit is reached."""
        now = monotonic()
        if self.max_total_s is not None and now - self.began >= self.max_total_s:
            raise OutOfTimeError(self.max_total_s, total=True)
        if self.timeout_s is not None and now - self.moved >= self.timeout_s:
            raise OutOfTimeError(self.timeout_s, total=False)


async def within(
    work: Coroutine[Any, Any, T],
    clock: Clock,
    ended: "asyncio.Future[None]",
    abort: AbortSignal | None,
    abandon: Callable[[asyncio.Task[T]], object],
) -> T:
    """The result of ``work``, in a task of its own.

    Raises `OutOfTimeError`, `AbortedError` or `LinkEndedError` when that comes first; the work is cancelled then and
    given a moment to say so to the server. Work that does not end is handed to ``abandon``.
    """
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    stop: asyncio.Future[None] = loop.create_future()
    forget = abort.on_abort(lambda: None if stop.done() else stop.set_result(None)) if abort is not None else None
    try:
        while True:
            left = clock.left
            await asyncio.wait(
                {task, ended, stop}, timeout=None if left is None else max(left, 0), return_when=asyncio.FIRST_COMPLETED
            )
            if task.done():
                return task.result()
            if stop.done():
                raise AbortedError((abort.reason if abort is not None else None) or "aborted")
            if ended.done():
                await asyncio.wait({task}, timeout=LAST_WORDS_S)
                if task.done():
                    return task.result()
                raise LinkEndedError
            clock.check()
    finally:
        if forget is not None:
            forget()
        if not task.done():
            await _put_down(task, abandon)


async def _put_down(task: asyncio.Task[T], abandon: Callable[[asyncio.Task[T]], object]) -> None:
    task.cancel()
    try:
        await asyncio.wait({task}, timeout=GRACE_S)
    finally:
        if not task.done():
            abandon(task)
        elif not task.cancelled():
            task.exception()  # seen here, so that asyncio does not report it
