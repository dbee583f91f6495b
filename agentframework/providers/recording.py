"""`RecordingProvider`: writes down what passes between a session and any other provider.

Each exchange becomes one line of a file the moment it is complete and before its last chunk is handed on. The file
only ever grows; whatever a crash left of its last line is put right before the next one. Below: the format.
`ReplayProvider` answers from such a file.
"""

import json
import os
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

from agentframework._base.jsonl import dump_line
from agentframework.errors import ConfigurationError
from agentframework.providers.protocol import Chunk, ModelLimits, ModelReply, ModelRequest, Provider
from agentframework.providers.recording_format import (
    EXCHANGE,
    HOLD_CHUNK,
    chunk_to_json,
    error_to_json,
    limits_to_json,
    reply_to_json,
    request_digest,
)

_BEGINNING = dump_line({"event": EXCHANGE})[:-2]


class RecordingProvider:
    """Answers as ``provider`` does and appends each exchange to the file at ``path`` (mode 0600).

    Answers pass through unchanged, errors too; both are recorded. An answer that its reader gave up is recorded
    up to that point and replays as one that waits to be given up. Exchanges of sessions that run side by side
    are written in the order in which they end.

    Recordings hold the conversation in clear text. Raises `ConfigurationError` from `stream`, before anything
    is asked, if the file cannot be written or is no recording.
    """

    def __init__(self, provider: Provider, path: str | os.PathLike[str]) -> None:
        self._provider = provider
        self._path = Path(path)

    @property
    def name(self) -> str:
        """The name of the recorded provider."""
        return self._provider.name

    @property
    def default_model(self) -> str:
        """That of the recorded provider."""
        return self._provider.default_model

    def resolve_model(self, model: str) -> str:
        """As the recorded provider does."""
        return self._provider.resolve_model(model)

    def limits(self, model: str) -> ModelLimits:
        """As the recorded provider says."""
        return self._provider.limits(model)

    async def start(self) -> None:
        """Start the recorded provider."""
        await self._provider.start()

    async def aclose(self) -> None:
        """Close the recorded provider."""
        await self._provider.aclose()

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Answer, and append the exchange. Raises what the recorded provider raises."""
        _append(self._path, b"")
        limits = limits_to_json(self._provider.limits(request.model))
        chunks: list[dict[str, Any]] = []
        record = {
            "event": EXCHANGE,
            "request": {**request_digest(request), "limits": limits},
            "chunks": chunks,
        }
        ending: dict[str, Any] | None = None
        try:
            async with aclosing(self._provider.stream(request)) as answer:  # type: ignore[type-var]
                async for chunk in answer:
                    if isinstance(chunk, ModelReply):
                        ending = {"reply": reply_to_json(chunk.message)}
                        self._write({**record, **ending})
                    else:
                        chunks.append(chunk_to_json(chunk))
                    yield chunk
        except Exception as error:
            if ending is None:
                self._write({**record, "error": error_to_json(error)})
            raise
        except BaseException:  # cancelled, or closed by its reader
            if ending is None:
                self._write({**record, "chunks": [*chunks, HOLD_CHUNK]})
            raise
        if ending is None:
            self._write({**record, "reply": None})

    def _write(self, record: dict[str, Any]) -> None:
        try:
            line = dump_line(record)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"{self._path}: this exchange cannot be recorded: {error}") from error
        _append(self._path, line)


def _append(path: Path, line: bytes) -> None:
    """Add ``line`` in a line of its own. Opened anew each time, so that no open file has to be owned."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            _mend_last_line(descriptor, path)
            view = memoryview(line)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ConfigurationError(
            f"cannot write the recording {path}: {error.strerror or error}", details={"path": str(path)}
        ) from error


def _mend_last_line(descriptor: int, path: Path) -> None:
    """A whole record that lacks its newline gets it; half a record, which nobody can read, is cut off."""
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return
    data = os.pread(descriptor, size, 0)
    last = data[data.rfind(b"\n") + 1 :]
    try:
        whole = isinstance(json.loads(last), dict)
    except (ValueError, RecursionError):
        whole = False
    if whole:
        os.write(descriptor, b"\n")
    elif last.startswith(_BEGINNING) or _BEGINNING.startswith(last):
        os.ftruncate(descriptor, size - len(last))
    else:
        raise ConfigurationError(
            f"{path} is no recording: it ends in the middle of a line that is none of ours; choose another file",
            details={"path": str(path)},
        )
