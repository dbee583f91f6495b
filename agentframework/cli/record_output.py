"""stdout for records and for nothing else, without ever holding up the event loop.

Once it is claimed, file descriptor 1 leads to stderr: whatever prints - a hook, a library's warning, a child process -
cannot get between the records. A reader that is slow makes the writer wait, not the session; a reader that is gone is
noticed also while there is nothing to write. Above: print mode. Below: raw descriptors.
"""

import asyncio
import io
import os
import select
import stat
import sys
import time
from collections.abc import Callable

from agentframework.cli.output import OutputError, output_error, writable


class RecordOutput:
    """Writes to a descriptor that nobody else knows. One writer at a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = memoryview(b"")
        self._waiter: asyncio.Future[None] | None = None
        self._given_up = False

    async def write(self, data: bytes) -> None:
        """Write all of ``data``, in pieces that the reader has room for.

        Raises `BrokenOutputError` if the reader is gone, `OutputError` on any other fault and after `hurry`.
        """
        self._rest = memoryview(data)
        while self._rest:
            if not writable(self._descriptor):
                await self._room()
            self._write_piece()

    def write_at_once(self, data: bytes, wait_s: float) -> None:
        """Write what is left of the last record, and ``data``, if the reader takes it within ``wait_s`` seconds."""
        self._rest = memoryview(bytes(self._rest) + data)
        deadline = time.monotonic() + wait_s
        while self._rest:
            if not writable(self._descriptor, max(0.0, deadline - time.monotonic())):
                raise OutputError("nobody reads stdout")
            self._write_piece()

    def _write_piece(self) -> None:
        try:
            written = os.write(self._descriptor, self._rest[: select.PIPE_BUF])
        except OSError as error:
            raise output_error(error) from error
        self._rest = self._rest[written:]

    async def _room(self) -> None:
        if self._given_up:
            raise OutputError("nobody reads stdout")
        loop = asyncio.get_running_loop()
        waiter = self._waiter = loop.create_future()
        loop.add_writer(self._descriptor, _settle, waiter)
        try:
            await waiter
        finally:
            self._waiter = None
            loop.remove_writer(self._descriptor)

    def hurry(self, wait_s: float) -> None:
        """From now on wait at most ``wait_s`` seconds, all in all, for a reader that takes nothing."""
        asyncio.get_running_loop().call_later(wait_s, self._give_up)

    def _give_up(self) -> None:
        self._given_up = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(OutputError("nobody reads stdout"))

    def watch(self, gone: Callable[[], None]) -> Callable[[], None]:
        """Call ``gone`` once when the reader of a pipe or socket leaves. Returns what ends the watch."""
        loop = asyncio.get_running_loop()
        mode = os.fstat(self._descriptor).st_mode
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            return lambda: None

        def look() -> None:
            poll = select.poll()
            poll.register(self._descriptor, 0)  # only hang-ups and errors
            # Anything else is something to read, which is not our concern but would wake us for ever.
            loop.remove_reader(self._descriptor)
            if poll.poll(0):
                gone()

        loop.add_reader(self._descriptor, look)
        return lambda: _forget_reader(loop, self._descriptor)


def _settle(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)


def _forget_reader(loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
    if not loop.is_closed():
        loop.remove_reader(descriptor)


def claim_stdout() -> RecordOutput:
    """Keep stdout for records: everybody else who writes to it writes to stderr from now on.

    Raises `OutputError` if it is closed, before anything is spent on an answer that could not be written.
    """
    try:
        private = os.dup(1)
        os.write(private, b"")
    except OSError as error:
        raise output_error(error) from error
    os.dup2(2, 1)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # As stderr is: in time, and with a way to show every character.
        sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    return RecordOutput(private)
