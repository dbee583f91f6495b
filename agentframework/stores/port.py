"""What a session store is, and what it keeps: one port for both faces.

`SessionStore` is what an `Agent` needs. `JournalStore` adds what a session needs: records are appended, never
changed, and everything else (the state, the conversation to go on with, a listing) is a view of them.
"""

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol, runtime_checkable

from agentframework._base.clock import now
from agentframework.errors import InvalidInputError
from agentframework.messages import Message

SessionStatus = Literal["running", "completed", "failed", "interrupted"]
Record = Mapping[str, Any]

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


def check_session_id(session_id: str) -> str:
    """``session_id`` if it can name a file: 1 to 128 of ``[A-Za-z0-9._-]``, starting with a letter or digit.

    Raises `InvalidInputError` for any other; ids are refused, never altered.
    """
    if not isinstance(session_id, str) or _ID.fullmatch(session_id) is None:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(
            f"{session_id!r} is no session id; use 1 to 128 letters, digits, '.', '_' and '-', a letter or digit first",
            details={"field": "session_id"},
        )
    return session_id


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session as stores keep it. Times are seconds since the epoch; ``content`` is the last final text."""

    session_id: str
    status: SessionStatus = "running"
    messages: tuple[Message, ...] = ()
    iteration: int = 0
    created_at: float = field(default_factory=now)
    updated_at: float = field(default_factory=now)
    content: str | None = None
    name: str | None = None
    cwd: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def patched(self, patch: Mapping[str, Any]) -> "SessionState":
        """This state with some fields replaced and ``updated_at`` moved on.

        Raises `InvalidInputError` that names a field which does not exist or cannot change.
        """
        unknown = sorted(patch.keys() - CHANGEABLE)
        if unknown:
            raise InvalidInputError(
                f"a session has no field to update named {', '.join(unknown)}", details={"field": unknown[0]}
            )
        values = dict(patch)
        for name in ("messages", "tags"):
            if name in values:
                values[name] = tuple(values[name])
        return replace(self, **{"updated_at": now(), **values})


CHANGEABLE = frozenset(item.name for item in fields(SessionState)) - {"session_id", "created_at"}


def create_initial_session_state(session_id: str, **values: Any) -> SessionState:
    """The state of a session that begins now. Raises `InvalidInputError` for a bad id."""
    moment = now()
    return SessionState(check_session_id(session_id), **{"created_at": moment, "updated_at": moment, **values})


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a listing. ``title`` is its name, else the beginning of its first prompt; ``size`` is in bytes."""

    session_id: str
    title: str
    updated_at: float
    created_at: float
    status: SessionStatus = "running"
    name: str | None = None
    cwd: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    turns: int = 0
    size: int = 0


@runtime_checkable
class SessionStore(Protocol):
    """Keeps the state of sessions. Enough for an `Agent`; schema, retention and encryption are the store's business."""

    async def create(self, state: SessionState) -> None:
        """Keep a new session. Raises `SessionExistsError` if there is one of this id."""
        ...

    async def get(self, session_id: str) -> SessionState | None:
        """A session's state, None if there is none."""
        ...

    async def update(self, session_id: str, patch: Mapping[str, Any]) -> None:
        """Replace some fields. Raises `SessionNotFoundError`."""
        ...

    async def delete(self, session_id: str) -> None:
        """Forget a session; nothing happens if there is none."""
        ...


class RecordReader(Protocol):
    """Records of a journal: ``async for`` takes them one by one, ``await`` all of them as a list."""

    def __aiter__(self) -> AsyncIterator[dict[str, Any]]: ...

    def __await__(self) -> Any: ...


@runtime_checkable
class JournalStore(SessionStore, Protocol):
    """A store that keeps a journal, which is what an interactive session resumes from."""

    async def list(
        self, *, limit: int = 50, offset: int = 0, search: str | None = None, tag: str | None = None
    ) -> Sequence[SessionSummary]:
        """Summaries, the latest first. ``search`` looks at ids and titles, whatever the case."""
        ...

    async def acquire(self, session_id: str) -> None:
        """Become the one writer. Raises `SessionLockedError` if somebody else is."""
        ...

    async def release(self, session_id: str) -> None:
        """Stop being the writer; everything appended is on disk afterwards."""
        ...

    async def append(self, session_id: str, records: Sequence[Record]) -> None:
        """Add records in order. They survive the end of this process at once, that of the machine after `sync`."""
        ...

    async def sync(self, session_id: str) -> None:
        """Return when everything appended is on disk."""
        ...

    def read(self, session_id: str, *, live: bool = False) -> RecordReader:
        """The records in order; with ``live`` from the last boundary on, which is all that resuming needs.

        Raises `SessionNotFoundError` when they are taken.
        """
        ...
