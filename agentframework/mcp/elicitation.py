"""What servers ask of a person, as questions of a session, and the answers as the protocol wants them.

Source: MCP specification 2025-11-25 and 2026-07-28, client/elicitation: forms are flat objects of texts, numbers,
booleans and choices; an address is opened by the person, never by us.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from agentframework._base.bounded import cut_end, printable
from agentframework.tools.answers import answers_by_question

_SHOWN = 2_000
_YES, _NO = "Yes", "No"
_OPENED, _DECLINE = "I have opened it", "Decline"
_CONTINUE = "Continue"


class UnfitAnswerError(ValueError):
    """An answer is not what its field takes."""


def questions_of(server_id: str, params: Any) -> list[dict[str, Any]]:
    """The questions for a person; none if the address may not be shown as one to open."""
    message = cut_end(printable(str(params.message)), _SHOWN)
    if params.mode == "url":
        if urlsplit(params.url).scheme not in ("https", "http"):
            return []
        text = f"MCP server {server_id} asks you to open {printable(params.url)} – {message}"
        return [_question(text, server_id, [_OPENED, _DECLINE], free=False)]
    fields = _fields(params.requested_schema)
    if not fields:
        return [_question(f"MCP server {server_id} asks: {message}", server_id, [_CONTINUE, _DECLINE], free=False)]
    return [
        _field_question(f"MCP server {server_id} asks: {message}", name, schema, alone=len(fields) == 1)
        for name, schema in fields.items()
    ]


def result_of(params: Any, questions: Sequence[Mapping[str, Any]], response: Any) -> dict[str, Any]:
    """The result for the server. ``response`` is what the questions were answered with, None if they were not."""
    if response is None or not questions:
        return {"action": "cancel"}
    answers = answers_by_question(response, [question["question"] for question in questions])
    given = [[] if answer.get("cancelled") else _values(answer) for answer in answers]
    if params.mode == "url" or not _fields(params.requested_schema):
        chosen = given[0][0] if given[0] else ""
        return {"action": "decline" if chosen == _DECLINE else "accept" if chosen in (_OPENED, _CONTINUE) else "cancel"}
    content: dict[str, Any] = {}
    required = params.requested_schema.get("required") or ()
    for (name, schema), values in zip(_fields(params.requested_schema).items(), given, strict=True):
        try:
            value = _value(schema, values)
        except UnfitAnswerError:
            return {"action": "cancel"}
        if value is not None:
            content[name] = value
        elif name in required:
            return {"action": "cancel"}
    return {"action": "accept", "content": content}


def _fields(schema: Any) -> dict[str, Mapping[str, Any]]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return {
        str(name): one if isinstance(one, Mapping) else {}
        for name, one in (properties.items() if isinstance(properties, Mapping) else ())
    }


def _field_question(message: str, name: str, schema: Mapping[str, Any], *, alone: bool) -> dict[str, Any]:
    label = str(schema.get("title") or name)
    about = f" ({schema['description']})" if schema.get("description") else ""
    text = message if alone and not about else f"{message} – {label}{about}"
    options = _options(schema)
    default = f" [{json.dumps(schema['default'], ensure_ascii=False)} if left out]" if "default" in schema else ""
    labels = [_YES, _NO] if schema.get("type") == "boolean" else [label for _, label in options]
    many = schema.get("type") == "array"
    return _question(cut_end(printable(text + default), 2 * _SHOWN), label, labels, free=not labels, many=many)


def _question(text: str, header: str, options: Sequence[str], *, free: bool, many: bool = False) -> dict[str, Any]:
    shown = [{"label": option} for option in options]
    return {"question": text, "header": header, "options": shown, "multiSelect": many, "allowFreeText": free}


def _options(schema: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """Values and their names: of ``enum`` (with ``enumNames``), ``oneOf``, or ``anyOf`` of an array's items."""
    source = schema.get("items") if schema.get("type") == "array" else schema
    if not isinstance(source, Mapping):
        return []
    for key in ("oneOf", "anyOf"):
        entries = source.get(key)
        if isinstance(entries, list):
            return [(one["const"], str(one.get("title", one["const"]))) for one in entries if "const" in one]
    values = source.get("enum")
    if not isinstance(values, list):
        return []
    names = schema.get("enumNames")
    named = names if isinstance(names, list) and len(names) == len(values) else values
    return [(value, str(name)) for value, name in zip(values, named, strict=True)]


def _values(answer: Mapping[str, Any]) -> list[str]:
    return [*answer.get("values", ()), *([answer["text"]] if answer.get("text") else [])]


def _value(schema: Mapping[str, Any], values: list[str]) -> Any:
    """The value of a field; its default, or None, without an answer. Raises `UnfitAnswerError`."""
    if not values:
        return schema.get("default")
    options = _options(schema)
    kind = schema.get("type")
    if options:
        chosen = [_chosen(options, value) for value in values]
        return chosen if kind == "array" else chosen[0]
    if kind == "boolean":
        return _boolean(values[0])
    if kind in ("integer", "number"):
        try:
            return int(values[0]) if kind == "integer" else float(values[0])
        except ValueError:
            raise UnfitAnswerError(values[0]) from None
    return values if kind == "array" else values[0]


def _chosen(options: Sequence[tuple[Any, str]], answer: str) -> Any:
    for value, label in options:
        if answer in (label, str(value)):
            return value
    raise UnfitAnswerError(answer)


def _boolean(answer: str) -> bool:
    word = answer.strip().lower()
    if word in ("yes", "y", "true", "1"):
        return True
    if word in ("no", "n", "false", "0"):
        return False
    raise UnfitAnswerError(answer)
