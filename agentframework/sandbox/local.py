"""The machine itself, with file access confined to given roots."""

import errno
import os
from collections.abc import Iterable

from agentframework.errors import ConfigurationError
from agentframework.sandbox.protocol import OutsideWorkspaceError, ResolvedPath


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
        """See `Sandbox.resolve`. Compares path components, never text prefixes."""
        cwd = self._roots[0]
        if not path or "\0" in path:
            raise OutsideWorkspaceError("the path is empty or holds a NUL character")
        real = os.path.realpath(os.path.join(cwd, path))
        try:
            os.stat(real)
        except OSError as error:
            # realpath gives up on link loops without saying so; a loop must not pass as a missing file.
            if error.errno == errno.ELOOP:
                raise OutsideWorkspaceError(f"{path} is a loop of links") from None
        if not any(is_within(real, root) for root in self._roots):
            raise OutsideWorkspaceError(f"{path} is outside the working directory {cwd}")
        shown = os.path.relpath(real, cwd) if is_within(real, cwd) else real
        return ResolvedPath(real, shown)


def is_within(path: str, root: str) -> bool:
    """True if ``path`` is ``root`` or below it; both absolute and canonical."""
    return path == root or path.startswith(root if root.endswith(os.sep) else root + os.sep)


def _directory(place: str | os.PathLike[str], field: str) -> str:
    shown: str = os.fspath(place)
    real = os.path.realpath(shown)
    if not os.path.isdir(real):
        kind = "is not a directory" if os.path.exists(real) else "does not exist"
        raise ConfigurationError(
            f"{field}: {shown!r} {kind}", details={"field": field, "path": shown}
        )
    return real
