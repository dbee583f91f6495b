"""One session's journal: a file that only ever grows, one JSON object a line, with one writer.

Whatever a crash left at the end is put right by beginning the next record on a line of its own; nothing that is in
the file is changed or taken out. Reading takes what can be read and reports the rest by line.
"""

import json
import mmap
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from agentframework._base.bounded import printable
from agentframework._base.jsonl import BadLine, dump_line
from agentframework.errors import PayloadError, SessionNotFoundError
from agentframework.stores.lock import lock_for_writing
from agentframework.stores.payloads import Payloads
from agentframework.stores.records import BOUNDARY

# Each record is written with its kind first, and no string holds a line feed: so this is found nowhere else.
_BOUNDARY_LINE = b'\n{"kind":"' + BOUNDARY.encode() + b'"'

Fault = Callable[[str, int, str], None]
"""Told of each line that could not be read: file, line number (from 1) and why."""


class JournalWriter:
    """The open end of a journal. Holds the lock until `close`; use from one thread at a time."""

    def __init__(self, path: Path, clean: Callable[[Any], Any], *, new: bool = False) -> None:
        """Open ``path`` for appending, with ``new`` only if there is no such file.

        Raises `SessionLockedError`, or ``FileExistsError`` / ``FileNotFoundError``.
        """
        self.path = path
        self._clean = clean
        self._payloads = payloads_of(path)
        flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        self._descriptor = os.open(path, flags | (os.O_CREAT | os.O_EXCL if new else 0), 0o600)
        try:
            lock_for_writing(self._descriptor, path)
            self._size = os.fstat(self._descriptor).st_size
            self._torn = self._size > 0 and os.pread(self._descriptor, 1, self._size - 1) != b"\n"
        except BaseException:
            os.close(self._descriptor)
            raise
        self._dirty = new

    @property
    def size(self) -> int:
        """Bytes in the file."""
        return self._size

    def append(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Write ``records``, each whole or – if the disk is full – not at all. Raises ``OSError``."""
        lines = [self._line(record) for record in records]
        data = b"".join(lines)
        if not data:
            return
        if self._torn:
            data = b"\n" + data
        self._write(data)
        self._torn = False
        self._dirty = True

    def _line(self, record: Mapping[str, Any]) -> bytes:
        ordered = {"kind": record["kind"], **record}
        return dump_line(self._payloads.externalize_record(self._clean(ordered)))

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        try:
            while rest:
                written = os.write(self._descriptor, rest)
                self._size += written
                rest = rest[written:]
        except OSError:
            self._torn = True  # what got through is a line that nobody can read; the next one begins after it
            raise

    def sync(self) -> None:
        """Return when everything is on disk."""
        if self._dirty:
            os.fsync(self._descriptor)
            self._dirty = False

    def close(self) -> None:
        """Sync, and give the lock up. May be called many times."""
        if self._descriptor < 0:
            return
        try:
            self.sync()
        finally:
            os.close(self._descriptor)
            self._descriptor = -1


def payloads_of(path: Path) -> Payloads:
    """The payloads beside the journal at ``path``."""
    return Payloads(path.with_name(f"{path.stem}.payloads"))


def read_journal(path: Path, *, live: bool = False, on_fault: Fault | None = None) -> Iterator[dict[str, Any]]:
    """Records of the journal at ``path``, with ``live`` from its last boundary on.

    The file is never held in memory whole. Raises `SessionNotFoundError`.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise SessionNotFoundError(
            f"there is no session {path.stem} in {path.parent}", details={"session_id": path.stem}
        ) from error
    report = on_fault or _ignore
    payloads = payloads_of(path)
    with file:
        start = _last_boundary(file.fileno()) if live else 0
        file.seek(start)
        number = 0
        for number, line in enumerate(file, 1):
            record = _parsed(line, payloads)
            if isinstance(record, dict):
                yield record
            elif record is not None:
                report(str(path), _lines_before(path, start) + number, record.reason)


def _ignore(_path: str, _line: int, _reason: str) -> None:
    return


def _parsed(line: bytes, payloads: Payloads) -> dict[str, Any] | BadLine | None:
    """The record in ``line``; None for a blank one."""
    if not line.strip():
        return None
    try:
        text = line.decode("utf-8")
        value = json.loads(text)
        if not isinstance(value, dict):
            return BadLine(0, "not a JSON object")
        record = cast("dict[str, Any]", value)
        if "external-payload" in text:
            record = payloads.resolve(record)
    except (ValueError, RecursionError, PayloadError) as error:
        torn = "" if line.endswith(b"\n") else " (the end of the file: a write was cut short)"
        return BadLine(0, f"{error}{torn}")
    return _whole_characters(record) if "\\ud" in text.lower() else record


def _whole_characters(value: Any) -> Any:
    """``value`` without lone surrogates, which JSON can spell and UTF-8 cannot."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {printable(key): _whole_characters(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_whole_characters(item) for item in cast("list[Any]", value)]
    return value


def _last_boundary(descriptor: int) -> int:
    """Where the last boundary begins, 0 if there is none. Looks at the bytes, parses nothing."""
    if os.fstat(descriptor).st_size == 0:
        return 0
    with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as view:
        end = len(view)
        while (found := view.rfind(_BOUNDARY_LINE, 0, end)) >= 0:
            stop = view.find(b"\n", found + 1)
            line = view[found + 1 : stop if stop >= 0 else len(view)]
            try:
                json.loads(line)
            except ValueError:  # a boundary that a crash cut short counts for nothing
                end = found + len(_BOUNDARY_LINE) - 1
                continue
            return found + 1
    return 0


def _lines_before(path: Path, offset: int) -> int:
    """How many lines end before ``offset``."""
    count = 0
    with path.open("rb") as file:
        while offset > 0 and (block := file.read(min(offset, 1 << 20))):
            count += block.count(b"\n")
            offset -= len(block)
    return count
