"""A session's journal: what is said and done is written down as it happens, and resumed from.

Recording never waits: records are queued and one task hands them to the store in order. A turn waits for that task,
and for the disk, before it is reported complete. A store that fails is reported once and asked again with the next
record; the conversation goes on without it.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol

from agentframework._base.clock import now
from agentframework._base.owner import TaskOwner
from agentframework.errors import ConfigurationError
from agentframework.messages import HistoryEntry, Message
from agentframework.stores.port import (
    JournalStore,
    Record,
    SessionState,
    SessionStatus,
    create_initial_session_state,
)
from agentframework.stores.records import (
    Restored,
    boundary_record,
    entry_record,
    keep_record,
    leave_record,
    message_record,
    restore,
    state_record,
    turn_record,
)

# Bound to what went on: a fork begins without them.
_NOT_FORKED = ("goal", "plan", "branch")


@dataclass(frozen=True, slots=True)
class StoreOptions:
    """Where a session is kept, and which one it continues. ``resume`` is an id; ``fork`` copies it under a new one."""

    store: JournalStore
    name: str | None = None
    resume: str | None = None
    fork: bool = False


class TurnJournal(Protocol):
    """What is told of turns."""

    def turn_started(self, turn_id: str) -> None:
        """A turn begins."""
        ...

    async def turn_ended(self, status: SessionStatus) -> None:
        """Return when all of the turn is as safe as it gets."""
        ...

    async def safe(self) -> None:
        """Return when all until now is as safe as it gets."""
        ...


class NoJournal:
    """Of a session that is stored nowhere."""

    __slots__ = ()

    def opening(self) -> AbstractAsyncContextManager[Any]:
        """Nothing that could be in the way of another beginning."""
        return nullcontext()

    async def open(self) -> Restored | None:
        """There is nothing to resume."""
        return None

    async def close(self) -> None:
        """Nothing to write."""

    def turn_started(self, turn_id: str) -> None:
        """Nothing to write."""

    async def turn_ended(self, status: SessionStatus) -> None:
        """Nothing to wait for."""

    async def safe(self) -> None:
        """Nothing to wait for."""


NOT_STORED = NoJournal()


class SessionJournal:
    """Writes one session to a store."""

    def __init__(
        self, options: StoreOptions, session_id: str, cwd: str, owner: TaskOwner, warn: Callable[[str, str], object]
    ) -> None:
        self._options = options
        self._store = options.store
        self._owner = owner
        self._warn = warn
        self.state = create_initial_session_state(session_id, cwd=cwd, name=options.name)
        self.kept: dict[str, Any] = {}
        self.turn_id: str | None = None
        self._pending: list[Record] = []
        self._writing: asyncio.Task[None] | None = None
        self._stored = False
        self._failed = False
        self._last_message: str | None = None
        self._opening = asyncio.Lock()

    def opening(self) -> AbstractAsyncContextManager[Any]:
        """Held while the session begins, which takes time and may be asked for from several sides."""
        return self._opening

    # --- beginning and end -------------------------------------------------------------------------------

    async def open(self) -> Restored | None:
        """Become the session's writer; what is resumed, or None for a new session.

        Raises `SessionNotFoundError`, `SessionLockedError`, or `ConfigurationError` if it belongs to another directory.
        """
        resume = self._options.resume
        if resume is None:
            return None
        if self._options.fork:
            return await self._fork(resume)
        await self._store.acquire(resume)
        try:
            restored = await self._restored(resume)
            self._check_cwd(restored.state)
        except BaseException:
            await self._store.release(resume)
            raise
        name = self.state.name
        self.state, self.kept, self._stored = restored.state, dict(restored.kept), True
        if name:
            self._patch(name=name)
        return restored

    async def _restored(self, session_id: str) -> Restored:
        restored = restore(session_id, await self._store.read(session_id, live=True))
        for problem in restored.problems:
            self._warn(f"session {session_id}: {problem}", "store")
        return restored

    async def _fork(self, source: str) -> Restored:
        restored = await self._restored(source)
        self.kept = {key: value for key, value in restored.kept.items() if key not in _NOT_FORKED}
        metadata = {**restored.state.metadata, "forked_from": source}
        name = self.state.name or restored.state.name
        self.state = self.state.patched({"name": name, "tags": restored.state.tags, "metadata": metadata})
        self._record(boundary_record("fork", restored.messages, self.state, self.kept))
        for entry in restored.entries:
            self._record(entry_record(entry))
        return restored

    def _check_cwd(self, stored: SessionState) -> None:
        if stored.cwd in (None, self.state.cwd):
            return
        raise ConfigurationError(
            f"session {stored.session_id} belongs to {stored.cwd}, not {self.state.cwd}; resume it there, or fork it",
            details={"field": "resume_session_id", "cwd": stored.cwd},
        )

    async def close(self) -> None:
        """Everything on disk, the lock given up."""
        await self.settle()
        if self._stored:
            await self._guarded(self._store.release(self.state.session_id))

    # --- what happens ------------------------------------------------------------------------------------

    def appended(self, message: Message) -> None:
        """A message joined the conversation."""
        self._record(message_record(message, self.turn_id))
        self._last_message = message.id

    def entered(self, entry: HistoryEntry) -> None:
        """An entry joined the timeline."""
        message_id = getattr(entry.data, "id", None)
        same = message_id is not None and message_id == self._last_message
        self._record(entry_record(entry, self.turn_id, ref=message_id if same else None))

    def withdrawn(self, message_ids: Sequence[str]) -> None:
        """Messages are not sent again."""
        if message_ids:
            self._record(leave_record(message_ids))

    def restarted(self, reason: str, messages: Sequence[Message]) -> None:
        """The conversation goes on from ``messages`` alone."""
        if self._stored or self._pending:
            self._record(boundary_record(reason, messages, self.state, self.kept))
            if self.turn_id is not None:  # who reads from here on is to know that it has not ended
                self._record(turn_record(self.turn_id, "start"))

    def keep(self, key: str, value: Any) -> None:
        """Remember a value of an ability."""
        self.kept[key] = value
        self._record(keep_record(key, value))

    def rename(self, name: str | None) -> None:
        """Give the session a name."""
        self._patch(name=name)

    def turn_started(self, turn_id: str) -> None:
        """A turn begins; the session is worth keeping from now on."""
        self.turn_id = turn_id
        self._record(turn_record(turn_id, "start"))

    async def turn_ended(self, status: SessionStatus) -> None:
        """Return when all of the turn is on disk, or the store's failure has been reported."""
        if self.turn_id is not None:
            self._record(turn_record(self.turn_id, "end", status=status))
            self.turn_id = None
            self.state = self.state.patched({"status": status})
        await self.safe()

    async def safe(self) -> None:
        """Return when everything is on disk, or the store's failure has been reported."""
        await self.settle()
        if self._stored:
            await self._guarded(self._store.sync(self.state.session_id))

    # --- writing -----------------------------------------------------------------------------------------

    def _patch(self, **patch: Any) -> None:
        self.state = self.state.patched(patch)
        self._record(state_record({**patch, "updated_at": now()}))

    def _record(self, record: Record) -> None:
        self._pending.append(record)
        if self._writing is None:
            self._writing = self._owner.start(self._write(), "session store")

    async def _write(self) -> None:
        try:
            while self._pending and await self._guarded(self._hand_over()):
                pass
        finally:
            self._writing = None

    async def _hand_over(self) -> None:
        records = list(self._pending)
        if not self._stored:
            await self._store.create(self.state)
            await self._store.acquire(self.state.session_id)
            self._stored = True
        await self._store.append(self.state.session_id, records)
        del self._pending[: len(records)]
        self._failed = False

    async def _guarded(self, work: Any) -> bool:
        try:
            await work
        except Exception as error:
            if not self._failed:
                self._failed = True
                self._warn(f"the session cannot be stored: {type(error).__name__}: {error}", "store")
            return False
        return True

    async def settle(self) -> None:
        """Return when nothing waits to be written, or the store has failed."""
        if self._writing is None and self._pending:
            self._writing = self._owner.start(self._write(), "session store")
        if self._writing is not None:
            await asyncio.wait([self._writing])
