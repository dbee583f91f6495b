"""Where results go that are too long for the model: files of their own, until the session ends.

The model gets head and tail and the path, and reads on with the tools that it has for files. The files lie outside of
the workspace, so nothing of it changes; `SpillSandbox` lets reading tools in.
"""

import os
import secrets
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable

from agentframework.sandbox import ResolvedPath, Sandbox

MAX_FILE_BYTES = 64 << 20
MAX_BYTES = 256 << 20

Spill = Callable[[str], str | None]
"""Keeps a text and says where; None if it could not be kept."""

_keeping = threading.Lock()  # one for all stores: sessions are many, spilled results few


class SpillStore:
    """The spilled results of one session, in a directory only its user may look into. Safe to use from threads.

    Nothing is made before the first result is kept. What is beyond `MAX_FILE_BYTES` of one text is left out, and what
    is beyond `MAX_BYTES` in all is not kept. A store that is never closed is removed when the program ends.
    """

    __slots__ = ("__weakref__", "_bytes", "_directory", "_parent")

    def __init__(self, parent: str | None = None) -> None:
        self._parent = parent
        self._directory: str | None = None
        self._bytes = 0  # kept so far; more than fits once the store is closed

    @property
    def directory(self) -> str | None:
        """Canonical path of the directory, once there is one."""
        return self._directory

    def keep(self, text: str) -> str | None:
        """Write ``text`` to a new file; its path, or None if there is no room or the disk refuses."""
        data = text[:MAX_FILE_BYTES].encode("utf-8", "replace")[:MAX_FILE_BYTES]
        with _keeping:
            if self._bytes + len(data) > MAX_BYTES:
                return None
            try:
                path = os.path.join(self._made(), f"result-{secrets.token_hex(4)}.txt")
                with open(path, "xb", opener=_private) as file:
                    file.write(data)
            except OSError:
                return None
            self._bytes += len(data)
            return path

    def _made(self) -> str:
        if self._directory is None:
            self._directory = os.path.realpath(tempfile.mkdtemp(prefix="agentframework-results-", dir=self._parent))
            weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)
        return self._directory

    def close(self) -> None:
        """Remove everything. May be called many times; nothing is kept afterwards."""
        with _keeping:
            self._bytes = MAX_BYTES + 1
            if self._directory is not None:
                shutil.rmtree(self._directory, ignore_errors=True)


class SpillSandbox:
    """``sandbox`` with the spilled results within reach: for tools that only read."""

    def __init__(self, sandbox: Sandbox, store: SpillStore) -> None:
        self._sandbox = sandbox
        self._store = store
        self.shell_directory = sandbox.shell_directory

    @property
    def roots(self) -> tuple[str, ...]:
        """Those of the sandbox."""
        return self._sandbox.roots

    def resolve(self, path: str) -> ResolvedPath:
        """See `Sandbox.resolve`."""
        directory = self._store.directory
        if directory is not None and path.startswith(directory) and "\0" not in path:
            real = os.path.realpath(path)
            if real.startswith(directory + os.sep):
                return ResolvedPath(real, real)
        return self._sandbox.resolve(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
