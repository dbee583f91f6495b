"""The process's stdout and stderr, as raw descriptors: whole lines, flushed at once, faults told apart."""

import os


class OutputError(Exception):
    """stdout cannot be written: a full disk, a closed descriptor."""


class BrokenOutputError(OutputError):
    """Whoever read our stdout is gone (EPIPE)."""


def write_stdout(data: bytes) -> None:
    """Write all of ``data``. Raises `BrokenOutputError` on EPIPE, `OutputError` on any other fault."""
    try:
        _write_all(1, data)
    except BrokenPipeError as error:
        raise BrokenOutputError("the reader of stdout is gone") from error
    except OSError as error:
        raise OutputError(f"cannot write to stdout: {error.strerror or error}") from error


def write_stderr(data: bytes) -> None:
    """Write ``data`` if anybody can read it; a closed stderr is nobody's fault."""
    try:
        _write_all(2, data)
    except OSError:
        return


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
