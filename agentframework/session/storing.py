"""A session's side of its store: what is resumed when it begins, and its name."""

from agentframework.assembly import Parts
from agentframework.errors import ConfigurationError
from agentframework.events import ContextUpdate, SessionRenamed
from agentframework.events.sink import EventSink
from agentframework.loop import Conversation
from agentframework.session.persistence import NoJournal, SessionJournal, StoreOptions
from agentframework.session.runner import TurnRunner
from agentframework.session.timeline import Timeline
from agentframework.stores.port import JournalStore, check_session_id
from agentframework.stores.restoring import close_calls

CUT_SHORT_NOTE = "[The previous turn was cut short; what it had begun may be unfinished.]"


def store_options(
    store: JournalStore | None, name: str | None, resume: str | None, fork: bool
) -> StoreOptions | None:
    """Options that fit together, None for a session that is stored nowhere.

    Raises `ConfigurationError` or `InvalidInputError`.
    """
    if store is None:
        if resume is not None:
            raise ConfigurationError(
                "resume_session_id needs the session_store to resume from", details={"field": "session_store"}
            )
        return None
    if not isinstance(store, JournalStore):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ConfigurationError(
            f"session_store keeps no journal: a session needs {', '.join(_NEEDED)} of it",
            details={"field": "session_store"},
        )
    if fork and resume is None:
        raise ConfigurationError("fork_session needs the resume_session_id to fork", details={"field": "fork_session"})
    if resume is not None:
        check_session_id(resume)
    return StoreOptions(store, name, resume, fork)


_NEEDED = ("acquire", "append", "read", "release", "sync")


class SessionStoring:
    """Part of `InteractiveSession`."""

    _parts: Parts
    _journal: SessionJournal | NoJournal
    _conversation: Conversation
    _timeline: Timeline
    _runner: TurnRunner
    _sink: EventSink
    _name: str | None

    @property
    def session_name(self) -> str | None:
        """The name that listings show."""
        return self._name

    def rename(self, name: str) -> None:
        """Give the session another name. Raises `ConfigurationError` for a blank one."""
        name = " ".join(name.split())
        if not name:
            raise ConfigurationError("the name of a session must not be blank", details={"field": "name"})
        self._name = name
        if isinstance(self._journal, SessionJournal):
            self._journal.rename(name)
        self._sink.emit(SessionRenamed, name)

    async def _resume(self) -> str:
        """Take up what is stored; how the session begins: ``startup`` or ``resume``."""
        restored = await self._journal.open()
        if restored is None:
            return "startup"
        closed = close_calls(restored.messages, restored.entries)
        self._name = self._name or restored.state.name
        self._timeline.load(restored.entries)
        if closed.added is None:
            self._conversation.load(closed.messages)
        else:
            self._conversation.load(closed.messages[:-1])
            self._conversation.append(closed.added)
            self._timeline.message(closed.added)
        if restored.interrupted:
            self._runner.note(CUT_SHORT_NOTE)
        self._sink.emit(ContextUpdate, self._conversation.context_state(self._parts.settings.context_window))
        return "resume"
