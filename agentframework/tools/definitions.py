"""Descriptions of tools as they come from elsewhere, in one form.

Hosts describe tools by our own objects, by the function dicts of the chat APIs, or as MCP servers do; they are told
apart by their shape.
"""

from collections.abc import Mapping
from typing import Any, cast

from agentframework.errors import ConfigurationError
from agentframework.messages import ToolSpec
from agentframework.tools.tool import Tool

ToolDefinition = Tool | ToolSpec | Mapping[str, Any]
"""What an executor may list: a `Tool`, a ``ToolSpec``, ``{"type": "function", "function": {"name", "description",
"parameters"}}``, or flat ``{"name", "description", "input_schema" | "inputSchema" | "parameters"}``."""

_SCHEMA_KEYS = ("input_schema", "inputSchema", "parameters")


def spec_of(definition: ToolDefinition) -> ToolSpec:
    """The definition as a `ToolSpec`; one without a schema takes no arguments. Raises `ConfigurationError`."""
    if isinstance(definition, Tool):
        return definition.spec
    if isinstance(definition, ToolSpec):
        return definition
    flat = _flat(definition)
    name, description = flat.get("name"), flat.get("description") or ""
    schema: Any = next((flat[key] for key in _SCHEMA_KEYS if flat.get(key) is not None), None)
    if not isinstance(name, str) or not isinstance(description, str):
        raise ConfigurationError(f"a tool definition needs a name and a description that are text: {_brief(flat)}")
    if schema is None:
        schema = {"type": "object", "properties": {}}
    if not isinstance(schema, Mapping):
        raise ConfigurationError(f"the schema of tool {name!r} is no JSON object", details={"tool": name})
    return ToolSpec(name, description, cast("Mapping[str, Any]", schema))


def function_definition(spec: ToolSpec) -> dict[str, Any]:
    """The inverse, as a function dict."""
    function = {"name": spec.name, "description": spec.description, "parameters": dict(spec.input_schema)}
    return {"type": "function", "function": function}


def _flat(definition: object) -> Mapping[str, Any]:
    if not isinstance(definition, Mapping):
        kind = type(definition).__name__
        raise ConfigurationError(f"a tool definition is a Tool, a ToolSpec or a dict, not a {kind}")
    given = cast("Mapping[str, Any]", definition)
    inner = given.get("function")
    return cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else given


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
