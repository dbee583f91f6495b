"""The JSON schema that the next action is decoded under."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentframework.messages import ToolSpec

# What servers with schema-constrained decoding take in common. The rest (`not`, `if`, formats, …) only narrows
# further; arguments are checked against the tool's whole schema before the tool runs.
_KEPT = frozenset({
    "type", "properties", "required", "items", "enum", "const", "anyOf", "$ref",
    "minItems", "maxItems", "minimum", "maximum",
})  # fmt: skip
_ANSWER: Mapping[str, Any] = {"type": "string"}
_PATH_NAMES = ("path", "file", "filename")


def action_schema(
    tools: Sequence[ToolSpec],
    *,
    answer: Mapping[str, Any] | None = None,
    required_only: bool = False,
    files: Sequence[str] = (),
) -> dict[str, Any]:
    """One variant per tool and one for the reply, which is a string or matches the schema ``answer``.

    ``required_only`` leaves out optional arguments. ``files``, if any, are the only values that a required
    argument for a path can take.
    """
    shared: dict[str, Any] = {}
    variants = [_tool_variant(spec, shared, required_only, files) for spec in tools]
    variants.append(_object({"answer": _hoisted(answer or _ANSWER, "answer", shared)}))
    schema: dict[str, Any] = {"anyOf": variants} if len(variants) > 1 else variants[0]
    if shared:
        schema["$defs"] = shared
    return schema


def _tool_variant(spec: ToolSpec, shared: dict[str, Any], required_only: bool, files: Sequence[str]) -> dict[str, Any]:
    full = _hoisted(spec.input_schema, spec.name, shared)
    required = [name for name in full.get("required") or () if name in (full.get("properties") or {})]
    properties: dict[str, Any] = full.get("properties") or {}
    if required_only:
        properties = {name: properties[name] for name in required}
    if files:
        for name in required:
            if is_path_argument(name, properties[name]):
                properties[name] = {"enum": list(files)}
    arguments = _object(properties, required)
    return _object({"tool": {"const": spec.name}, "arguments": arguments})


def is_path_argument(name: str, schema: Mapping[str, Any]) -> bool:
    """True for a string argument named like a path: ``path``, ``file_path``, ``source_file`` …"""
    return schema.get("type") == "string" and "enum" not in schema and name.lower().endswith(_PATH_NAMES)


def _object(properties: Mapping[str, Any], required: Sequence[str] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }


def _hoisted(schema: Mapping[str, Any], owner: str, shared: dict[str, Any]) -> dict[str, Any]:
    """``schema`` without what servers do not take; its definitions move to ``shared`` under the owner's name."""
    for key in ("$defs", "definitions"):
        for name, definition in (schema.get(key) or {}).items():
            shared[f"{owner}.{name}"] = _kept(definition, owner)
    return _kept(schema, owner)


def _kept(schema: object, owner: str) -> Any:
    if not isinstance(schema, Mapping):
        return {}
    kept: dict[str, Any] = {key: value for key, value in schema.items() if key in _KEPT}
    if "oneOf" in schema and "anyOf" not in kept:
        kept["anyOf"] = schema["oneOf"]
    if isinstance(kept.get("properties"), Mapping):
        kept["properties"] = {name: _kept(value, owner) for name, value in kept["properties"].items()}
    if "items" in kept:
        kept["items"] = _kept(kept["items"], owner)
    if "anyOf" in kept:
        kept["anyOf"] = [_kept(value, owner) for value in kept["anyOf"]]
    if isinstance(kept.get("$ref"), str):
        kept = {"$ref": f"#/$defs/{owner}.{kept['$ref'].rsplit('/', 1)[-1]}"}
    return kept
