"""`JsonlLogSink`: what happened in a session, for people who look into it later and for replaying it.

A log is no journal: nobody resumes from it, secrets are always taken out, and a fault of the disk is reported once
and never harms the session.
"""

import os
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from agentframework._base.clock import now, to_iso
from agentframework._base.jsonl import dump_line
from agentframework.stores.journal import payloads_of
from agentframework.stores.port import check_session_id
from agentframework.stores.redact import redact

_DELTAS = 64 * 1024


class LogSink(Protocol):
    """Takes log records of sessions."""

    def write(self, session_id: str, event: str, data: Mapping[str, Any]) -> None:
        """Keep one record. Must not raise and must not wait."""
        ...

    def close(self, session_id: str) -> None:
        """The session has ended; what was held back is written."""
        ...


class JsonlLogSink:
    """``<directory>/<session id>.jsonl`` (0600): one object a line with ``timestamp``, ``session_id`` and ``event``.

    Text deltas are joined to records of up to 64 KiB; values over 32 KiB lie in ``<session id>.payloads/``. The first
    fault of a session's file goes to ``on_fault``, and nothing more of that session is logged.
    """

    def __init__(
        self, directory: str | os.PathLike[str], *, on_fault: Callable[[str], object] | None = None
    ) -> None:
        self._directory = Path(directory)
        self._on_fault = on_fault
        self._files: dict[str, _LogFile] = {}
        self._lock = threading.Lock()

    def path_of(self, session_id: str) -> Path:
        """The log of a session. Raises `InvalidInputError` for a bad id."""
        return self._directory / f"{check_session_id(session_id)}.jsonl"

    def write(self, session_id: str, event: str, data: Mapping[str, Any]) -> None:
        """Add a record; ``text_delta`` records are held back until something else happens."""
        with self._lock:
            file = self._files.get(session_id)
            if file is None:
                file = self._files[session_id] = _LogFile(self.path_of(session_id))
            problem = file.write(session_id, event, data)
        if problem is not None and self._on_fault is not None:
            self._on_fault(problem)

    def close(self, session_id: str) -> None:
        """Write what was held back and close the file."""
        with self._lock:
            file = self._files.pop(session_id, None)
            problem = file.close(session_id) if file is not None else None
        if problem is not None and self._on_fault is not None:
            self._on_fault(problem)


class _LogFile:
    """One open log. A fault ends it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._payloads = payloads_of(path)
        self._deltas: list[str] = []
        self._held = 0
        self._broken = False
        self._descriptor: int | None = None
        self._closer: weakref.finalize[Any, Any] | None = None

    def write(self, session_id: str, event: str, data: Mapping[str, Any]) -> str | None:
        """None, or why nothing is logged any more."""
        if self._broken:
            return None
        if event == "text_delta":
            text = str(data.get("text", ""))
            self._deltas.append(text)
            self._held += len(text)
            return self._flush(session_id) if self._held >= _DELTAS else None
        return self._flush(session_id) or self._put(session_id, event, data)

    def close(self, session_id: str) -> str | None:
        """Flush and close."""
        problem = self._flush(session_id)
        if self._closer is not None:
            self._closer()
        return problem

    def _flush(self, session_id: str) -> str | None:
        if not self._deltas or self._broken:
            return None
        text, self._deltas, self._held = "".join(self._deltas), [], 0
        return self._put(session_id, "text_delta", {"text": text})

    def _put(self, session_id: str, event: str, data: Mapping[str, Any]) -> str | None:
        record = {"timestamp": to_iso(now()), "session_id": session_id, "event": event, **redact(data)}
        try:
            line = dump_line(self._payloads.externalize_record(record))
            os.write(self._opened(), line)
        except (OSError, TypeError, ValueError) as error:
            self._broken = True
            return f"the log {self._path} cannot be written, and is given up: {error}"
        return None

    def _opened(self) -> int:
        if self._descriptor is None:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            self._descriptor = os.open(self._path, flags, 0o600)
            self._closer = weakref.finalize(self, os.close, self._descriptor)
        return self._descriptor
