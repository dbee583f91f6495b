"""What a shell wildcard stands for at this moment, within bounds."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import iglob
from itertools import islice

_MOST_MATCHES = 1_000


@dataclass(frozen=True, slots=True)
class Expansion:
    """``folder`` is where the first component with a wildcard is looked for, ``rest`` are the components from it on.

    ``matches`` are the paths that fit now (relative as the pattern is), None if they are too many to be told or the
    pattern climbs up again behind a wildcard, or may do so (``.*``, in shells older than bash 5.2).
    """

    folder: str
    rest: tuple[str, ...]
    matches: Sequence[str] | None


def expand(path: str, directory: str) -> Expansion:
    """Look up ``path``, which holds ``* ? [`` wildcards, from ``directory``."""
    parts = path.split("/")
    first = next((number for number, part in enumerate(parts) if has_wildcard(part)), len(parts))
    folder = "/".join(parts[:first]) or ("/" if path.startswith("/") else ".")
    rest = tuple(part for part in parts[first:] if part not in ("", "."))
    if ".." in rest or any(part.startswith(".") and fnmatchcase("..", part) for part in rest):
        return Expansion(folder, rest, None)
    matches = list(islice(iglob(path, root_dir=directory), _MOST_MATCHES + 1))
    return Expansion(folder, rest, matches if len(matches) <= _MOST_MATCHES else None)


def has_wildcard(part: str) -> bool:
    """True if a component may stand for several names."""
    return any(mark in part for mark in "*?[")


def leads_elsewhere(match: str, expansion: Expansion, directory: str) -> bool:
    """True if a match may lie somewhere else than its text says: in one folder only links can."""
    return len(expansion.rest) > 1 or os.path.islink(os.path.join(directory, match))
