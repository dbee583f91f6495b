"""One-way switch that tells running work to stop.

Work either asks (`AbortSignal.aborted`), waits (`wait`) or is told (`on_abort`). `run_abortable` is the
bridge to asyncio: it cancels the awaited work and raises `AbortedError`, so that a deliberate stop is never
confused with a cancellation from outside. The flag may be read from any thread; everything else belongs to
the event loop.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class AbortedError(Exception):
    """Work was stopped by its abort signal."""


class WorkCancelledError(Exception):
    """Work ended in a cancellation that nobody asked for: a fault of the work, not a wish of its caller."""


class AbortSignal:
    """Set once by `abort`; never reset."""

    __slots__ = ("_aborted", "_callbacks", "reason")

    def __init__(self) -> None:
        self._aborted = False
        self._callbacks: dict[int, Callable[[], None]] = {}
        self.reason: str | None = None

    @property
    def aborted(self) -> bool:
        """True from the moment `abort` was called. Safe to read from a thread."""
        return self._aborted

    def abort(self, reason: str = "aborted") -> None:
        """Stop the work. Later calls do nothing. A callback that raises keeps nobody else from being told."""
        if self._aborted:
            return
        self._aborted = True
        self.reason = reason
        callbacks, self._callbacks = list(self._callbacks.values()), {}
        for callback in callbacks:
            try:
                callback()
            except Exception as error:
                _report(callback, error)

    def on_abort(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call ``callback`` on abort (at once if it has happened). Returns a function that takes it back."""
        if self._aborted:
            callback()
            return _nothing
        key = id(callback)
        while key in self._callbacks:
            key += 1
        self._callbacks[key] = callback

        def forget() -> None:
            self._callbacks.pop(key, None)

        return forget

    def check(self) -> None:
        """Raise `AbortedError` if the signal is set."""
        if self._aborted:
            raise AbortedError(self.reason or "aborted")

    async def wait(self) -> None:
        """Return when the signal is set."""
        if self._aborted:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        forget = self.on_abort(lambda: None if future.done() else future.set_result(None))
        try:
            await future
        finally:
            forget()


def _nothing() -> None:
    return None


def _report(callback: Callable[[], None], error: Exception) -> None:
    name = getattr(callback, "__qualname__", repr(callback))
    with contextlib.suppress(RuntimeError):  # no loop runs: nobody to tell
        context = {"message": f"abort callback {name} failed", "exception": error}
        asyncio.get_running_loop().call_exception_handler(context)


async def run_abortable(
    work: Coroutine[Any, Any, T],
    abort: AbortSignal,
    *,
    grace_s: float = 2.0,
    abandon: Callable[[asyncio.Task[T]], object] | None = None,
) -> T:
    """Run ``work`` in a task of its own until it ends or ``abort`` is set.

    On abort the task is cancelled and given ``grace_s`` seconds to clean up; one that does not stop is handed
    to ``abandon`` (its owner), never waited for any longer. Raises `AbortedError` then. Cancelling the caller
    cancels the work too and waits for it in the same way. Raises `WorkCancelledError` for work that raised
    ``CancelledError`` although nobody cancelled it: its caller goes on.
    """
    if abort.aborted:
        work.close()
        raise AbortedError(abort.reason or "aborted")
    task = asyncio.ensure_future(work)
    stop: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    forget = abort.on_abort(lambda: None if stop.done() else stop.set_result(None))
    try:
        await asyncio.wait({task, stop}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise AbortedError(abort.reason or "aborted")
        if task.cancelled():
            raise WorkCancelledError("cancelled from within")
        return task.result()
    finally:
        forget()
        if not task.done():
            await _put_down(task, grace_s, abandon)


async def _put_down(
    task: asyncio.Task[T], grace_s: float, abandon: Callable[[asyncio.Task[T]], object] | None
) -> None:
    task.cancel()
    try:
        await asyncio.wait({task}, timeout=grace_s)
    finally:  # also if the caller is cancelled a second time while it waits
        if not task.done():
            if abandon is not None:
                abandon(task)
        elif not task.cancelled():
            task.exception()  # seen here, so that asyncio does not report it as never retrieved
