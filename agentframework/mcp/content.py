"""Results of servers as what a model can read: text, images, and words for everything else.

Takes the models of the official client and the dicts of the wire alike. Nothing raises: a block that cannot be shown
becomes a short placeholder in its place, so that the order stays.
"""

import base64
import binascii
import json
from collections.abc import Iterable, Mapping
from typing import Any

from agentframework._base.bounded import cut_end, printable
from agentframework.errors import InvalidInputError
from agentframework.messages import ImagePart, TextPart
from agentframework.messages.pictures import fitting_image
from agentframework.tools.result import ToolResult

_PLACEHOLDER = 500
_TEXT_TYPES = ("text/", "application/json", "application/xml", "application/javascript", "application/yaml")


def normalize_mcp_content_block(block: Any) -> TextPart | ImagePart:
    """One content block for a model: text as it is, an image as one that every API takes (scaled down if need be, which
    takes up to a second), a link or an embedded resource as text with its URI, anything else as a placeholder."""
    data = _as_dict(block)
    kind = data.get("type")
    if kind == "text" and isinstance(data.get("text"), str):
        return TextPart(printable(data["text"]))
    if kind == "image":
        return _image(data.get("data"), str(data.get("mimeType") or "image"))
    if kind == "audio":
        return TextPart(f"[{data.get('mimeType') or 'audio'} of {_size(data.get('data'))}, which cannot be heard here]")
    if kind == "resource_link":
        return TextPart(_link(data))
    if kind == "resource":
        return _resource(_as_dict(data.get("resource")))
    text = json.dumps(data or str(block), ensure_ascii=False, default=str)
    return TextPart(
        cut_end(f"[content of unknown type {kind!r}, {len(text)} characters: {printable(text)}", _PLACEHOLDER) + "]"
    )


def normalize_mcp_content_blocks(blocks: Iterable[Any] | None) -> tuple[TextPart | ImagePart, ...]:
    """Each block for a model, in order."""
    return tuple(normalize_mcp_content_block(block) for block in blocks or ())


def normalize_mcp_tool_result(result: Any) -> ToolResult:
    """The result of ``tools/call`` as a `ToolResult`.

    Texts are joined in order; an image among them leaves ``[image N]`` in its place. Structured content is there for
    programs, and for the model unless the texts say the same.
    """
    data = _as_dict(result)
    blocks = _blocks_of(result, data)
    parts = normalize_mcp_content_blocks(blocks)
    images = tuple(part for part in parts if isinstance(part, ImagePart))
    structured = data.get("structuredContent", data.get("structured_content"))
    texts = [part.text for part in parts if isinstance(part, TextPart)]
    lines = _lines(parts) if texts else []
    if structured is not None and not _says_the_same(texts, structured):
        lines.append(printable(json.dumps(structured, ensure_ascii=False, default=str)))
    failed = bool(data.get("isError", data.get("is_error", False)))
    text = "\n".join(lines)
    if failed and not text.strip() and not images:
        text = "The tool failed and did not say why."
    return ToolResult(text, failed, images, structured)


def holds_images(result: Any) -> bool:
    """Whether reading ``result`` takes long enough to belong into a thread."""
    return any(_kind_of(block) in ("image", "resource") for block in getattr(result, "content", None) or ())


def _kind_of(block: Any) -> Any:
    return block.get("type") if isinstance(block, Mapping) else getattr(block, "type", None)


def _blocks_of(result: Any, data: Mapping[str, Any]) -> Iterable[Any]:
    content = getattr(result, "content", None) if not isinstance(result, Mapping) else data.get("content")
    return content if isinstance(content, list | tuple) else [] if content is None else [content]


def _lines(parts: Iterable[TextPart | ImagePart]) -> list[str]:
    lines: list[str] = []
    images = 0
    waiting: list[str] = []  # markers count only if text follows
    for part in parts:
        if isinstance(part, ImagePart):
            images += 1
            waiting.append(f"[image {images}]")
        else:
            lines += [*waiting, part.text]
            waiting = []
    return lines


def _says_the_same(texts: list[str], structured: Any) -> bool:
    """Whether the texts are the structured content in other words: as JSON, or unwrapped from ``{"result": …}``."""
    if not texts:
        return False
    wrapped = isinstance(structured, Mapping) and set(structured) == {"result"}
    values = [structured, structured["result"]] if wrapped else [structured]
    joined = "\n".join(texts)
    for value in values:
        if joined == value or _json(joined) == (value,):
            return True
        each = isinstance(value, list) and len(value) == len(texts)
        if each and all(text == one or _json(text) == (one,) for text, one in zip(texts, value, strict=True)):
            return True
    return False


def _json(text: str) -> tuple[Any] | None:
    try:
        return (json.loads(text),)
    except ValueError:
        return None


def _image(data: Any, mime_type: str) -> TextPart | ImagePart:
    if not isinstance(data, str):
        return TextPart(f"[image {mime_type} without data]")
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return TextPart(f"[image {mime_type} left out: its data is damaged]")
    try:
        return fitting_image(raw)[0]
    except InvalidInputError as error:
        return TextPart(f"[image {mime_type} of {_size(data)} left out: {error.message}]")


def _link(data: Mapping[str, Any]) -> str:
    named = " – ".join(str(data[key]) for key in ("title", "name", "description") if data.get(key))
    about = ", ".join(filter(None, [named, str(data.get("mimeType") or "")]))
    return f"[resource {data.get('uri')}" + (f": {about}]" if about else "]")


def _resource(data: Mapping[str, Any]) -> TextPart | ImagePart:
    uri, mime_type = data.get("uri"), str(data.get("mimeType") or "")
    if isinstance(data.get("text"), str):
        return TextPart(f"[resource {uri}]\n{printable(data['text'])}")
    blob = data.get("blob")
    if mime_type.startswith("image/"):
        return _image(blob, mime_type)
    if isinstance(blob, str) and mime_type.startswith(_TEXT_TYPES):
        try:
            return TextPart(f"[resource {uri}]\n{base64.b64decode(blob, validate=True).decode('utf-8')}")
        except (binascii.Error, ValueError):
            pass
    return TextPart(f"[resource {uri}: {mime_type or 'binary'} of {_size(blob)}, which cannot be shown]")


def _size(data: Any) -> str:
    return f"{len(data) * 3 // 4} bytes" if isinstance(data, str) else "no bytes"


def _as_dict(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    dump = getattr(value, "model_dump", None)
    if not callable(dump):
        return {}
    dumped = dump(by_alias=True, mode="json", exclude_none=True, exclude={"content"})
    return dumped if isinstance(dumped, dict) else {}
