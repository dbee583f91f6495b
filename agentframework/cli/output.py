"""The process's stdout and stderr, as raw descriptors: whole lines, flushed at once, faults told apart.

Above: everything of the command line that writes. `agentframework.cli.record_output` keeps stdout for records only.
"""

import os
import select
import sys

STDERR_PATIENCE_S = 1.0


class OutputError(Exception):
    """stdout cannot be written: a full disk, a closed descriptor."""


class BrokenOutputError(OutputError):
    """Whoever read our stdout is gone (EPIPE)."""


def write_stdout(data: bytes) -> None:
    """Write all of ``data``. Raises `BrokenOutputError` on EPIPE, `OutputError` on any other fault."""
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]
    except OSError as error:
        raise output_error(error) from error


def output_error(error: OSError) -> OutputError:
    """What a fault of the system means for stdout."""
    if isinstance(error, BrokenPipeError):
        return BrokenOutputError("the reader of stdout is gone")
    return OutputError(f"cannot write to stdout: {error.strerror or error}")


def write_stderr(data: bytes) -> None:
    """Write ``data`` if anybody can read it; a stderr that is closed, or read by nobody for a second, is given up."""
    try:
        view = memoryview(data)
        while view and _stderr.takes_more():
            view = view[os.write(2, view[: select.PIPE_BUF]) :]
    except OSError:
        return


class _Stderr:
    """Waits a second for a reader who reads nothing, once; after that only what has room is written."""

    def __init__(self) -> None:
        self._patience_s = STDERR_PATIENCE_S

    def takes_more(self) -> bool:
        if writable(2, self._patience_s):
            return True
        self._patience_s = 0.0
        return False


_stderr = _Stderr()


def writable(descriptor: int, wait_s: float = 0.0) -> bool:
    """Whether `select.PIPE_BUF` bytes can be written without waiting, or would fail at once."""
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    return bool(poll.poll(wait_s * 1000))


def open_missing_descriptors() -> None:
    """Put something in the place of a closed stdin, stdout or stderr, before a file of ours lands there.

    stdin is empty then, stdout fails when written to, and stderr swallows everything.
    """
    for descriptor, mode in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.set_inheritable(os.open(os.devnull, mode), True)


def settle_standard_streams() -> None:
    """Empty Python's own buffers, so that the interpreter finds nothing to complain about when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 2 if stream is sys.stderr else 1)
            os.close(nowhere)
