"""Reads HTTP/1.1 requests with sized or chunked bodies from a byte stream (RFC 9112).

Knows nothing of sockets or of model APIs; `http.py` feeds it.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MAX_BODY", "BadRequest", "HttpRequest", "RequestReader"]

MAX_BODY = 32 * 1024 * 1024
"""Largest request body in bytes (the Messages API's limit for one request)."""

_MAX_HEAD = 64 * 1024


class BadRequest(Exception):
    """Bytes that are not HTTP."""


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request; header names are lower case. A body over `MAX_BODY` is read to its end and thrown away."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    too_large: bool

    @property
    def keeps_alive(self) -> bool:
        return self.headers.get("connection", "").lower() != "close"


class RequestReader:
    """Incremental parser: `feed` bytes, then `take` requests until it gives None."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._head: tuple[str, str, dict[str, str]] | None = None
        self._body = bytearray()
        self._size = 0
        self._wanted: int | None = None
        self._scanned = 0

    def feed(self, data: bytes) -> None:
        self._buffer += data

    def take(self) -> HttpRequest | None:
        """The next whole request. Raises `BadRequest`."""
        if self._head is None and not self._read_head():
            return None
        assert self._head is not None
        if not (self._read_chunks() if self._wanted is None else self._read_sized()):
            return None
        method, target, headers = self._head
        too_large = self._size > MAX_BODY
        request = HttpRequest(method, target, headers, b"" if too_large else bytes(self._body), too_large)
        self._head = None
        self._body = bytearray()
        return request

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n", max(0, self._scanned - 3))
        if end < 0:
            self._scanned = len(self._buffer)
            if self._scanned > _MAX_HEAD:
                raise BadRequest("the request head is too long")
            return False
        first, *lines = self._buffer[:end].decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        self._scanned = self._size = 0
        words = first.split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            raise BadRequest(f"not a request line: {first[:80]!r}")
        headers: dict[str, str] = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon:
                raise BadRequest(f"not a header: {line[:80]!r}")
            headers[name.lower()] = value.strip()
        self._head = (words[0], words[1].partition("?")[0], headers)
        self._wanted = None if "chunked" in headers.get("transfer-encoding", "") else _length(headers)
        return True

    def _read_sized(self) -> bool:
        assert self._wanted is not None
        taken = min(self._wanted - self._size, len(self._buffer))
        self._keep(self._buffer[:taken])
        del self._buffer[:taken]
        return self._size >= self._wanted

    def _read_chunks(self) -> bool:
        while True:
            line_end = self._buffer.find(b"\r\n")
            if line_end < 0:
                return False
            size = _number(bytes(self._buffer[:line_end]).split(b";")[0], 16)
            after = line_end + 2 + size
            if len(self._buffer) < after + 2:
                return False
            self._keep(self._buffer[line_end + 2 : after])
            del self._buffer[: after + 2]
            if size == 0:
                return True

    def _keep(self, data: bytearray) -> None:
        self._size += len(data)
        if self._size <= MAX_BODY:
            self._body += data


def _length(headers: dict[str, str]) -> int:
    return _number(headers.get("content-length", "0").encode("latin-1"), 10)


def _number(digits: bytes, base: int) -> int:
    try:
        value = int(digits.strip(), base)
    except ValueError:
        value = -1
    if value < 0:
        raise BadRequest(f"not a length: {digits[:40]!r}")
    return value
