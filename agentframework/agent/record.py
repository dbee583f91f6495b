"""A run's side of the session store: what was said so far, and what becomes of it.

The state is written when the run begins, after each round of tools and at its end, so that another process can tell
how far it came.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from agentframework.errors import SessionNotFoundError
from agentframework.messages import Message
from agentframework.stores import JournalStore, SessionState, SessionStatus, SessionStore, create_initial_session_state
from agentframework.stores.placeholders import message_without_binary


class SessionRecord:
    """One session in a store, for the time of one run. Of images only placeholders are kept."""

    def __init__(self, store: SessionStore, session_id: str, cwd: str) -> None:
        self._store = store
        self._journal = store if isinstance(store, JournalStore) else None
        self.session_id = session_id
        self._cwd = cwd
        self._kept: list[Message] = []
        self._acquired = False
        self.is_new = False
        self.metadata: Mapping[str, Any] = {}

    async def open(self) -> Sequence[Message]:
        """Become its writer; what was said so far.

        Raises `InvalidInputError` for a bad id, `SessionLockedError`, and whatever the store raises.
        """
        state = await self._state()
        self.metadata = state.metadata
        self._kept = list(state.messages)
        return state.messages

    async def _state(self) -> SessionState:
        store, journal = self._store, self._journal
        fresh = create_initial_session_state(self.session_id, cwd=self._cwd)
        if journal is None:
            known = await store.get(self.session_id)
            if known is None:
                await store.create(fresh)
        else:
            try:
                await journal.acquire(self.session_id)
            except SessionNotFoundError:
                await store.create(fresh)
                await journal.acquire(self.session_id)
                self._acquired, known = True, None
            else:
                self._acquired = True
                known = await store.get(self.session_id)
        self.is_new = known is None
        return known or fresh

    def resume(self, messages: Sequence[Message]) -> None:
        """The session goes on from these messages."""
        self._kept = list(messages)

    def add(self, message: Message) -> None:
        """Another message, kept with the next `save`."""
        self._kept.append(message_without_binary(message))

    async def save(self, status: SessionStatus, iteration: int, **fields: Any) -> None:
        """Write down how things stand. Raises what the store raises."""
        patch = {"status": status, "iteration": iteration, "messages": tuple(self._kept), **fields}
        await self._store.update(self.session_id, patch)

    async def close(self) -> None:
        """Everything on disk, the session free for others."""
        if self._journal is not None and self._acquired:
            self._acquired = False
            await self._journal.release(self.session_id)
