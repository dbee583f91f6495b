"""Replaces a small file as a whole, under a lock that other processes keep too.

Whoever reads at any moment finds the old content or the new one; whoever writes reads first, under the lock.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

LOCK_WAIT_S = 20.0
PRIVATE = 0o600


@contextmanager
def locked(path: Path, wait_s: float = LOCK_WAIT_S) -> Iterator[None]:
    """Hold the lock of ``path``, a file beside it. Folders are made. Raises ``OSError``, in time."""
    from filelock import FileLock, Timeout  # noqa: PLC0415 - a session that writes no settings needs none

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Not a singleton: two threads of this process are kept apart as well.
    lock = FileLock(f"{path}.lock", timeout=wait_s, mode=PRIVATE, thread_local=False, is_singleton=False)
    try:
        lock.acquire()
    except Timeout:
        raise TimeoutError(f"somebody else has been changing it for {wait_s:g} s") from None
    try:
        yield
    finally:
        lock.release()


def replace_text(path: Path, text: str, mode: int = PRIVATE) -> None:
    """Make ``text`` the content of ``path``; a file that was there keeps its mode. Raises ``OSError``."""
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode & 0o777
    temporary = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(6)}.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    try:
        with os.fdopen(fd, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(fd)
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
