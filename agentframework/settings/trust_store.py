"""The file that keeps which projects are trusted: JSON, readable by its owner only, changed under a lock.

Each entry has a generation that grows with every decision, so that a decision taken on an old view is refused.
"""

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, cast

from agentframework.errors import WorkspaceTrustError
from agentframework.settings.atomic import PRIVATE, locked, replace_text

State = Literal["trusted", "revoked"]
_VERSION = 1


@dataclass(frozen=True, slots=True)
class TrustEntry:
    """What was decided about one project. ``seen`` are fingerprints of what it would run, as shown at the time."""

    state: State
    generation: int
    decided_at: str
    seen: Mapping[str, str] = field(default_factory=dict[str, str])


class TrustStoreError(Exception):
    """The store cannot be used; ``str()`` says why."""


class TrustStore:
    """The decisions in ``path``; a missing file holds none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._cached: tuple[tuple[int, ...] | None, dict[str, TrustEntry]] | None = None

    def entry(self, root: str) -> TrustEntry | None:
        """The decision about a project. Reads the file only if it has changed. Raises `TrustStoreError`."""
        stamp = self._stamp()
        if self._cached is None or self._cached[0] != stamp:
            self._cached = (stamp, self._read())
        return self._cached[1].get(root)

    def decide(
        self, root: str, state: State, *, expected: int | None = None, seen: Mapping[str, str] | None = None
    ) -> TrustEntry:
        """Record a decision. Raises `WorkspaceTrustError` if it cannot be kept, or if the generation is not the
        ``expected`` one because somebody else has decided meanwhile."""
        try:
            with locked(self.path):
                entries = self._read()
                before = entries.get(root)
                generation = 0 if before is None else before.generation
                if expected is not None and expected != generation:
                    raise WorkspaceTrustError(
                        f"the decision about {root} has changed meanwhile; look again before you decide",
                        details={"path": str(self.path), "expected": expected, "found": generation},
                    )
                kept = seen if seen is not None else before.seen if before is not None else {}
                entry = TrustEntry(state, generation + 1, datetime.now(UTC).isoformat(timespec="seconds"), kept)
                entries[root] = entry
                self._write(entries)
        except (OSError, TrustStoreError) as error:
            raise WorkspaceTrustError(
                f"the decision cannot be kept in {self.path}: {error}", details={"path": str(self.path)}
            ) from error
        self._cached = None
        return entry

    def _stamp(self) -> tuple[int, ...] | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise TrustStoreError(f"it cannot be read: {error.strerror}") from error
        return found.st_ino, found.st_size, found.st_mtime_ns

    def _read(self) -> dict[str, TrustEntry]:
        try:
            with self.path.open("rb") as file:
                _check_owner(os.fstat(file.fileno()))
                raw: object = json.loads(file.read().decode("utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise TrustStoreError(f"it cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            raise TrustStoreError(f"it is damaged: {error}") from error
        projects = cast("Mapping[str, object]", raw).get("workspaces") if isinstance(raw, Mapping) else None
        if not isinstance(projects, Mapping):
            raise TrustStoreError("it is damaged: there is no object of workspaces in it")
        return {root: _entry(root, value) for root, value in cast("Mapping[str, object]", projects).items()}

    def _write(self, entries: Mapping[str, TrustEntry]) -> None:
        projects = {
            root: {
                "state": entry.state,
                "generation": entry.generation,
                "decided_at": entry.decided_at,
                "seen": dict(entry.seen),
            }
            for root, entry in sorted(entries.items())
        }
        replace_text(self.path, json.dumps({"version": _VERSION, "workspaces": projects}, indent=2) + "\n")
        self.path.chmod(PRIVATE)


def _check_owner(found: os.stat_result) -> None:
    if found.st_mode & stat.S_IWOTH:
        raise TrustStoreError("everybody may write to it; take that right away (chmod 600)")


def _entry(root: str, raw: object) -> TrustEntry:
    given = cast("Mapping[str, Any]", raw) if isinstance(raw, Mapping) else {}
    state, generation, seen = given.get("state"), given.get("generation"), given.get("seen", {})
    if state not in ("trusted", "revoked") or not isinstance(generation, int) or not isinstance(seen, Mapping):
        raise TrustStoreError(f"it is damaged: the entry of {root} cannot be understood")
    return TrustEntry(state, generation, str(given.get("decided_at", "")), dict(cast("Mapping[str, str]", seen)))
