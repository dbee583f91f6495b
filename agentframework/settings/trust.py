"""Trust in a project: who has said that its files may be read and what they configure may run.

The decision belongs to the root of a Git working tree. A `ProjectAccess` is worth what its service says at the moment
it is used: a revocation takes it back from everybody who holds it.
"""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, Protocol
from weakref import WeakSet

from agentframework.errors import WorkspaceTrustError
from agentframework.settings.project_files import ProjectFiles
from agentframework.settings.source import shown_path
from agentframework.settings.trust_store import TrustEntry, TrustStore, TrustStoreError
from agentframework.settings.worktree import worktree_root

Status = Literal["trusted", "restricted"]
TrustState = Literal["trusted", "untrusted", "revoked", "identity-unavailable", "store-unavailable"]

_REASONS: Mapping[TrustState, str] = {
    "trusted": "the project was trusted",
    "untrusted": "nobody has said yet whether this project is trusted",
    "revoked": "trust in this project was taken back",
    "identity-unavailable": "the directory is in no Git working tree, so trust has nothing to hold on to",
    "store-unavailable": "the file of trusted projects cannot be used",
}


class AccessHolder(Protocol):
    """Something that uses what a project brings."""

    def access_expired(self) -> None:
        """Let go of it."""
        ...


class ProjectAccess:
    """What a session may do with the project around a directory.

    ``status`` is looked up when asked: ``trusted``, or ``restricted`` with the ``reason``, in which case no file of the
    project is opened. ``root`` is the root of the working tree (None: there is none), ``generation`` the number of the
    decision, ``seen`` the fingerprints kept with it.
    """

    def __init__(
        self,
        service: "WorkspaceTrustService",
        root: str | None,
        entry: TrustEntry | None,
        state: TrustState,
        detail: str,
    ) -> None:
        self._service = service
        self._state: TrustState = state
        self._detail = detail
        self._holders: WeakSet[AccessHolder] = WeakSet()
        self.root = root
        self.generation = 0 if entry is None else entry.generation
        self.decided_at = None if entry is None else entry.decided_at
        self.seen: Mapping[str, str] = {} if entry is None else entry.seen

    @property
    def status(self) -> Status:
        """Whether the project is trusted at this moment."""
        return "trusted" if self.trusted else "restricted"

    @property
    def trusted(self) -> bool:
        """True while the decision holds. Costs one look at the store's file."""
        if self._state == "trusted" and not self._service.still_holds(self):
            self.expire("revoked")
        return self._state == "trusted"

    @property
    def trust_state(self) -> TrustState:
        """Why, as a word."""
        return self._state

    @property
    def reason(self) -> str:
        """Why, as a sentence."""
        text = _REASONS[self._state]
        return f"{text}: {self._detail}" if self._detail else text

    @property
    def display_path(self) -> str | None:
        """The root for people."""
        return None if self.root is None else shown_path(self.root)

    def files(self) -> ProjectFiles:
        """The project's files. Raises `WorkspaceTrustError` without trust."""
        if not self.trusted or self.root is None:
            raise WorkspaceTrustError(f"no file of the project is read: {self.reason}")
        return ProjectFiles(self.root)

    def tell(self, holder: AccessHolder) -> None:
        """Call ``holder.access_expired()`` as soon as this process knows that the trust was taken back. Kept weakly."""
        self._holders.add(holder)

    def expire(self, state: TrustState) -> None:
        """For the service: it does not hold any more."""
        self._state = state
        for holder in tuple(self._holders):
            holder.access_expired()

    def __repr__(self) -> str:
        return f"ProjectAccess(status={self.status!r}, reason={self.reason!r}, root={self.root!r})"


class WorkspaceTrustService:
    """Reads and records decisions in one store. Coroutines do their file work in a thread."""

    def __init__(self, store: TrustStore) -> None:
        self._store = store
        self._issued: WeakSet[ProjectAccess] = WeakSet()

    async def inspect(self, cwd: str | os.PathLike[str]) -> ProjectAccess:
        """What was decided about the project around ``cwd``. Opens none of its files, and never raises for them."""
        return await asyncio.to_thread(self._inspect, cwd)

    async def grant(
        self,
        cwd: str | os.PathLike[str],
        *,
        expected_generation: int | None = None,
        seen: Mapping[str, str] | None = None,
    ) -> ProjectAccess:
        """Record that the user trusts the project: call it only when they have said so. ``seen`` are fingerprints of
        what they were shown.

        Outside a Git working tree nothing is recorded and the access is restricted. Raises `WorkspaceTrustError` if
        the store cannot be written, or ``expected_generation`` is not the one that is found.
        """
        return await asyncio.to_thread(self._grant, cwd, expected_generation, seen)

    async def revoke(self, cwd: str | os.PathLike[str], *, expected_generation: int | None = None) -> ProjectAccess:
        """Take the trust back, at once also from those who hold an access. Raises `WorkspaceTrustError`."""
        access = await asyncio.to_thread(self._revoke, cwd, expected_generation)
        for held in tuple(self._issued):
            if held is not access and held.root == access.root and held.trust_state == "trusted":
                held.expire("revoked")
        return access

    def issued(self, access: object) -> bool:
        """True for an access of this service."""
        return isinstance(access, ProjectAccess) and access in self._issued

    def still_holds(self, access: ProjectAccess) -> bool:
        """True if the store still says so."""
        if access.root is None or access not in self._issued:
            return False
        try:
            entry = self._store.entry(access.root)
        except TrustStoreError:
            return False
        return entry is not None and entry.state == "trusted" and entry.generation >= access.generation

    def _inspect(self, cwd: str | os.PathLike[str]) -> ProjectAccess:
        root = worktree_root(cwd)
        if root is None:
            return self._access(None, None, "identity-unavailable")
        try:
            entry = self._store.entry(root)
        except TrustStoreError as error:
            return self._access(root, None, "store-unavailable", f"{self._store.path}: {error}")
        return self._access(root, entry, "untrusted" if entry is None else entry.state)

    def _grant(
        self, cwd: str | os.PathLike[str], expected: int | None, seen: Mapping[str, str] | None
    ) -> ProjectAccess:
        root = worktree_root(cwd)
        if root is None:
            return self._access(None, None, "identity-unavailable")
        return self._access(root, self._store.decide(root, "trusted", expected=expected, seen=seen), "trusted")

    def _revoke(self, cwd: str | os.PathLike[str], expected: int | None) -> ProjectAccess:
        root = worktree_root(cwd)
        if root is None:
            return self._access(None, None, "identity-unavailable")
        return self._access(root, self._store.decide(root, "revoked", expected=expected), "revoked")

    def _access(self, root: str | None, entry: TrustEntry | None, state: TrustState, detail: str = "") -> ProjectAccess:
        access = ProjectAccess(self, root, entry, state, detail)
        self._issued.add(access)
        return access


def create_workspace_trust_service(store_path: str | os.PathLike[str]) -> WorkspaceTrustService:
    """A trust service that keeps its decisions in ``store_path``, which need not exist."""
    return WorkspaceTrustService(TrustStore(Path(store_path).expanduser()))
