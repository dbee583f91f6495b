"""What stdin is: a person's terminal, or text piped into the command.

An open pipe that stays silent must not hang a run that has its prompt.
"""

import os
import select
import stat
import sys
import time

FIRST_BYTE_S = 1.0
NEXT_BYTES_S = 5.0
MAX_BYTES = 10 * 1024 * 1024


def piped_text(*, patient: bool) -> str:
    """What is on stdin: a file, or a pipe's text up to its end; nothing for a terminal or a closed stdin.

    ``patient`` waits for a pipe's end however long it takes (there is no other prompt); otherwise a pipe gets
    one second for its first byte and five for each further piece. At most 10 MiB are read.
    """
    descriptor = 0
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return ""
    if os.isatty(descriptor):
        return ""
    waits = not (patient or stat.S_ISREG(mode) or os.name == "nt")
    return _read(descriptor, waits).decode("utf-8", "replace")


def person_is_there() -> bool:
    """True if stdin and stdout are a terminal, so that somebody can read a question and answer it."""
    try:
        return sys.stdin is not None and os.isatty(0) and os.isatty(1)
    except OSError:
        return False


def _read(descriptor: int, waits: bool) -> bytes:
    pieces: list[bytes] = []
    size, wait_s = 0, FIRST_BYTE_S
    while size < MAX_BYTES:
        if waits and not _ready(descriptor, wait_s):
            break
        try:
            piece = os.read(descriptor, 65_536)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
        size += len(piece)
        wait_s = NEXT_BYTES_S
    return b"".join(pieces)


def _ready(descriptor: int, wait_s: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    deadline = time.monotonic() + wait_s
    while (left := deadline - time.monotonic()) > 0:
        if poll.poll(left * 1000):
            return True
    return False
