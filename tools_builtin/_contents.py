"""Loads what Write and Edit are about to replace, as the evidence of what is there."""

import os
from dataclasses import dataclass

from agentframework.sandbox import ResolvedPath
from agentframework.tools import ToolContext

from ._ledger import FileLedger, new_digest
from ._paths import RefusalError, one_line, open_file, reason

MAX_BYTES = 64 << 20
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it is: ``head`` is its first mebibyte, ``data`` all of it (None over `MAX_BYTES`)."""

    status: os.stat_result
    head: bytes
    data: bytes | None
    digest: bytes


def load(place: ResolvedPath, context: ToolContext) -> Content | None:
    """The file at ``place``, or None if there is none. Raises `RefusalError`."""
    try:
        fd, status = open_file(place)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RefusalError(f"{one_line(place.shown)} cannot be read: {reason(error)}") from None
    try:
        return _load(fd, status, context)
    except OSError as error:
        raise RefusalError(f"{one_line(place.shown)} cannot be read: {reason(error)}") from None
    finally:
        os.close(fd)


def _load(fd: int, status: os.stat_result, context: ToolContext) -> Content:
    digest = new_digest()
    pieces: list[bytes] = []
    head = b""
    size = 0
    while chunk := os.read(fd, _CHUNK):
        context.abort.check()
        head = head or chunk
        size += len(chunk)
        digest.update(chunk)
        pieces.append(chunk)
        if size > MAX_BYTES:
            pieces.clear()
    data = b"".join(pieces) if size <= MAX_BYTES else None
    return Content(status, head, data, digest.digest())


def refuse_unseen_changes(
    content: Content | None, place: ResolvedPath, context: ToolContext, files: FileLedger
) -> None:
    """Raise `RefusalError` if this session has read the file and it is not what it read any more."""
    seen = files.known(context.session_id, place.path)
    if seen is None:
        return
    if content is None:
        files.forget_file(context.session_id, place.path)
        raise RefusalError(
            f"{one_line(place.shown)} does not exist any more: it was deleted since it was read in this session. "
            "If that is as it should be, Write creates it anew."
        )
    if content.digest != seen:
        raise RefusalError(
            f"{one_line(place.shown)} has changed since it was read in this session; read it again, then decide"
        )


def refuse_read_only(content: Content, place: ResolvedPath) -> None:
    """Raise `RefusalError` if nobody may write the file, or this process may not.

    Replacing it by rename(2) would need no such right, but a file is made read-only to be left alone.
    """
    writable = content.status.st_mode & 0o222 and os.access(place.path, os.W_OK)
    if not writable:
        raise RefusalError(f"{one_line(place.shown)} is read-only and was not changed")
