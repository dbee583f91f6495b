"""`InMemorySessionStore`: sessions for as long as this process lives; the default of an `Agent`."""

from builtins import list as List
from collections.abc import Mapping, Sequence
from typing import Any

from agentframework.errors import SessionExistsError, SessionLockedError, SessionNotFoundError
from agentframework.stores.placeholders import without_binary
from agentframework.stores.port import Record, SessionState, SessionSummary, check_session_id
from agentframework.stores.reader import Records
from agentframework.stores.records import (
    BOUNDARY,
    boundary_record,
    message_record,
    restore,
    session_record,
    state_record,
)
from agentframework.stores.summaries import page, summary_of, title_of


class InMemorySessionStore:
    """Keeps states and journals in dicts.

    Of images and documents given to `update` only the type, size and SHA-256 stay. Nothing is shared between processes.
    """

    def __init__(self) -> None:
        self._states: dict[str, SessionState] = {}
        self._records: dict[str, List[dict[str, Any]]] = {}
        self._writers: set[str] = set()

    async def create(self, state: SessionState) -> None:
        """Keep a new session. Raises `SessionExistsError`, or `InvalidInputError` for a bad id."""
        check_session_id(state.session_id)
        if state.session_id in self._states:
            raise SessionExistsError(f"there is a session {state.session_id} already")
        self._states[state.session_id] = without_binary(state)
        self._records[state.session_id] = [session_record(state), *map(message_record, state.messages)]

    async def get(self, session_id: str) -> SessionState | None:
        """A session's state, None if there is none."""
        return self._states.get(session_id)

    async def update(self, session_id: str, patch: Mapping[str, Any]) -> None:
        """Replace some fields. Raises `SessionNotFoundError`, `InvalidInputError` for an unknown field."""
        before = self._state(session_id)
        state = without_binary(before.patched(patch))
        self._states[session_id] = state
        records = self._records[session_id]
        if "messages" in patch:
            if state.messages[: len(before.messages)] == before.messages:
                records.extend(map(message_record, state.messages[len(before.messages) :]))
            else:
                kept = restore(session_id, records).kept
                records.append(boundary_record("replace", state.messages, state, kept))
        records.append(state_record({**patch, "updated_at": state.updated_at}))

    async def delete(self, session_id: str) -> None:
        """Forget a session; nothing happens if there is none."""
        self._states.pop(session_id, None)
        self._records.pop(session_id, None)
        self._writers.discard(session_id)

    async def list(
        self, *, limit: int = 50, offset: int = 0, search: str | None = None, tag: str | None = None
    ) -> Sequence[SessionSummary]:
        """Summaries, the latest first."""
        found = [self._summary(session_id) for session_id in self._states]
        return page(found, limit=limit, offset=offset, search=search, tag=tag)

    def _summary(self, session_id: str) -> SessionSummary:
        records = self._records[session_id]
        turns = sum(record.get("kind") == "turn" and record.get("phase") == "start" for record in records)
        return summary_of(self._states[session_id], title=title_of(records), turns=turns, size=len(records))

    async def acquire(self, session_id: str) -> None:
        """Become the one writer. Raises `SessionNotFoundError`, `SessionLockedError`."""
        self._state(session_id)
        if session_id in self._writers:
            raise SessionLockedError(f"the session {session_id} is open elsewhere; close it there, or fork it")
        self._writers.add(session_id)

    async def release(self, session_id: str) -> None:
        """Stop being the writer."""
        self._writers.discard(session_id)

    async def append(self, session_id: str, records: Sequence[Record]) -> None:
        """Add records. Raises `SessionNotFoundError`."""
        self._state(session_id)
        known = self._records[session_id]
        known.extend(dict(record) for record in records)
        self._states[session_id] = _state_after(self._states[session_id], records)

    async def sync(self, session_id: str) -> None:
        """Nothing to wait for."""

    def read(self, session_id: str, *, live: bool = False) -> Records:
        """The records in order, with ``live`` from the last boundary on."""

        def records() -> List[dict[str, Any]]:
            self._state(session_id)
            known = self._records[session_id]
            last = max((place for place, record in enumerate(known) if record.get("kind") == BOUNDARY), default=0)
            return List(known[last if live else 0 :])

        return Records(records)

    def _state(self, session_id: str) -> SessionState:
        state = self._states.get(session_id)
        if state is None:
            raise SessionNotFoundError(f"there is no session {session_id}", details={"session_id": session_id})
        return state


def _state_after(state: SessionState, records: Sequence[Record]) -> SessionState:
    """What appended records make of a state."""
    base = [session_record(state), *map(message_record, state.messages)]
    restored = restore(state.session_id, [*base, *records])
    return restored.state.patched({"messages": restored.messages})
