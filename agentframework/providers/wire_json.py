"""JSON as it crosses the border: strict and compact on the way out, quick on the way in.

Request bodies are joins of fragments encoded here. No API accepts lone surrogates or NaN (RFC 8259 §8.2, §6),
and histories hold both, so they are mended rather than refused.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from agentframework._base.bounded import printable

MAX_DEPTH = 100


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else str(value)


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain).encode
_read = json.JSONDecoder().raw_decode


def encode(value: object) -> bytes:
    """Compact UTF-8 JSON. Lone surrogates become U+FFFD, NaN and infinities null."""
    try:
        text = _encode(value)
    except ValueError:
        text = _encode(_finite(value))
    return printable(text).encode()


def encode_object(fields: Mapping[str, object], **encoded: bytes) -> bytes:
    """An object of ``fields``, followed by members whose values are JSON already."""
    members = [b'"%s":%s' % (name.encode(), value) for name, value in encoded.items()]
    if fields:
        members.insert(0, encode(fields)[1:-1])
    return b"{" + b",".join(members) + b"}"


def array(items: Iterable[bytes]) -> bytes:
    """An array of items that are JSON already; empty ones are left out."""
    return b"[" + b",".join(filter(None, items)) + b"]"


def decode_event(data: bytes) -> Any:
    """The JSON value of one event. Raises ``ValueError`` or ``RecursionError``; bad UTF-8 becomes U+FFFD."""
    text = data.decode("utf-8", "replace")
    try:
        value, end = _read(text)
    except json.JSONDecodeError:
        return json.loads(text)
    return value if end == len(text) else json.loads(text)


def parse_arguments(text: str) -> tuple[dict[str, Any] | None, str | None]:
    """Tool arguments as the object they must be, or None and what is wrong with them.

    No text and ``null`` are an empty object: models call tools without parameters so.
    """
    if not text.strip():
        return {}, None
    try:
        value = _arguments.decode(text)
    except ValueError as error:
        return None, f"not valid JSON: {error}"
    except RecursionError:
        return None, "not valid JSON: nested too deeply"
    if value is None:
        return {}, None
    if text.count("{") + text.count("[") > MAX_DEPTH and _nests_deeper(value, MAX_DEPTH):
        # What is read here is walked again by schema checks, events and encoders, whose recursion is not ours.
        return None, f"not usable: nested more than {MAX_DEPTH} levels deep"
    if not isinstance(value, dict):
        return None, f"a JSON {_KINDS.get(type(value), 'value')}, not an object"
    return (_mended(value) if "\\u" in text or not text.isascii() else value), None


def _nests_deeper(value: Any, limit: int) -> bool:
    """Whether objects and arrays lie in each other more than ``limit`` deep. Without recursion."""
    level: list[Any] = [value]
    for _ in range(limit):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
        ]
        if not level:
            return False
    return any(isinstance(item, dict | list) for item in level)


_KINDS: Mapping[type, str] = {list: "array", str: "string", bool: "boolean", int: "number", float: "number"}


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; one key with two values is refused, since readers would differ about which one counts."""
    members = dict(pairs)
    if len(members) != len(pairs):
        for key, value in pairs:
            if members[key] != value:
                raise ValueError(f"the key {key[:40]!r} occurs twice with different values")
    return members


_arguments = json.JSONDecoder(parse_constant=_refuse, parse_float=_number, object_pairs_hook=_members)


def _map_strings(value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, Mapping):
        return {change(key): _map_strings(item, change) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_map_strings(item, change) for item in value]
    return change(value)


def _mended(value: Any) -> Any:
    return _map_strings(value, lambda leaf: printable(leaf) if isinstance(leaf, str) else leaf)


def _finite(value: Any) -> Any:
    return _map_strings(value, lambda leaf: None if isinstance(leaf, float) and not math.isfinite(leaf) else leaf)
