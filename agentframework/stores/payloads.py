"""Large values beside a journal: content-addressed files, verified when they are read back.

A line of a journal stays small whatever a tool returned. In place of a value stands a reference with its length and
SHA-256; a file that does not match is reported, never used.
"""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from agentframework._base.bounded import printable
from agentframework.errors import PayloadError

KIND = "external-payload"
LIMIT = 32 * 1024
MAX_DEPTH = 32
MAX_TOTAL = 64 * 1024 * 1024

_DIGEST = re.compile(r"[0-9a-f]{64}")
_LITERAL = "literal"
_FIELDS = {"kind", "encoding", "sha256", "byte_length", "path"}


class Payloads:
    """The payload files of one journal, in a folder (0700) of their own."""

    def __init__(self, directory: Path, limit: int = LIMIT) -> None:
        self._directory = directory
        self._limit = limit

    def externalize(self, value: Any) -> Any:
        """``value`` with what is larger than the limit, innermost first, replaced by references."""
        return self._shrink(value)[0]

    def _shrink(self, value: Any) -> tuple[Any, int]:
        """The value and about how many bytes of JSON it takes. Only strings and containers can be large."""
        if isinstance(value, str):
            size = len(value) + 2
            return (self._store(value), 200) if size > self._limit else (value, size)
        if isinstance(value, Mapping):
            pairs = {key: self._shrink(item) for key, item in cast("Mapping[str, Any]", value).items()}
            small: Any = {key: part for key, (part, _) in pairs.items()}
            size = 2 + sum(len(key) + 4 + size for key, (_, size) in pairs.items())
            if small.get("kind") == KIND:  # data that only looks like a reference of ours
                small = {"kind": KIND, "encoding": _LITERAL, "value": small}
            return (self._store(small), 200) if size > self._limit else (small, size)
        if isinstance(value, list | tuple):
            parts = [self._shrink(item) for item in cast("list[Any]", value)]
            small = [part for part, _ in parts]
            size = 2 + sum(size + 1 for _, size in parts)
            return (self._store(small), 200) if size > self._limit else (small, size)
        return value, 20

    def externalize_record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """`externalize` for each field of a record; the record itself is never replaced."""
        return {key: self.externalize(item) for key, item in record.items()}

    def _store(self, value: Any) -> dict[str, Any]:
        data = printable(json.dumps(value, ensure_ascii=False, separators=(",", ":"))).encode()
        digest = hashlib.sha256(data).hexdigest()
        name = f"{digest}.json"
        path = self._directory / name
        if not path.exists():
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write_whole(path, data)
        relative = f"{self._directory.name}/{name}"
        return {"kind": KIND, "encoding": "json", "sha256": digest, "byte_length": len(data), "path": relative}

    def resolve(self, value: Any) -> Any:
        """Inverse of `externalize`. Raises `PayloadError` whose ``details["issue"]`` says what is wrong."""
        return _Resolver(self._directory).resolve(value, 0)


class _Resolver:
    """Reads references of one value, within limits."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._total = 0

    def resolve(self, value: Any, depth: int) -> Any:
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value)
            if items.get("kind") == KIND and items.get("encoding") == _LITERAL and len(items) == 3:
                items = cast("dict[str, Any]", items["value"])
            elif items.get("kind") == KIND:
                if depth >= MAX_DEPTH:
                    raise _problem("MAX_DEPTH_EXCEEDED", f"references are nested deeper than {MAX_DEPTH}")
                return self.resolve(self._read(items), depth + 1)
            return {key: self.resolve(item, depth) for key, item in items.items()}
        if isinstance(value, list):
            return [self.resolve(item, depth) for item in cast("list[Any]", value)]
        return value

    def _read(self, reference: Mapping[str, Any]) -> Any:
        digest, length = reference.get("sha256"), reference.get("byte_length")
        shaped = set(reference) == _FIELDS and reference["encoding"] == "json" and isinstance(length, int)
        if not shaped or not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
            raise _problem("INVALID_REFERENCE", "a reference to a payload has not the shape of one")
        if reference["path"] != f"{self._directory.name}/{digest}.json":
            raise _problem("OUTSIDE_ROOT", f"the payload {reference['path']!r} does not lie where it should")
        assert isinstance(length, int)
        self._total += length
        if self._total > MAX_TOTAL:
            raise _problem("MAX_TOTAL_BYTES_EXCEEDED", f"the payloads of one record exceed {MAX_TOTAL} bytes")
        data = self._bytes(self._directory / f"{digest}.json", length)
        if hashlib.sha256(data).hexdigest() != digest:
            raise _problem("SHA256_MISMATCH", f"the payload {digest} was changed")
        try:
            return json.loads(data)
        except ValueError as error:
            raise _problem("INVALID_JSON", f"the payload {digest} is no JSON: {error}") from error

    def _bytes(self, path: Path, length: int) -> bytes:
        try:
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except FileNotFoundError as error:
            raise _problem("PAYLOAD_NOT_FOUND", f"the payload {path.name} is missing") from error
        except OSError as error:
            raise _problem("PAYLOAD_UNREADABLE", f"the payload {path.name} cannot be read: {error}") from error
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(length + 1)
        if len(data) != length:
            raise _problem("BYTE_LENGTH_MISMATCH", f"the payload {path.name} is not {length} bytes long")
        return data


def _problem(issue: str, message: str) -> PayloadError:
    return PayloadError(message, details={"issue": issue})


def _write_whole(path: Path, data: bytes) -> None:
    """A file that is there whole or not at all; who comes second finds the same content."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
