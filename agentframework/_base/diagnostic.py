"""Something worth telling about a file or an entry of one: what settings, skills, plugins and servers report.

Lowest of all, so that every part can use the one type.
"""

from dataclasses import dataclass
from typing import Literal

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding. ``source`` is the part that tells (``settings``, ``instructions``, ``hooks`` …); ``path`` is the
    file, ``line`` counts from 1 (None: not known, or no file at all)."""

    level: Level
    source: str
    message: str
    path: str | None = None
    line: int | None = None

    @property
    def place(self) -> str:
        """``file line n``, as far as it is known; empty without a file."""
        if self.path is None:
            return ""
        return self.path if self.line is None else f"{self.path} line {self.line}"

    def __str__(self) -> str:
        return f"{self.level}: {self.place}: {self.message}" if self.place else f"{self.level}: {self.message}"
