"""Whether what a command names lies inside the working directories."""

from dataclasses import dataclass
from functools import cached_property

from agentframework.permissions.shell.model import Word
from agentframework.permissions.shell_files import known_path
from agentframework.permissions.subject import Surroundings
from agentframework.permissions.wildcards import expand, leads_elsewhere

_STREAMS = frozenset({"-", "/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"})


@dataclass(frozen=True)
class Place:
    """Where a command runs: one of these directories (none: not known)."""

    around: Surroundings
    directories: tuple[str, ...]

    @cached_property
    def stands_inside(self) -> bool:
        """True if the directory is known and inside, whichever it is."""
        return bool(self.directories) and all(self.around.forms(one).inside for one in self.directories)

    def moved(self, target: str) -> "Place":
        """The same, seen from ``target``."""
        return Place(self.around, tuple(self.around.forms_in_shell(target, one).real for one in self.directories))

    def is_inside(self, word: Word) -> bool:
        """True if the file that ``word`` names is inside, links followed; also for a standard stream."""
        if word.stream:
            return True
        path = known_path(word, self.around)
        if path is None or not self.directories:
            return False
        if not word.glob:
            return path in _STREAMS or all(self.around.forms_in_shell(path, one).inside for one in self.directories)
        return all(self._matches_inside(path, one) for one in self.directories)

    def _matches_inside(self, path: str, directory: str) -> bool:
        found = expand(path, directory)
        if found.matches is None or not self.around.forms_in_shell(found.folder, directory).inside:
            return False
        return all(
            self.around.forms_in_shell(match, directory).inside
            for match in found.matches
            if leads_elsewhere(match, found, directory)
        )

    def may_be_value(self, word: Word) -> bool:
        """True for the value of an option that is no file, or at least none elsewhere."""
        value = word.value
        if value is None:
            return False
        looks_like_path = value.startswith(("/", "~")) or ".." in value.split("/")
        return value == "/" or not looks_like_path or self.is_inside(word)
