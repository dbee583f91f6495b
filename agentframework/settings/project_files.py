"""The files of one project, opened below its root and nowhere else.

Every step from the root down is opened without following links; a link is followed by working out first where it
leads, and only if that is inside. Nothing here decides whether the project may be read: see
`agentframework.settings.trust`.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

from agentframework.sandbox import is_within

MAX_BYTES = 4 * 1024 * 1024
_STEP = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ProjectFileError(Exception):
    """A file of the project that must not or cannot be read; ``str()`` says why."""


class ProjectFiles:
    """Reads below ``root``, which is absolute and canonical."""

    def __init__(self, root: str) -> None:
        self.root = root

    def real(self, path: str) -> str | None:
        """Where ``path`` (absolute, or relative to the root) leads; None if that is outside the root."""
        real = os.path.realpath(os.path.join(self.root, path))
        return real if is_within(real, self.root) else None

    def read(self, path: str, limit: int = MAX_BYTES) -> bytes | None:
        """The content of ``path``; None if there is no such file. Raises `ProjectFileError`."""
        real = self.real(path)
        if real is None:
            raise ProjectFileError("it is a link that leads out of the project")
        try:
            with self._opened(os.path.dirname(real)) as directory:
                fd = os.open(os.path.basename(real), _FILE, dir_fd=directory)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise ProjectFileError(f"it cannot be opened: {error.strerror}") from error
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise ProjectFileError("it is no regular file")
            data = file.read(limit + 1)
        if len(data) > limit:
            raise ProjectFileError(f"it is larger than {limit} bytes")
        return data

    def stamp(self, path: str) -> tuple[int, ...] | None:
        """What changes when the file does; None if there is none. Opens nothing."""
        try:
            found = os.stat(os.path.join(self.root, path))
        except (OSError, ValueError):
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    @contextmanager
    def _opened(self, directory: str) -> Iterator[int]:
        """A descriptor of a directory below the root, reached step by step."""
        fd = os.open(self.root, _STEP)
        try:
            for part in os.path.relpath(directory, self.root).split(os.sep):
                if part != os.curdir:
                    inner = os.open(part, _STEP, dir_fd=fd)
                    os.close(fd)
                    fd = inner
            yield fd
        finally:
            os.close(fd)
