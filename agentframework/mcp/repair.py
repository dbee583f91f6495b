"""Answers that break the protocol in one place, mended there, so that one bad tool or block does not cost the rest.

The official client checks an answer as a whole and refuses it as a whole. Here the parts of an answer that it would
refuse are found one by one and replaced by the nearest thing that it takes; nothing is touched in an answer that is
right. What was left out or replaced is noted in words.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from agentframework._base.bounded import cut_end
from agentframework.mcp.schemas import RAW_SCHEMA

_TOOL_TEXTS = ("name", "title", "description")
_BLOCK_FIELDS = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name", "title", "description", "mimeType"),
    "resource": ("resource",),
}
_PLACEHOLDER_CHARACTERS = 500

Note = Callable[[str], None]


def mended(method: str, version: str, result: dict[str, Any], note: Note) -> dict[str, Any]:
    """``result`` of ``method``, or a copy in which the faulty parts are replaced."""
    mend = _MENDERS.get(method)
    if mend is None or _fits(method, version, result):
        return result
    return mend(_Check(method, version, note), result)


def _fits(method: str, version: str, result: Mapping[str, Any]) -> bool:
    try:
        validate_server_result(method, version, result)
    except ValidationError:
        return False
    except (KeyError, ValueError):
        return True  # nothing is known about it; the client will say
    return True


class _Check:
    def __init__(self, method: str, version: str, note: Note) -> None:
        self.method, self.version, self.note = method, version, note

    def fits(self, result: Mapping[str, Any]) -> bool:
        return _fits(self.method, self.version, result)


def _tools(check: _Check, result: dict[str, Any]) -> dict[str, Any]:
    given = result.get("tools")
    if not isinstance(given, list):
        check.note("its list of tools is no list; it is taken as empty")
        return {**result, "tools": []}
    kept: list[Any] = []
    for position, tool in enumerate(given):
        candidates = (tool, _plain_tool(tool)) if isinstance(tool, dict) else ()
        fitting = next((one for one in candidates if check.fits({**result, "tools": [one]})), None)
        if fitting is not None:
            kept.append(fitting)
        else:
            name = tool.get("name") if isinstance(tool, dict) else None
            check.note(f"tool {name!r} (number {position + 1}) is left out: its definition is malformed")
    return _lenient_page(check, {**result, "tools": kept})


def _plain_tool(tool: dict[str, Any]) -> dict[str, Any]:
    """What a model needs of a tool; a schema that may not stand there goes into ``_meta``."""
    plain: dict[str, Any] = {key: tool[key] for key in _TOOL_TEXTS if isinstance(tool.get(key), str)}
    schema = tool.get("inputSchema")
    meta = dict(tool["_meta"]) if isinstance(tool.get("_meta"), dict) else {}
    if isinstance(schema, dict) and schema.get("type") == "object":
        plain["inputSchema"] = {**schema, "properties": schema.get("properties") or {}}
    else:
        plain["inputSchema"] = {"type": "object"}
    meta[RAW_SCHEMA] = schema
    hints = tool.get("annotations")
    if isinstance(hints, dict):
        plain["annotations"] = {key: value for key, value in hints.items() if isinstance(value, bool)}
    return {**plain, "_meta": meta}


def _lenient_page(check: _Check, result: dict[str, Any]) -> dict[str, Any]:
    """Without a cursor or hints that are of the wrong kind."""
    if check.fits(result):
        return result
    return {
        key: value
        for key, value in result.items()
        if key in ("tools", "resultType") or check.fits({"tools": [], key: value})
    }


def _call(check: _Check, result: dict[str, Any]) -> dict[str, Any]:
    content = result.get("content")
    if not isinstance(content, list):
        content = [] if content is None else [content]
    bare = {"resultType": result["resultType"]} if "resultType" in result else {}
    blocks = [_block(block, lambda one: check.fits({**bare, "content": [one]})) for block in content]
    whole: dict[str, Any] = {**bare, "content": blocks, "isError": result.get("isError") is True}
    for key in ("structuredContent", "_meta"):
        if key not in result:
            continue
        wrapped = {"result": result[key]} if key == "structuredContent" else {}
        value = next((one for one in (result[key], wrapped) if check.fits({**whole, key: one})), None)
        if value is not None:
            whole[key] = value
    return whole


def _messages(check: _Check, result: dict[str, Any]) -> dict[str, Any]:
    given = result.get("messages")
    bare = {"resultType": result["resultType"]} if "resultType" in result else {}
    kept: list[Any] = []
    for message in given if isinstance(given, list) else []:
        role = message.get("role") if isinstance(message, dict) else None
        role = role if role in ("user", "assistant") else "user"
        content = message.get("content") if isinstance(message, dict) else message
        for block in content if isinstance(content, list) else [content]:
            fits = lambda one, role=role: check.fits({**bare, "messages": [{"role": role, "content": one}]})  # noqa: E731
            kept.append({"role": role, "content": _block(block, fits)})
    return {**bare, "messages": kept}


def _block(block: Any, fits: Callable[[Any], bool]) -> dict[str, Any]:
    """The block, or what it is without its decorations, or words about it."""
    if isinstance(block, str):
        return {"type": "text", "text": block}
    if isinstance(block, dict):
        kind = block.get("type")
        plain = {"type": kind, **{key: block[key] for key in _BLOCK_FIELDS.get(str(kind), ()) if key in block}}
        for candidate in (block, plain):
            if fits(candidate):
                return candidate
    return {"type": "text", "text": placeholder(block)}


def placeholder(block: Any) -> str:
    """Words for a block that cannot be shown: its type, its size and how it begins."""
    kind = block.get("type") if isinstance(block, Mapping) else type(block).__name__
    try:
        text = json.dumps(block, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        text = ""
    return (
        cut_end(f"[content of type {kind!r} cannot be shown, {len(text)} characters: {text}", _PLACEHOLDER_CHARACTERS)
        + "]"
    )


_MENDERS: Mapping[str, Callable[[_Check, dict[str, Any]], dict[str, Any]]] = {
    "tools/list": _tools,
    "tools/call": _call,
    "prompts/get": _messages,
}
