"""Rules that Chat Completions and Responses have in common: fields, functions, pictures, structured output.

The wording follows OpenAI's errors, because programs recognise them by text, `param` and `code`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from typing import Any

from .images import image_problem
from .refusal import as_list, as_object, is_number, need, one_of
from .schema_rules import openai_schema_problem, strict_schema_problem

__all__ = [
    "check_arguments",
    "check_effort",
    "check_function",
    "check_image_url",
    "check_name",
    "check_plain_choice",
    "check_sampling",
    "check_schema_format",
    "check_stream_options",
    "check_tool_options",
    "known_fields",
    "kind_of",
    "text_of",
    "tool_list",
]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_DATA_URL = re.compile(r"data:([a-z]+/[a-z0-9.+-]+);base64,", re.ASCII)
_MAX_TOOLS = 128
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


def known_fields(value: Iterable[str], allowed: Collection[str], where: str = "") -> None:
    """Refuse parameters that the API does not have."""
    for name in value:
        path = f"{where}.{name}" if where else name
        need(name in allowed, f"Unknown parameter: '{path}'.", path, "unknown_parameter")


def kind_of(value: object, allowed: Collection[str], where: str) -> str:
    """The `type` of an object, which must be one of `allowed`."""
    kind = as_object(value, where).get("type")
    supported = ", ".join(f"'{name}'" for name in allowed)
    need(
        one_of(kind, allowed),
        f"Invalid value: '{kind}'. Supported values are: {supported}.",
        where,
        "invalid_value",
    )
    return str(kind)


def text_of(value: dict[str, Any], name: str, where: str, longest: int | None = None) -> str:
    """A required string field, not empty, of at most `longest` characters."""
    text, path = value.get(name), f"{where}.{name}"
    need(text is not None, f"Missing required parameter: '{path}'.", path, "missing_required_parameter")
    need(isinstance(text, str), f"Invalid type for '{path}': expected a string.", path, "invalid_type")
    need(
        text,
        f"Invalid '{path}': empty string. Expected a string with minimum length 1.",
        path,
        "empty_string",
    )
    need(
        longest is None or len(str(text)) <= longest,
        f"Invalid '{path}': string too long. Expected a string with maximum length {longest}, but got a "
        f"string with length {len(str(text))} instead.",
        path,
        "string_above_max_length",
    )
    return str(text)


def check_name(value: dict[str, Any], where: str) -> str:
    """A function or schema name."""
    name = text_of(value, "name", where)
    need(
        _NAME.match(name),
        f"Invalid '{where}.name': string does not match pattern. Expected a string that matches the pattern "
        "'^[a-zA-Z0-9_-]{1,64}$'.",
        f"{where}.name",
        "invalid_value",
    )
    return name


def check_arguments(value: dict[str, Any], where: str) -> None:
    """Call arguments: a string that holds a JSON object."""
    path, arguments = f"{where}.arguments", value.get("arguments")
    need(isinstance(arguments, str), f"Invalid type for '{path}': expected a string.", path, "invalid_type")
    try:
        parsed = json.loads(str(arguments))
    except (ValueError, RecursionError):
        parsed = None
    need(
        isinstance(parsed, dict),
        f"Invalid '{path}': expected a JSON object as a string.",
        path,
        "invalid_value",
    )


def tool_list(tools: object) -> list[Any]:
    """The `tools` parameter: absent, or 1 to 128 tools."""
    if tools is None:
        return []
    found = as_list(tools, "tools")
    need(
        found,
        "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        "tools",
        "empty_array",
    )
    need(
        len(found) <= _MAX_TOOLS,
        f"Invalid 'tools': array too long. Expected an array with maximum length {_MAX_TOOLS}, but got an "
        f"array with length {len(found)} instead.",
        "tools",
        "array_above_max_length",
    )
    return found


def check_function(function: dict[str, Any], where: str) -> str:
    """A function definition; returns its name."""
    name = check_name(function, where)
    description = function.get("description")
    need(
        description is None or isinstance(description, str),
        f"Invalid type for '{where}.description': expected a string.",
        f"{where}.description",
        "invalid_type",
    )
    parameters, path = function.get("parameters"), f"{where}.parameters"
    if parameters is None:
        return name
    schema = as_object(parameters, path)
    problem = openai_schema_problem(schema)
    if problem is None and function.get("strict") is True:
        problem = strict_schema_problem(schema)
    need(
        problem is None,
        f"Invalid schema for function '{name}': {problem}",
        path,
        "invalid_function_parameters",
    )
    return name


def check_tool_options(body: dict[str, Any], names: list[str], chosen: str | None) -> None:
    """Unique names, and options that go with tools only; tool_choice forces `chosen`."""
    need(len(set(names)) == len(names), "Invalid 'tools': tool names must be unique.", "tools", "invalid_value")
    for option in ("tool_choice", "parallel_tool_calls"):
        unset = body.get(option) is None or (option == "tool_choice" and body[option] == "none")
        need(
            unset or body.get("tools"),
            f"Invalid value for '{option}': '{option}' is only allowed when 'tools' are specified.",
            option,
        )
    need(
        chosen is None or chosen in names,
        f"Tool choice '{chosen}' not found in 'tools' parameter.",
        "tool_choice",
    )


def check_plain_choice(choice: object) -> None:
    """A tool_choice that is no object."""
    need(
        choice in (None, "none", "auto", "required"),
        f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'.",
        "tool_choice",
        "invalid_value",
    )


def check_effort(effort: object, where: str) -> None:
    """How hard to think."""
    need(effort in (None, *_EFFORTS), f"Invalid value for '{where}': '{effort}'.", where, "invalid_value")


def check_stream_options(body: dict[str, Any], allowed: Collection[str]) -> None:
    """Options of a stream, for a stream only."""
    if body.get("stream_options") is None:
        return
    need(
        body.get("stream") is True,
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
        "stream_options",
    )
    known_fields(as_object(body["stream_options"], "stream_options"), allowed, "stream_options")


def check_schema_format(wanted: dict[str, Any], where: str) -> None:
    """Name, schema and strictness of a structured answer."""
    name = check_name(wanted, where)
    schema = as_object(wanted.get("schema"), f"{where}.schema")
    if wanted.get("strict") is True:
        problem = strict_schema_problem(schema)
        need(
            problem is None,
            f"Invalid schema for response_format '{name}': {problem}",
            f"{where}.schema",
            "invalid_json_schema",
        )


def check_image_url(url: object, where: str) -> None:
    """An HTTP URL, or a data URL whose bytes are the picture it claims to be."""
    text = str(url)
    if text.startswith(("https://", "http://")):
        return
    match = _DATA_URL.match(text)
    need(
        match is not None,
        f"Invalid '{where}': expected a base64-encoded data URL or an HTTP URL.",
        where,
        "invalid_image_url",
    )
    assert match is not None
    problem = image_problem(match[1], text[match.end() :])
    need(problem is None, f"Invalid '{where}': {problem}", where, "invalid_image_format")


def check_sampling(body: dict[str, Any], limits: dict[str, tuple[float, float]]) -> None:
    """Numbers within their ranges."""
    for name, (low, high) in limits.items():
        value = body.get(name)
        need(
            value is None or is_number(value, low, high),
            f"Invalid '{name}': expected a value between {low} and {high}, but got {value!r} instead.",
            name,
            "decimal_above_max_value",
        )
