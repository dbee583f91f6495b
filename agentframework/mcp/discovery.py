"""What a server lists as tools, made into definitions that a registry and a model take.

A tool that cannot be used is left out and named; it never costs the others.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from agentframework._base.bounded import cut_end
from agentframework.mcp.schemas import RAW_SCHEMA, UnusableSchemaError, normalised_schema
from agentframework.tools.names import qualify_model_tool_name

MAX_DESCRIPTION = 8_000

Note = Callable[[str], None]


def usable_definitions(server_id: str, tools: Iterable[Any], note: Note) -> list[dict[str, Any]]:
    """The usable ones of a server's tools under their original names, sorted by their names for the model.

    ``tools`` are models of the official client or dicts as on the wire. What is left out is told to ``note``.
    """
    found: dict[str, dict[str, Any]] = {}
    originals: set[str] = set()
    for tool in tools:
        data = tool if isinstance(tool, Mapping) else tool.model_dump(by_alias=True, mode="json", exclude_none=True)
        original = data.get("name")
        if not isinstance(original, str) or not original.strip():
            note("a tool without a name is left out")
            continue
        if original in originals:
            note(f"tool {original!r} is listed twice; the first one counts")
            continue
        originals.add(original)
        try:
            definition = _definition(server_id, original, data)
        except UnusableSchemaError as error:
            note(f"tool {original!r} is left out: {error}")
            continue
        name = qualify_model_tool_name(server_id, original)
        if name in found:
            note(f"tool {original!r} is left out: its name reads the same as that of {found[name]['name']!r}")
            continue
        found[name] = definition
    return [found[name] for name in sorted(found)]


def _definition(server_id: str, original: str, data: Mapping[str, Any]) -> dict[str, Any]:
    meta = data.get("_meta")
    schema = data.get("inputSchema", data.get("input_schema"))
    if isinstance(meta, Mapping) and RAW_SCHEMA in meta:
        schema = meta[RAW_SCHEMA]
    hints = data.get("annotations")
    annotations = dict(hints) if isinstance(hints, Mapping) else {}
    title = data.get("title") or annotations.get("title")
    description = data.get("description") or title or f"{original} of {server_id}"
    return {
        "name": original,
        "description": cut_end(str(description), MAX_DESCRIPTION),
        "inputSchema": normalised_schema(schema),
        "annotations": annotations,
    }
