"""Sessions on disk and in memory: the port, two stores, and the journal they share.

Above: messages and their codec. Below: the two faces, which write records and resume from them.
"""

from agentframework.stores.file_store import JsonlSessionStore
from agentframework.stores.log import JsonlLogSink, LogSink
from agentframework.stores.memory_store import InMemorySessionStore
from agentframework.stores.port import (
    JournalStore,
    SessionState,
    SessionStatus,
    SessionStore,
    SessionSummary,
    check_session_id,
    create_initial_session_state,
)

__all__ = [
    "InMemorySessionStore",
    "JournalStore",
    "JsonlLogSink",
    "JsonlSessionStore",
    "LogSink",
    "SessionState",
    "SessionStatus",
    "SessionStore",
    "SessionSummary",
    "check_session_id",
    "create_initial_session_state",
]
