"""One writer for a file: a lock that the operating system gives up when its owner dies, however it dies."""

import os
import sys
from pathlib import Path

from agentframework.errors import SessionLockedError

if sys.platform == "win32":
    import msvcrt

    # A lock covers bytes; one far behind the end of any journal hinders nobody who reads.
    _FAR = 1 << 62

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _FAR, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def lock_for_writing(descriptor: int, path: Path) -> None:
    """Lock an open file until it is closed; a second opener in this process counts as somebody else.

    Raises `SessionLockedError`.
    """
    try:
        _lock(descriptor)
    except OSError as error:
        raise SessionLockedError(
            f"the session in {path.name} is open elsewhere, in this process or another; close it there, or fork it",
            details={"path": str(path), "session_id": path.stem},
        ) from error
