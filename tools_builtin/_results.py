"""Lists what a search found: within the limits, nothing that may not be read, and saying what is left out."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agentframework.sandbox import OutsideWorkspaceError, Sandbox

from ._lines import PAGE_CHARACTERS, counted
from ._paths import one_line

_NAMED = 5


def unread(names: Sequence[str], count: int) -> str:
    """The note that ``count`` files or directories, ``names`` first, could not be looked into."""
    named = ", ".join(one_line(name)[:200] for name in names[:_NAMED])
    more = f" and {count - _NAMED} more" if count > _NAMED else ""
    return f"not read, for lack of permission or another fault: {named}{more}"


@dataclass(slots=True)
class Listing:
    """Takes lines as long as they fit. ``allowed`` asks the sandbox about each file, once; ``partial``: there is more.

    The sandbox has the last word on every path that is shown, so one that refuses more than places outside
    is obeyed here too.
    """

    sandbox: Sandbox
    limit: int | None
    lines: list[str] = field(default_factory=list[str])
    shown: int = 0
    withheld: int = 0
    partial: bool = False
    _room: int = PAGE_CHARACTERS
    _known: dict[str, bool] = field(default_factory=dict[str, bool])

    def allowed(self, path: str) -> bool:
        """May this absolute path be shown? If not, it is counted as withheld."""
        if path not in self._known:
            try:
                self.sandbox.resolve(path)
                self._known[path] = True
            except OutsideWorkspaceError:
                self._known[path] = False
                self.withheld += 1
        return self._known[path]

    def add(self, line: str, separator: str | None = None) -> bool:
        """False if the listing is full; then ``line`` was not taken. A ``separator`` goes before it."""
        if self.limit is not None and self.shown >= self.limit:
            return False
        needed = len(line) + 1 + (0 if separator is None else len(separator) + 1)
        if needed > self._room:
            return False
        if separator is not None:
            self.lines.append(separator)
        self.lines.append(line)
        self.shown += 1
        self._room -= needed
        return True

    def fill(self, paths: Iterable[tuple[str, str]], line: Callable[[str], str]) -> None:
        """Add ``line(shown)`` for each allowed (absolute path, shown path), until full."""
        for path, shown in paths:
            if self.allowed(path) and not self.add(line(shown)):
                return

    def text(self, notes: Iterable[str]) -> str:
        """Everything, ``notes`` last."""
        every = list(notes)
        if self.withheld:
            what = counted(self.withheld, "file")
            every.append(f"{what} withheld: not within the working directory, or not to be read")
        return "\n".join([*self.lines, *(f"[{note}]" for note in every)])
