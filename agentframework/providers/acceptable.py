"""What every model API would refuse in a history, made acceptable: names, ids, pictures, blank texts, schemas.

Pure functions of their argument, so that a message has the same bytes in every request that contains it.
"""

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentframework.errors import InvalidInputError
from agentframework.messages import (
    DocumentPart,
    ImagePart,
    Message,
    TextPart,
    ToolMessage,
    ToolResultPart,
    UserMessage,
    UserPart,
)
from agentframework.messages.pictures import fitting_image

NO_OUTPUT = "(no output)"
NO_TEXT = "(no text)"
NO_THINK = "/no_think"
MAX_NAME = 64
MAX_DOCUMENT_BYTES = 20_000_000

_NOT_PLAIN = re.compile(r"[^a-zA-Z0-9_-]")


def safe_name(name: str) -> str:
    """A tool name that all APIs take: 1 to 64 of ``A-Z a-z 0-9 _ -``."""
    return _NOT_PLAIN.sub("_", name)[:MAX_NAME] or "unknown"


def safe_id(identity: str, longest: int = 64) -> str:
    """A call id that all APIs take. Ids that have to be changed stay apart by a hash of the original."""
    if identity and len(identity) <= longest and not _NOT_PLAIN.search(identity):
        return identity
    digest = hashlib.sha256(identity.encode("utf-8", "replace")).hexdigest()[:12]
    return f"{_NOT_PLAIN.sub('_', identity)[: longest - 13] or 'call'}_{digest}"


def result_text(part: ToolResultPart, *, has_error_flag: bool) -> str:
    """Text of a tool result; APIs without an error flag get the word instead."""
    text = part.content if part.content.strip() else ("" if part.images else NO_OUTPUT)
    if part.is_error and not has_error_flag and not text.lower().startswith("error"):
        return f"Error: {text}".rstrip()
    return text


def usable_image(image: ImagePart) -> ImagePart | TextPart:
    """The image as all APIs take it (type by its bytes, scaled down if too large), or a note in its place."""
    data = _bytes_of(image.data_base64)
    if data is None:
        return TextPart("[image left out: its data is no base64]")
    try:
        return fitting_image(data)[0]
    except InvalidInputError as error:
        return TextPart(f"[image left out: {error.message}]")


def usable_document(document: DocumentPart) -> DocumentPart | TextPart:
    """A PDF as it is, a text file as text, a note in the place of anything else."""
    name = document.name or "document"
    data = _bytes_of(document.data_base64)
    if data is None:
        return TextPart(f"[{name} left out: its data is no base64]")
    if document.mime_type == "application/pdf":
        if len(data) > MAX_DOCUMENT_BYTES:
            return TextPart(f"[{name} left out: larger than {MAX_DOCUMENT_BYTES // 1_000_000} MB]")
        if b"%PDF" not in data[:1024]:
            return TextPart(f"[{name} left out: it is no PDF]")
        return document
    if document.mime_type.startswith("text/") or document.mime_type == "application/json":
        return TextPart(f"{name}:\n{data.decode('utf-8', 'replace').strip() or NO_TEXT}")
    return TextPart(f"[{name} left out: {document.mime_type} cannot be read by the model]")


def _bytes_of(text: str) -> bytes | None:
    """The bytes of base64 text, which may be broken into lines; None if it is none."""
    try:
        return base64.b64decode("".join(text.split()), validate=True) or None
    except (binascii.Error, ValueError):
        return None


def has_pictures(message: Message) -> bool:
    """Whether encoding this message means decoding images."""
    if isinstance(message, UserMessage):
        return any(isinstance(part, ImagePart) for part in message.content)
    return isinstance(message, ToolMessage) and any(part.images for part in message.content)


def usable_parts(content: tuple[UserPart, ...]) -> list[UserPart]:
    """Parts of a user message without blank texts; at least one."""
    parts: list[UserPart] = []
    for part in content:
        if isinstance(part, ImagePart):
            parts.append(usable_image(part))
        elif isinstance(part, DocumentPart):
            parts.append(usable_document(part))
        elif part.text.strip():
            parts.append(part)
    return parts or [TextPart(NO_TEXT)]


def ask_directly(text: str) -> str:
    """``text`` with ``/no_think`` at its end, once: the switch of Qwen 3 and others that turns thinking off."""
    return text if text.rstrip().endswith(NO_THINK) else f"{text} {NO_THINK}".lstrip()


def without_thinking(message: UserMessage) -> UserMessage:
    """``message`` whose last text ends in ``/no_think``."""
    parts = list(message.content)
    for at in reversed(range(len(parts))):
        part = parts[at]
        if isinstance(part, TextPart):
            parts[at] = TextPart(ask_directly(part.text))
            break
    else:
        parts.append(TextPart(NO_THINK))
    return replace(message, content=tuple(parts))


def closed_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """``schema`` with ``additionalProperties: false`` on each object, as structured output demands."""
    closed: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "$defs", "definitions") and isinstance(value, Mapping):
            closed[key] = {name: _closed(member) for name, member in value.items()}
        elif key in ("items", "anyOf", "oneOf", "allOf", "prefixItems"):
            closed[key] = [_closed(member) for member in value] if isinstance(value, list) else _closed(value)
        else:
            closed[key] = value
    kind = schema.get("type")
    if kind == "object" or (isinstance(kind, list) and "object" in kind) or "properties" in schema:
        closed["additionalProperties"] = False
    return closed


def is_strict(schema: Any) -> bool:
    """Whether OpenAI's strict mode takes ``schema`` once closed: objects all through require every property."""
    return isinstance(schema, Mapping) and schema.get("type") == "object" and _requires_all(schema)


def _closed(schema: Any) -> Any:
    return closed_schema(schema) if isinstance(schema, Mapping) else schema


def _requires_all(schema: Any) -> bool:
    if isinstance(schema, list):
        return all(_requires_all(member) for member in schema)
    if not isinstance(schema, Mapping):
        return True
    properties = schema.get("properties")
    members = list(properties.values()) if isinstance(properties, Mapping) else []
    if members and set(schema.get("required") or ()) != set(properties or ()):
        return False
    if schema.get("additionalProperties") not in (None, False) or "oneOf" in schema or "allOf" in schema:
        return False
    for key in ("$defs", "definitions"):
        group = schema.get(key)
        members += group.values() if isinstance(group, Mapping) else ()
    return all(map(_requires_all, (*members, schema.get("items"), schema.get("anyOf"))))


def parameters_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A tool's schema with the ``properties`` that OpenAI insists on."""
    return schema if isinstance(schema.get("properties"), Mapping) else {**schema, "properties": {}}
