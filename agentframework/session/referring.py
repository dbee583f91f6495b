"""A session's side of ``@file``: files of its workspace that the rules let be read, added to what the model gets."""

import os
import stat
from dataclasses import asdict

from agentframework._base.abort import AbortSignal, run_abortable
from agentframework.assembly import Parts
from agentframework.context.references import (
    Found,
    NotReadableError,
    References,
    has_references,
    resolve_references,
)
from agentframework.events import WarningEvent
from agentframework.events.sink import EventSink
from agentframework.messages import ToolCall, UserMessage
from agentframework.permissions import GateCall
from agentframework.sandbox import OutsideWorkspaceError
from agentframework.session.timeline import Timeline
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult


def _never(_arguments: object, _context: ToolContext) -> ToolResult:
    raise AssertionError("only judged, never run")


# What a reference is judged as, whether or not the session offers a tool of this name.
_READ = Tool("Read", "", {"type": "object"}, _never, RiskClass.INSPECT, "file_path")


class FileReferences:
    """Adds the files that prompts refer to."""

    __slots__ = ("_parts", "_sink", "_timeline")

    def __init__(self, parts: Parts, sink: EventSink, timeline: Timeline) -> None:
        self._parts = parts
        self._sink = sink
        self._timeline = timeline

    async def add_to(self, message: UserMessage, text: str, abort: AbortSignal) -> UserMessage:
        """``message`` with the files that ``text`` refers to. Raises `AbortedError`."""
        if not has_references(text):
            return message
        from anyio import to_thread  # noqa: PLC0415 - keeps the package import light

        work = to_thread.run_sync(resolve_references, text, _Workspace(self._parts), abandon_on_cancel=True)
        found = await run_abortable(work, abort)
        for problem in found.problems:
            self._sink.emit(WarningEvent, problem, "references")
        self._note(found)
        if not found.parts:
            return message
        return UserMessage((*message.content, *found.parts), message.id, message.timestamp)

    def _note(self, found: References) -> None:
        if found.added:
            names = ", ".join(reference.relative_path for reference in found.added)
            references = [asdict(reference) for reference in found.added]
            self._timeline.event("prompt-file-reference", {"message": f"Added {names}", "references": references})


class _Workspace:
    """The session's files, as far as a Read of them would run unasked."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def open(self, path: str, limit: int) -> Found | None:
        """See `FileSource.open`."""
        try:
            place = self._parts.sandbox.resolve(path)
        except OutsideWorkspaceError as error:
            if not os.path.lexists(os.path.join(self._parts.sandbox.roots[0], path)):
                return None
            raise NotReadableError(str(error)) from None
        if not os.path.lexists(place.path):
            return None
        judged = self._parts.gate.explain(GateCall(ToolCall("reference", "Read", {"file_path": place.path}), _READ))
        if judged.outcome != "allow":
            raise NotReadableError(judged.reason)
        try:
            return _read(place.path, place.shown, limit)
        except OSError as error:
            raise NotReadableError(f"it cannot be read: {error.strerror or error}") from None


def _read(path: str, shown: str, limit: int) -> Found:
    """Raises `NotReadableError` for what is no file, ``OSError``."""
    # O_NONBLOCK: should a FIFO stand there, opening it must not wait for a writer.
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as file:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            kind = "a directory" if stat.S_ISDIR(status.st_mode) else "no regular file"
            raise NotReadableError(f"it is {kind}")
        data = file.read(limit)
    return Found(path, shown, data, max(status.st_size, len(data)))
