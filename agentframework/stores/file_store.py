"""`JsonlSessionStore`: one journal a session in a directory, which is all that a session leaves behind.

``<id>.jsonl`` is the journal (0600); ``<id>.payloads/`` holds its large values and ``<id>.index.json`` what listings
show. The directory is made with mode 0700.
"""

import asyncio
import os
import shutil
from builtins import list as List
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentframework.errors import SessionExistsError, SessionNotFoundError
from agentframework.stores.journal import Fault, JournalWriter, read_journal
from agentframework.stores.listing import index_path, read_summary, write_index
from agentframework.stores.placeholders import without_binary
from agentframework.stores.port import Record, SessionState, SessionSummary, check_session_id
from agentframework.stores.reader import Records
from agentframework.stores.records import (
    Restored,
    boundary_record,
    message_record,
    restore,
    session_record,
    state_record,
)
from agentframework.stores.redact import redact
from agentframework.stores.summaries import page, summary_of, title_of


class _Open:
    """A journal that this store writes, and what is known of it without reading it again."""

    __slots__ = ("acquired", "message_ids", "state", "title", "turns", "writer")

    def __init__(self, writer: JournalWriter, known: Restored, title: str = "") -> None:
        self.writer = writer
        self.state = known.state
        self.message_ids = [message.id for message in known.messages]
        self.turns = known.turns
        self.title = title
        self.acquired = False

    def add(self, records: Sequence[Record]) -> None:
        """Write ``records`` and remember what they change."""
        self.writer.append(records)
        self.title = self.title or title_of(records)
        for record in records:
            self._note(record)

    def _note(self, record: Record) -> None:
        match record["kind"]:
            case "state":
                self.state = self.state.patched(record["patch"])
            case "turn":
                started = record["phase"] == "start"
                self.turns += started
                self.state = self.state.patched(
                    {"status": "running" if started else record.get("status", "completed")}
                )
            case "message":
                self.message_ids.append(record["message"]["id"])
            case "leave":
                gone = set(record["message_ids"])
                self.message_ids = [name for name in self.message_ids if name not in gone]
            case "boundary":
                self.message_ids = [message["id"] for message in record["messages"]]
            case _:
                pass

    def settle(self) -> None:
        """Put everything on disk and renew the index."""
        self.writer.sync()
        summary = summary_of(self.state, title=self.title, turns=self.turns, size=self.writer.size)
        write_index(self.writer.path, self.writer.size, summary)


class JsonlSessionStore:
    """Sessions as files below ``directory``. Use one store object for all sessions of a directory.

    What looks like a secret is not written (`redact=False` keeps it; a resumed model then sees it again).
    ``on_fault`` is told of each line of a journal that cannot be read: file, line number and why. Errors of the file
    system come as ``OSError``.
    """

    def __init__(
        self, directory: str | os.PathLike[str], *, redact: bool = True, on_fault: Fault | None = None
    ) -> None:
        self._directory = Path(directory)
        self._redact = redact
        self._on_fault = on_fault
        self._open: dict[str, _Open] = {}

    @property
    def directory(self) -> Path:
        """Where the files lie."""
        return self._directory

    def path_of(self, session_id: str) -> Path:
        """The journal of a session. Raises `InvalidInputError` for a bad id."""
        return self._directory / f"{check_session_id(session_id)}.jsonl"

    # --- the state ---------------------------------------------------------------------------------------

    async def create(self, state: SessionState) -> None:
        """Begin a journal. Raises `SessionExistsError`, `InvalidInputError` for a bad id."""
        path = self.path_of(state.session_id)
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            writer = JournalWriter(path, self._cleaned, new=True)
        except FileExistsError as error:
            raise SessionExistsError(
                f"there is a session {state.session_id} in {self._directory} already",
                details={"session_id": state.session_id},
            ) from error
        opened = self._open[state.session_id] = _Open(writer, Restored(replace(state, messages=())))
        opened.add([session_record(state), *map(message_record, without_binary(state).messages)])

    async def get(self, session_id: str) -> SessionState | None:
        """A session's state, None if there is none."""
        known = await asyncio.to_thread(self._restored, session_id)
        return None if known is None else replace(known.state, messages=tuple(known.messages))

    async def update(self, session_id: str, patch: Mapping[str, Any]) -> None:
        """Replace some fields, which costs what is new. Raises `SessionNotFoundError`, `SessionLockedError`."""
        opened = await self._opened(session_id)
        state = opened.state.patched(patch)
        records: List[dict[str, Any]] = []
        if "messages" in patch:
            messages = without_binary(state).messages
            count = len(opened.message_ids)
            if [message.id for message in messages[:count]] == opened.message_ids:
                records += map(message_record, messages[count:])
            else:
                known = await asyncio.to_thread(self._restored, session_id)
                kept = known.kept if known else {}
                records.append(boundary_record("replace", messages, opened.state, kept))
        changed = {name: value for name, value in patch.items() if name != "messages"}
        opened.add([*records, state_record({**changed, "updated_at": state.updated_at})])

    async def delete(self, session_id: str) -> None:
        """Remove a session's files; nothing happens if there are none. Raises `SessionLockedError` if it is in use."""
        path = self.path_of(session_id)
        opened = self._open.pop(session_id, None)
        if opened is not None:
            opened.writer.close()
        await asyncio.to_thread(self._remove, path)

    def _remove(self, path: Path) -> None:
        try:
            writer = JournalWriter(path, self._cleaned)
        except FileNotFoundError:
            return
        try:
            path.unlink()
            index_path(path).unlink(missing_ok=True)
            shutil.rmtree(path.with_name(f"{path.stem}.payloads"), ignore_errors=True)
        finally:
            writer.close()

    async def list(
        self, *, limit: int = 50, offset: int = 0, search: str | None = None, tag: str | None = None
    ) -> Sequence[SessionSummary]:
        """Summaries, the latest first. Reads an index per session, no bodies."""
        return await asyncio.to_thread(self._listed, limit, offset, search, tag)

    def _listed(self, limit: int, offset: int, search: str | None, tag: str | None) -> Sequence[SessionSummary]:
        try:
            names = os.listdir(self._directory)
        except FileNotFoundError:
            return []
        journals = (self._directory / name for name in names if name.endswith(".jsonl") and name[0].isalnum())
        found = [summary for journal in journals if (summary := read_summary(journal)) is not None]
        return page(found, limit=limit, offset=offset, search=search, tag=tag)

    # --- the journal -------------------------------------------------------------------------------------

    async def acquire(self, session_id: str) -> None:
        """Become the one writer. Raises `SessionNotFoundError`, `SessionLockedError`."""
        opened = await self._opened(session_id)
        if opened.acquired:
            # This store has the lock, for another session object.
            JournalWriter(self.path_of(session_id), self._cleaned).close()
        opened.acquired = True

    async def release(self, session_id: str) -> None:
        """Put everything on disk, renew the index and give the lock up."""
        opened = self._open.pop(session_id, None)
        if opened is None:
            return
        try:
            await asyncio.to_thread(opened.settle)
        finally:
            opened.writer.close()

    async def aclose(self) -> None:
        """Release every session."""
        for session_id in List(self._open):
            await self.release(session_id)

    async def append(self, session_id: str, records: Sequence[Record]) -> None:
        """Add records. Raises `SessionNotFoundError`, `SessionLockedError`."""
        (await self._opened(session_id)).add(records)

    async def sync(self, session_id: str) -> None:
        """Return when everything appended is on disk and listings show it."""
        opened = self._open.get(session_id)
        if opened is not None:
            await asyncio.to_thread(opened.settle)

    def read(self, session_id: str, *, live: bool = False) -> Records:
        """The records in order, with ``live`` from the last boundary on. Raises `SessionNotFoundError` when taken."""
        path = self.path_of(session_id)
        return Records(lambda: read_journal(path, live=live, on_fault=self._on_fault))

    # --- inside ------------------------------------------------------------------------------------------

    def _cleaned(self, value: Any) -> Any:
        return redact(value) if self._redact else value

    async def _opened(self, session_id: str) -> _Open:
        """The journal, opened for writing if it was not."""
        opened = self._open.get(session_id)
        if opened is not None:
            return opened
        path = self.path_of(session_id)
        try:
            writer = JournalWriter(path, self._cleaned)
        except FileNotFoundError as error:
            raise SessionNotFoundError(
                f"there is no session {session_id} in {self._directory}", details={"session_id": session_id}
            ) from error
        try:
            known, summary = await asyncio.to_thread(lambda: (self._restored(session_id), read_summary(path)))
        except BaseException:
            writer.close()
            raise
        known = known or Restored(SessionState(session_id))
        if summary is not None:
            known.turns = summary.turns
        opened = self._open[session_id] = _Open(writer, known, summary.title if summary else "")
        return opened

    def _restored(self, session_id: str) -> Restored | None:
        try:
            return restore(session_id, read_journal(self.path_of(session_id), live=True, on_fault=self._on_fault))
        except SessionNotFoundError:
            return None
