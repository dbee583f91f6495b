"""One program with all its descendants: started, watched, and never left behind.

Above are the tools and hooks that run programs, below only asyncio. The program leads a session and process group of
its own, without a controlling terminal; what it may read is given beforehand. When it is over (by itself, by its
timeout, because the caller was cancelled) the whole group is ended, not only the leader: its children may run on and
hold the pipes. What left the group with ``setsid`` is found by a mark in its environment, if the program was given
one (Linux); else the pipes are given up after a short wait. A watchdog ends it all if this process is killed.

Sources: POSIX ``kill`` (negative pid), ``setsid``; Linux ``proc_pid_stat(5)``.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agentframework._base.ids import short_id
from agentframework.sandbox.strays import strays
from agentframework.sandbox.watchdog import MARK, Watchdog

TERMINATE_GRACE_S = 2.0
# Shorter than what the turn loop grants a cancelled tool, so that the group is gone when the call is.
CANCEL_GRACE_S = 1.0
LEFTOVER_GRACE_S = 0.5
KILL_WAIT_S = 0.5
# How long output may still come once the leader has ended, e.g. from `>(process substitution)`.
DRAIN_S = 0.25
_POLL_S = 0.02

Leftover = Literal["none", "ended", "beyond reach"]
OnOutput = Callable[[bool, bytes], None]


@dataclass(frozen=True, slots=True)
class Command:
    """What to start. ``pass_fds`` stay open in the program; ``stdin`` is all it can read, None is an empty input.

    ``grace_s``: what it is given to end by itself when its time is over. ``keep_together``: what leaves the group is
    looked for and ended too.
    """

    argv: Sequence[str]
    cwd: str
    environment: Mapping[str, str]
    pass_fds: tuple[int, ...] = ()
    stdin: bytes | None = None
    grace_s: float = TERMINATE_GRACE_S
    keep_together: bool = False


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended. ``returncode`` is negative for a signal and None if the leader could not be ended.

    ``leftover``: whether other processes of the program were still there when its leader had ended.
    """

    returncode: int | None
    timed_out: bool
    leftover: Leftover


async def run_program(command: Command, timeout_s: float | None, on_output: OnOutput) -> Ended:
    """Run ``command`` until its leader ends or ``timeout_s`` seconds are over (None: never); then its group is gone.

    ``on_output(is_stderr, data)`` is called in the event loop with every piece of output, at once. Raises ``OSError``
    or ``ValueError`` if the program cannot be started. When cancelled, the group gets SIGTERM and a second later
    SIGKILL before ``CancelledError`` goes on; cancelled again while it does so, SIGKILL at once.
    """
    run = _Run(command, timeout_s, on_output)
    # A task of its own, so that no cancellation can interrupt the ending of the group.
    task = asyncio.get_running_loop().create_task(run.main(), name=f"program {command.argv[0]}")
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        run.stop()
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                run.kill()
                task.cancel()
        if not task.cancelled():
            task.exception()  # a failed start; nobody is left to tell
        raise
    return task.result()


class _Run(asyncio.SubprocessProtocol):
    def __init__(self, command: Command, timeout_s: float | None, on_output: OnOutput) -> None:
        self._command = command
        self._timeout_s = timeout_s
        self._on_output = on_output
        self._group: int | None = None
        self._mark = short_id("run") if command.keep_together else ""
        self._stopped = False
        self._exited = False
        self._over = asyncio.Event()  # one of the two
        self._quiet = asyncio.Event()
        self._closed = asyncio.Event()
        self._open_pipes = {1, 2}

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._on_output(fd == 2, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._open_pipes.discard(fd)
        if not self._open_pipes:
            self._quiet.set()

    def process_exited(self) -> None:
        self._exited = True
        self._over.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._closed.set()

    def stop(self) -> None:
        """End the program as if its time were over."""
        self._stopped = True
        self._over.set()

    def kill(self) -> None:
        """SIGKILL to everything, now."""
        self._signal(signal.SIGKILL)
        _send(self._strays(), signal.SIGKILL)

    async def main(self) -> Ended:
        with _Input(self._command.stdin) as given:
            watchdog = Watchdog(self._mark)
            try:
                transport = await self._start(given.reader)
                self._group = transport.get_pid()
                watchdog.watch(self._group)
                return await self._watch(transport, given)
            finally:
                watchdog.dismiss()

    async def _start(self, stdin: int) -> asyncio.SubprocessTransport:
        transport, _ = await asyncio.get_running_loop().subprocess_exec(
            lambda: self,
            *self._command.argv,
            stdin=stdin,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            cwd=self._command.cwd,
            env={**self._command.environment, **({MARK: self._mark} if self._mark else {})},
            pass_fds=self._command.pass_fds,
        )
        return transport

    async def _watch(self, transport: asyncio.SubprocessTransport, given: "_Input") -> Ended:
        try:
            given.feed()
            await _happens(self._over, self._timeout_s)
            timed_out = not self._exited and not self._stopped
            leftover = await (self._settle() if self._exited else self._put_down())
            if self._strays():
                leftover = await self._end_strays()
            return Ended(transport.get_returncode(), timed_out, leftover)
        finally:
            if self._alive():
                self.kill()
            transport.close()
            await _happens(self._closed, KILL_WAIT_S)

    async def _settle(self) -> Leftover:
        """After the leader: the last output, then the end of everything it left behind."""
        if await self._all_gone(DRAIN_S):
            return "none"
        if not self._alive():
            # Once more: a busy event loop may have had no time to read the end of the output.
            return "none" if await _happens(self._quiet, DRAIN_S) else "beyond reach"
        return await self._end_group(LEFTOVER_GRACE_S)

    async def _put_down(self) -> Leftover:
        return await self._end_group(CANCEL_GRACE_S if self._stopped else self._command.grace_s)

    async def _end_group(self, grace_s: float) -> Leftover:
        self._signal(signal.SIGTERM)
        if not await self._group_gone(grace_s):
            self._signal(signal.SIGKILL)
            await self._group_gone(KILL_WAIT_S)
        return "ended" if await self._all_gone(DRAIN_S) else "beyond reach"

    def _strays(self) -> list[int]:
        return strays(self._mark, self._group) if self._mark and self._group is not None else []

    async def _end_strays(self) -> Leftover:
        """What left the group; a program that was stopped has had its time, so has what it left."""
        now = asyncio.get_running_loop().time
        grace_s = 0.0 if self._stopped else LEFTOVER_GRACE_S
        for number, wait_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, KILL_WAIT_S)):
            deadline = now() + wait_s
            _send(self._strays(), number)
            while (left := self._strays()) and now() < deadline:
                if number == signal.SIGKILL:
                    _send(left, number)  # they may have had children meanwhile
                await asyncio.sleep(_POLL_S)
            if not left:
                break
        return "ended" if not self._strays() and await _happens(self._quiet, DRAIN_S) else "beyond reach"

    async def _all_gone(self, within_s: float) -> bool:
        """Whether nobody is left in the group and nobody holds a pipe."""
        now = asyncio.get_running_loop().time
        deadline = now() + within_s
        return await _happens(self._quiet, within_s) and await self._group_gone(deadline - now())

    async def _group_gone(self, within_s: float) -> bool:
        now = asyncio.get_running_loop().time
        deadline = now() + within_s
        while self._alive():
            if now() >= deadline:
                return False
            await asyncio.sleep(_POLL_S)
        return True

    def _alive(self) -> bool:
        return not self._exited or (self._group is not None and group_alive(self._group))

    def _signal(self, number: signal.Signals) -> None:
        if self._group is not None:
            _send([-self._group], number)


def _send(targets: Sequence[int], number: signal.Signals) -> None:
    """A signal to processes, and to groups by their negative number."""
    for target in targets:
        # Nobody is left, or only processes of another user.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(target, number)


class _Input:
    """The standard input of a program: nothing, or the reading end of a pipe that is filled as fast as it is read.

    A pipe of our own, because asyncio's may be a socket: that cannot be opened as ``/dev/stdin``, and it makes bash
    believe that it was started over a network and read ``.bashrc``.
    """

    def __init__(self, data: bytes | None) -> None:
        self._data = memoryview(data or b"")
        self._writer = -1
        self.reader: int = asyncio.subprocess.DEVNULL
        if data is not None:
            self.reader, self._writer = os.pipe()

    def __enter__(self) -> "_Input":
        return self

    def __exit__(self, *_exc: object) -> None:
        self._close_reader()
        self._close_writer()

    def feed(self) -> None:
        """Begin to write; the program has its own copy of the reading end by now."""
        self._close_reader()
        if self._writer >= 0:
            os.set_blocking(self._writer, False)
            asyncio.get_running_loop().add_writer(self._writer, self._write)

    def _write(self) -> None:
        try:
            self._data = self._data[os.write(self._writer, self._data) :]
        except BlockingIOError:
            return
        except OSError:
            self._data = self._data[:0]  # it does not read on, which is its right
        if not self._data:
            self._close_writer()

    def _close_reader(self) -> None:
        if self.reader >= 0:
            os.close(self.reader)
            self.reader = asyncio.subprocess.DEVNULL

    def _close_writer(self) -> None:
        if self._writer >= 0:
            asyncio.get_running_loop().remove_writer(self._writer)
            os.close(self._writer)
            self._writer = -1


async def _happens(event: asyncio.Event, within_s: float | None) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(within_s):
            await event.wait()
    return event.is_set()


def group_alive(group: int) -> bool:
    """Whether a process of the group still runs. The group's leader must have been waited for.

    Zombies do not count: where process 1 does not collect orphans (many containers) they stay for ever. Where we are
    process 1 ourselves they are collected here.
    """
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-group, os.WNOHANG)[0]:
            pass
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _only_zombies(group)


def _only_zombies(group: int) -> bool:
    try:
        processes = [name for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return False  # no such file system here: believe the kernel's answer to the signal
    for name in processes:
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # "pid (name) state ppid pgrp ...", and the name may hold anything
                state, _, pgrp = file.read().rpartition(b")")[2].split(maxsplit=3)[:3]
        except OSError:
            continue  # ended meanwhile
        if int(pgrp) == group and state not in (b"Z", b"X"):
            return False
    return True
