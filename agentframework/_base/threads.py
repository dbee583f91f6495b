"""Blocking work in threads that nobody has to wait for.

The threads of asyncio and anyio keep the whole program from ending until they have; one function that ignores its
abort would then hold up the exit for ever. These are daemons: when the program ends, so do they. They are reused, by
whichever event loop comes next, and end by themselves after some idle seconds.
"""

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")

IDLE_S = 10.0


async def in_daemon_thread(work: Callable[[], T]) -> T:
    """The result of ``work()``, or what it raises. When cancelled, the thread goes on and its result is dropped.

    ``work`` sees the context variables of the caller, and ``anyio.from_thread`` works in it.
    """
    from anyio.lowlevel import current_token  # noqa: PLC0415 - keeps the package import light

    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()
    token = current_token()

    def job() -> None:
        _claim(token)
        value: Any = None
        fault: BaseException | None = None
        try:
            value = context.run(work)
        except BaseException as error:
            fault = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_settle, future, value, fault)

    _submit(job)
    return await future


def _claim(token: object) -> None:
    # anyio tells its own worker threads apart by this mark; without it `from_thread` needs the token as an argument.
    try:
        from anyio._core._eventloop import threadlocals  # noqa: PLC0415
    except ImportError:
        return
    threadlocals.current_token = token


def _settle(future: "asyncio.Future[T]", value: T, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration):  # no future takes it
        future.set_exception(RuntimeError(f"StopIteration: {error}"))
    else:
        future.set_exception(error)


class _Worker(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="agentframework worker", daemon=True)
        self.jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def run(self) -> None:
        while True:
            try:
                job = self.jobs.get(timeout=IDLE_S)
            except Empty:
                if _pool.retire(self):
                    return
                continue
            job()
            del job
            _pool.idle(self)


class _Pool:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []

    def take(self) -> _Worker | None:
        with self._lock:
            return self._idle.pop() if self._idle else None

    def idle(self, worker: _Worker) -> None:
        with self._lock:
            self._idle.append(worker)

    def retire(self, worker: _Worker) -> bool:
        """False if the worker has just been taken: a job is on its way."""
        with self._lock:
            if worker not in self._idle:
                return False
            self._idle.remove(worker)
            return True

    def reset(self) -> None:
        """In a forked child: its parent's threads are not there."""
        self._lock = threading.Lock()
        self._idle = []


_pool = _Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.reset)


def _submit(job: Callable[[], None]) -> None:
    worker = _pool.take()
    if worker is None:
        worker = _Worker()
        worker.start()
    worker.jobs.put(job)
