"""The machine itself, with file access confined to given roots."""

import errno
import os
from collections.abc import Iterable
from sys import intern

from agentframework.errors import ConfigurationError
from agentframework.sandbox.protocol import OutsideWorkspaceError, ResolvedPath

_O_PATH: int | None = getattr(os, "O_PATH", None)


class LocalSandbox:
    """Paths under ``cwd`` and ``additional_directories``. Raises `ConfigurationError` if one is no directory."""

    __slots__ = ("_roots", "shell_directory")

    def __init__(self, cwd: str | os.PathLike[str], additional_directories: Iterable[str | os.PathLike[str]] = ()):
        additional = (_directory(place, "additional_directories") for place in additional_directories)
        self._roots = (_directory(cwd, "cwd"), *additional)
        self.shell_directory = self._roots[0]

    @property
    def roots(self) -> tuple[str, ...]:
        """Canonical roots, the working directory first."""
        return self._roots

    def resolve(self, path: str) -> ResolvedPath:
        """See `Sandbox.resolve`. Compares path components, never text prefixes.

        Searches ask about every file they find: this costs a few microseconds for one that exists.
        """
        cwd = self._roots[0]
        if not path or "\0" in path:
            raise OutsideWorkspaceError("the path is empty or holds a NUL character")
        real = _real_path(os.path.join(cwd, path))
        if real is None:
            raise OutsideWorkspaceError(f"{path} is a loop of links")
        if is_within(real, cwd):
            return ResolvedPath(real, real[len(cwd) :].lstrip(os.sep) or ".")
        if not any(is_within(real, root) for root in self._roots):
            raise OutsideWorkspaceError(f"{path} is outside the working directory {cwd}")
        return ResolvedPath(real, real)


def is_within(path: str, root: str) -> bool:
    """True if ``path`` is ``root`` or below it; both absolute and canonical."""
    return path == root or path.startswith(_prefix(root))


def _prefix(root: str) -> str:
    return root if root.endswith(os.sep) else root + os.sep


def _real_path(path: str) -> str | None:
    """The canonical path, also of what does not exist; None for a loop of links."""
    if _O_PATH is not None:
        found = _told_by_kernel(path, _O_PATH)
        if found is not None:
            return found
    real = os.path.realpath(path)
    try:
        os.stat(real)
    except OSError as error:
        # realpath gives up on link loops without saying so; a loop must not pass as a missing file.
        if error.errno == errno.ELOOP:
            return None
    return real


def _told_by_kernel(path: str, flag: int) -> str | None:
    """Where Linux itself ends up, in three system calls; None if it cannot say, or not for certain.

    A descriptor opened with ``O_PATH`` reads nothing and waits for nobody; ``readlink`` of it is the path (proc(5)).
    """
    try:
        fd = os.open(path, flag | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        real = os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return None
    finally:
        os.close(fd)
    # Removed meanwhile, or no file at all, as in `pipe:[123]` and `(unreachable)/...`.
    return None if real.endswith(" (deleted)") or not real.startswith("/") else real


def _directory(place: str | os.PathLike[str], field: str) -> str:
    shown: str = os.fspath(place)
    real = intern(os.path.realpath(shown))  # a host may have thousands of sessions in one directory
    if not os.path.isdir(real):
        kind = "is not a directory" if os.path.exists(real) else "does not exist"
        raise ConfigurationError(
            f"{field}: {shown!r} {kind}", details={"field": field, "path": shown}
        )
    return real
