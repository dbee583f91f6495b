"""The lines of a headless run: events and one terminal record. Above: the headless runner and the command line."""

from typing import Any

from agentframework._base.clock import to_iso
from agentframework._base.jsonl import dump_line
from agentframework.events import BaseEvent, to_dict
from agentframework.messages import Usage
from agentframework.messages.codec import to_json


def event_line(event: BaseEvent) -> bytes:
    """An event as a line. What JSON cannot hold costs its reader no more than that event's own fields."""
    try:
        return dump_line(to_dict(event))
    except (TypeError, ValueError, RecursionError) as error:
        common = {
            "type": event.type,
            "session_id": event.session_id,
            "turn_id": event.turn_id,
            "seq": event.seq,
            "time": to_iso(event.time),
        }
        return dump_line({**common, "unwritable": f"{type(error).__name__}: {error}"})


def result_line(
    subtype: str,
    *,
    is_error: bool,
    result: str,
    code: str | None,
    session_id: str | None = None,
    num_turns: int = 0,
    usage: Usage | None = None,
    value: Any = None,
) -> bytes:
    """The terminal record. ``subtype`` is ``success``, ``error``, ``error_limit`` or ``interrupted``.

    ``value`` is the structured output; without one the record has no such field.
    """
    structured = {} if value is None else {"structured_output": to_json(value)}
    return dump_line(
        {
            **structured,
            "type": "result",
            "subtype": subtype,
            "is_error": is_error,
            "result": result,
            "session_id": session_id,
            "num_turns": num_turns,
            "usage": to_json(usage),
            "error_code": code,
        }
    )
