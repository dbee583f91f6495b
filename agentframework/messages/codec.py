"""Messages and history entries to JSON-able values and back.

Writing is strict (fields by name, private ones left out); reading is lenient (unknown fields are ignored),
so that an older version can read what a newer one wrote. Validation is pydantic's, imported at first use.
"""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from functools import cache
from typing import Any, TypeVar, cast

from agentframework.errors import InvalidInputError
from agentframework.messages.history import HistoryEntry, SystemNote
from agentframework.messages.message import Message

T = TypeVar("T")

ChatData = Message | SystemNote


def to_json(value: Any) -> Any:
    """``value`` as dicts, lists and scalars. Raises ``TypeError`` naming the type of anything else.

    A dataclass may name computed properties in ``json_properties``; they are written and ignored when read.
    """
    if value is None or isinstance(value, str | bool | int | float):
        return value.value if isinstance(value, Enum) else value
    if is_dataclass(value) and not isinstance(value, type):
        names = (*_json_fields(type(value)), *getattr(value, "json_properties", ()))
        return {name: to_json(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in cast("list[Any]", value)]
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return to_json(dump(mode="json"))
    raise TypeError(f"{type(value).__name__} is not JSON-able")


@cache
def _json_fields(cls: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(cls) if not f.name.startswith("_") and f.metadata.get("json", True))


@cache
def _adapter(shape: Any) -> Any:
    from pydantic import TypeAdapter  # noqa: PLC0415 - keeps the package import light

    return TypeAdapter(shape)


def from_json(shape: type[T], value: Any) -> T:
    """Inverse of `to_json` for a dataclass or union of dataclasses.

    Raises `InvalidInputError` that names the field.
    """
    from pydantic import ValidationError  # noqa: PLC0415

    try:
        return _adapter(shape).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "value"
        name = getattr(shape, "__name__", "message")
        raise InvalidInputError(f"not a valid {name}: {where}: {first['msg']}") from error


def message_from_json(value: Any) -> Message:
    """A message from its JSON form. Raises `InvalidInputError`."""
    return from_json(Message, value)  # type: ignore[arg-type]


def entry_from_json(value: Mapping[str, Any]) -> HistoryEntry:
    """A history entry from its JSON form. Raises `InvalidInputError`."""
    entry = from_json(HistoryEntry, {**value, "data": {}})
    data: Any = value.get("data")
    if entry.category == "chat":
        data = from_json(ChatData, data)  # type: ignore[arg-type]
    return replace(entry, data=data)
