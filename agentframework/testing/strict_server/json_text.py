"""JSON as the model APIs read and write it: strict on the way in, compact UTF-8 on the way out.

Python's `json` accepts lone surrogates and NaN; the real servers answer both with 400 (RFC 8259 §8.2, §6).
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from .refusal import Refused

__all__ = ["dump", "encodable", "parse_object", "quoted"]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode


def dump(value: object) -> bytes:
    """Compact JSON in UTF-8; lone surrogates, which a script may send, go out as escapes."""
    try:
        return _encode(value).encode()
    except UnicodeEncodeError:
        return _encode_ascii(value).encode()


def quoted(text: str) -> bytes:
    """One JSON string literal."""
    return dump(text)


def encodable(value: object) -> bool:
    """Whether every string in `value` can be written as UTF-8, i.e. holds no lone surrogate."""
    try:
        _encode(value).encode()
    except UnicodeEncodeError:
        return False
    return True


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def parse_object(raw: bytes) -> dict[str, Any]:
    """A request body. Raises `Refused` for bad UTF-8, bad JSON, and anything but an object."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise Refused(f"The request body is not valid UTF-8: {error}", code="invalid_json") from error
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(f"The request body is not valid JSON: {error}", code="invalid_json") from error
    if not isinstance(value, dict):
        raise Refused("The request body is not valid JSON: expected an object", code="invalid_json")
    return value
