"""How a rule says no.

Rules raise `Refused` deep inside a request body; the public checks turn it into a message and the server into
the error JSON of the API that was called. Nothing in this package lies below.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

__all__ = ["Refused", "as_list", "as_object", "is_number", "need", "one_of", "only_keys"]


class Refused(Exception):
    """A request that the real API answers with an error.

    `param` is the OpenAI path of the offending value, `code` its machine-readable reason; Anthropic has
    neither.
    """

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.code = code
        self.status = status


def need(condition: object, message: str, param: str | None = None, code: str | None = None) -> None:
    """Refuse unless `condition` is true."""
    if not condition:
        raise Refused(message, param=param, code=code)


def as_object(value: object, where: str) -> dict[str, Any]:
    """`value` as a JSON object, or a refusal that names `where`."""
    if not isinstance(value, dict):
        raise Refused(f"{where}: Input should be an object", param=where, code="invalid_type")
    return value


def as_list(value: object, where: str) -> list[Any]:
    """`value` as a JSON array, or a refusal that names `where`."""
    if not isinstance(value, list):
        raise Refused(f"{where}: Input should be an array", param=where, code="invalid_type")
    return value


def is_number(value: object, low: float, high: float) -> bool:
    """Whether `value` is a JSON number between the limits (a JSON boolean is not a number)."""
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high


def one_of(value: object, allowed: Collection[str]) -> bool:
    """Whether `value` is one of these strings; anything else, also what cannot be hashed, is not."""
    return isinstance(value, str) and value in allowed


def only_keys(value: Iterable[str], allowed: Collection[str], where: str) -> None:
    """Refuse fields that the Anthropic schema does not have."""
    for key in value:
        need(key in allowed, f"{where}.{key}: Extra inputs are not permitted".removeprefix("."))
