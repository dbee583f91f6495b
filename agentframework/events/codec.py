"""Events to JSON objects and back.

The object holds ``type``, the common fields (``time`` as ISO 8601) and the event's own. Reading is lenient: an
unknown type gives None, unknown fields are ignored.
"""

from collections.abc import Mapping
from typing import Any, cast

from agentframework._base.clock import from_iso, to_iso
from agentframework.errors import InvalidInputError
from agentframework.events.base import BaseEvent
from agentframework.messages.codec import from_json, to_json


def event_to_dict(event: BaseEvent) -> dict[str, Any]:
    """The JSON object of an event."""
    body = to_json(event)
    body["time"] = to_iso(event.time)
    return {"type": event.type, **body}


def event_from_dict(value: Mapping[str, Any], known: Mapping[str, type[BaseEvent]]) -> BaseEvent | None:
    """The event of a JSON object; None for a type that is not in ``known``.

    Raises `InvalidInputError` naming the field that does not fit.
    """
    cls = known.get(value.get("type", ""))
    if cls is None:
        return None
    fields = {key: item for key, item in value.items() if key != "type"}
    try:
        fields["time"] = from_iso(cast(str, fields.get("time")))
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"not a valid {cls.__name__}: time: {error}") from None
    return from_json(cls, fields)
