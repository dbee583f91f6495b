"""Remembers what each session knows of which file, so that nobody's work is overwritten unseen.

The evidence is the content: a changed timestamp over the same bytes is no change, and changed bytes under a
restored timestamp are one. Shared by Read, Write and Edit of one set of tools.
"""

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

MAX_SESSIONS = 1_000
MAX_FILES = 10_000

# For the whole process: two sessions that write one file must not overtake each other either.
_WRITERS = tuple(threading.Lock() for _ in range(64))


class Digest(Protocol):
    """A running hash."""

    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...


def new_digest() -> Digest:
    """The hash that stands for a file's content."""
    return hashlib.blake2b(digest_size=16)


def digest_of(data: bytes) -> bytes:
    """The digest of a whole content."""
    digest = new_digest()
    digest.update(data)
    return digest.digest()


class FileLedger:
    """Session id → canonical path → digest of the content that session last read or wrote.

    Bounded: of more than `MAX_FILES` files in one session, or `MAX_SESSIONS` sessions, those not touched for
    longest are forgotten, and a forgotten file counts as unread. May be used from several threads.
    """

    def __init__(self) -> None:
        self._sessions: OrderedDict[str, OrderedDict[str, bytes]] = OrderedDict()
        self._lock = threading.Lock()

    def remember(self, session_id: str, path: str, digest: bytes) -> None:
        """This session has now seen all of this content."""
        with self._lock:
            files = self._sessions.setdefault(session_id, OrderedDict())
            self._sessions.move_to_end(session_id)
            files[path] = digest
            files.move_to_end(path)
            if len(files) > MAX_FILES:
                files.popitem(last=False)
            if len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)

    def known(self, session_id: str, path: str) -> bytes | None:
        """The digest this session last saw, or None if it has not read the file."""
        with self._lock:
            return self._sessions.get(session_id, {}).get(path)

    def forget_file(self, session_id: str, path: str) -> None:
        """The session knows that this file is gone."""
        with self._lock:
            self._sessions.get(session_id, {}).pop(path, None)

    def forget(self, session_id: str) -> None:
        """The session is over."""
        with self._lock:
            self._sessions.pop(session_id, None)

    @contextmanager
    def writing(self, path: str) -> Iterator[None]:
        """One writer of a path at a time: between reading a file and replacing it, no other tool of ours may."""
        with _WRITERS[hash(path) % len(_WRITERS)]:
            yield
