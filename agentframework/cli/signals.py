"""SIGINT, SIGTERM and SIGHUP in a run without a person, from its first moment to its last.

While the program gets ready a signal is noted (or ends a wait for input); while the session runs it stops the turn in
order; a second SIGINT within three seconds, or five seconds that were not enough, end everything at once. What the
parent had ignored (``nohup``, a job in the background) stays ignored. Above: print mode.
"""

import atexit
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING

from agentframework.cli.children import kill_descendants

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

SECOND_INTERRUPT_S = 3.0
ORDERLY_END_S = 5.0


class Interrupted(BaseException):
    """A signal ended a wait. Like ``KeyboardInterrupt`` no error, and nobody else's to catch."""


class Signals:
    """The signals of one run. ``exit_code`` is 0 until one came, then 128 and its number."""

    def __init__(self) -> None:
        self.exit_code = 0
        self._may_raise = False
        self._last_interrupt = 0.0
        self._stop: Callable[[], None] | None = None
        self._leave: Callable[[], None] | None = None
        wanted = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        self._numbers = [number for number in wanted if signal.getsignal(number) is not signal.SIG_IGN]

    def note(self) -> None:
        """From now on a signal is noted. Call from the main thread."""
        for number in self._numbers:
            signal.signal(number, self._early)
        # Before its modules go the interpreter gives up handlers, and a signal would end it with a code of its own.
        atexit.register(self._ignore)

    def _ignore(self) -> None:
        for number in self._numbers:
            signal.signal(number, signal.SIG_IGN)

    def _early(self, number: int, _frame: FrameType | None) -> None:
        impatient = self.exit_code != 0
        self.exit_code = 128 + number
        if self._may_raise:
            raise Interrupted
        if impatient:
            kill_descendants()
            os._exit(self.exit_code)

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """A wait in which a signal, also one that came before, raises `Interrupted`."""
        self._may_raise = True
        try:
            if self.exit_code:
                raise Interrupted
            yield
        finally:
            self._may_raise = False

    @contextmanager
    def stopping(
        self, loop: "AbstractEventLoop", stop: Callable[[], None], leave: Callable[[], None]
    ) -> Iterator[None]:
        """While the session runs: ``stop`` ends it in order; ``leave`` says the last words of a hurried end."""
        self._stop, self._leave = stop, leave
        for number in self._numbers:
            loop.add_signal_handler(number, self._received, number)
        if self.exit_code:  # it came while the program got ready
            self._begin_to_stop()
        try:
            yield
        finally:
            self._stop = None
            # Blocked meanwhile: between the two lines stands Python's own handler.
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, self._numbers)
            for number in self._numbers:
                loop.remove_signal_handler(number)
                signal.signal(number, self._late)
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    def _received(self, number: signal.Signals) -> None:
        now = time.monotonic()
        first = self.exit_code == 0
        self.exit_code = 128 + number
        if number == signal.SIGINT:
            if now - self._last_interrupt < SECOND_INTERRUPT_S:
                self._end_at_once()
            self._last_interrupt = now
        if first:
            self._begin_to_stop()

    def _begin_to_stop(self) -> None:
        watchdog = threading.Timer(ORDERLY_END_S, self._end_at_once)
        watchdog.daemon = True
        watchdog.start()
        if self._stop is not None:
            self._stop()

    def _late(self, number: int, _frame: FrameType | None) -> None:
        """Everything is done and written; only the interpreter is left to end."""
        os._exit(128 + number)

    def _end_at_once(self) -> None:
        try:
            kill_descendants()
            if self._leave is not None:
                self._leave()
        finally:
            os._exit(self.exit_code)
