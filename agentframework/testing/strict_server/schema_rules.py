"""Rules on JSON schemas that travel in requests: tool parameters and structured output.

The APIs take a subset of JSON Schema. Sources: https://platform.openai.com/docs/guides/structured-outputs,
https://platform.claude.com/docs/en/build-with-claude/structured-outputs, and the error texts of both APIs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = [
    "anthropic_schema_problem",
    "closed_object_problem",
    "openai_schema_problem",
    "strict_schema_problem",
]

_COMBINATORS = ("oneOf", "anyOf", "allOf")
_PROPERTY_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}\Z")


def anthropic_schema_problem(schema: Mapping[str, Any]) -> str | None:
    """Why Messages would refuse `schema` as an input_schema, or None."""
    if schema.get("type") != "object":
        return "type: Input should be 'object'"
    if any(word in schema for word in _COMBINATORS):
        return "input_schema does not support oneOf, allOf, or anyOf at the top level"
    properties = schema.get("properties")
    if properties is not None and not isinstance(properties, dict):
        return "properties: Input should be an object"
    for name in properties or {}:
        if not _PROPERTY_NAME.match(name):
            return "properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
    return None


def openai_schema_problem(schema: Mapping[str, Any]) -> str | None:
    """Why OpenAI would refuse `schema` as function parameters, or None."""
    if schema.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: {schema.get('type')!r}'"
    if any(word in schema for word in (*_COMBINATORS, "enum", "not")):
        return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level"
    if not isinstance(schema.get("properties"), dict):
        return "In context=(), object schema missing properties"
    for path, node in _nodes(schema, ()):
        if node.get("type") == "array" and "items" not in node and "prefixItems" not in node:
            return f"In context={path}, array schema missing items"
    return None


def closed_object_problem(schema: Mapping[str, Any]) -> str | None:
    """Every object must say `additionalProperties: false` (structured output of both vendors)."""
    for path, node in _nodes(schema, ()):
        if _is_object(node) and node.get("additionalProperties") is not False:
            return f"In context={path}, 'additionalProperties' is required to be supplied and to be false"
    return None


def strict_schema_problem(schema: Mapping[str, Any]) -> str | None:
    """OpenAI's strict mode: a closed object at the root, every property required."""
    if schema.get("type") != "object":
        return "schema must be a JSON Schema of 'type: \"object\"'"
    problem = closed_object_problem(schema)
    if problem is not None:
        return problem
    for path, node in _nodes(schema, ()):
        names = set(node.get("properties") or {})
        if _is_object(node) and names != set(node.get("required") or ()):
            return f"In context={path}, 'required' is required to be an array including every key in properties"
    return None


def _is_object(node: Mapping[str, Any]) -> bool:
    kind = node.get("type")
    return kind == "object" or (isinstance(kind, list) and "object" in kind) or "properties" in node


def _nodes(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every subschema with its path, the schema itself first."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for word in ("properties", "$defs", "definitions"):
        members = schema.get(word)
        for name, member in members.items() if isinstance(members, dict) else ():
            yield from _nodes(member, (*path, word, name))
    for word in ("items", "additionalProperties"):
        yield from _nodes(schema.get(word), (*path, word))
    for word in _COMBINATORS:
        members = schema.get(word)
        for number, member in enumerate(members if isinstance(members, list) else ()):
            yield from _nodes(member, (*path, word, str(number)))
