"""Where things run and which paths are within reach.

Tools reach the machine through a sandbox only. The local one confines paths to the session's roots; a remote
one has a filesystem of its own.
"""

from dataclasses import dataclass
from typing import Protocol


class OutsideWorkspaceError(Exception):
    """A path leads outside the roots; ``str()`` is the sentence for the model."""


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A path within reach: ``path`` is absolute with every link resolved, ``shown`` is how to name it."""

    path: str
    shown: str


class Sandbox(Protocol):
    """What tools may ask of their surroundings."""

    @property
    def roots(self) -> tuple[str, ...]:
        """Canonical directories that file tools may touch; the first is the working directory."""
        ...

    shell_directory: str
    """Where the shell of this session stands; the working directory until a command moves it."""

    def resolve(self, path: str) -> ResolvedPath:
        """The real place of ``path`` (relative to the working directory; links followed, also dangling ones).

        Raises `OutsideWorkspaceError` if it is not inside a root.
        """
        ...
