"""Content parts: what messages are made of.

Frozen data with a ``type`` tag, JSON-able through `agentframework.messages.codec`. Vendors' shapes appear
only inside their provider module.
"""

import base64
import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from agentframework.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class TextPart:
    """Plain text."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ImagePart:
    """An image, base64 encoded (``image/png``, ``image/jpeg``, ``image/gif``, ``image/webp``)."""

    mime_type: str
    data_base64: str
    width: int | None = None
    height: int | None = None
    type: Literal["image"] = "image"

    @classmethod
    def from_path(cls, path: str | Path) -> "ImagePart":
        """Read a file; the type is taken from its leading bytes. Raises `InvalidInputError` for others."""
        data = _read(Path(path))
        mime_type = image_type(data)
        if mime_type is None:
            raise InvalidInputError(f"{path} is not a PNG, JPEG, GIF or WebP image")
        return cls(mime_type, base64.b64encode(data).decode())


ImageBlock = ImagePart


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A document for the model to read, base64 encoded; PDF is what the APIs take."""

    mime_type: str
    data_base64: str
    name: str | None = None
    type: Literal["document"] = "document"

    @classmethod
    def from_path(cls, path: str | Path) -> "DocumentPart":
        """Read a file. Raises `InvalidInputError` if it cannot be read."""
        path = Path(path)
        mime_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        return cls(mime_type, base64.b64encode(_read(path)).decode(), path.name)


@dataclass(frozen=True, slots=True)
class ThinkingPart:
    """The model's reasoning. ``signature`` and ``data`` are the provider's own, sent back unchanged.

    ``data`` holds what must not be read: a redacted block, or the encrypted reasoning item of Responses.
    """

    text: str
    signature: str | None = None
    data: Mapping[str, Any] | None = None
    type: Literal["thinking"] = "thinking"


@dataclass(frozen=True, slots=True)
class OpaquePart:
    """A block of a provider that we do not know; kept, and sent back unchanged to that provider."""

    data: Mapping[str, Any]
    type: Literal["opaque"] = "opaque"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model.

    ``arguments`` is the parsed object, or None when the model's text was no JSON object; ``arguments_json``
    is that text as received and ``problem`` says what is wrong with it. ``extra`` holds provider fields we
    do not know, sent back unchanged.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    arguments_json: str = ""
    problem: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    type: Literal["tool_call"] = "tool_call"


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The answer to one tool call: text for the model, and optional images beside it."""

    tool_use_id: str
    tool_name: str
    content: str
    is_error: bool = False
    images: tuple[ImagePart, ...] = ()
    type: Literal["tool_result"] = "tool_result"


UserPart = TextPart | ImagePart | DocumentPart
AssistantPart = TextPart | ThinkingPart | ToolCall | OpaquePart


def image_type(data: bytes) -> str | None:
    """MIME type by the leading bytes, or None: the four formats that the model APIs take."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data[:6] in (b"GIF87a", b"GIF89a"):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def as_user_part(value: object) -> UserPart:
    """``value`` if it is a part of a prompt, or the part that a dict stands for. Raises `InvalidInputError`."""
    part = part_from_dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else value
    if not isinstance(part, TextPart | ImagePart | DocumentPart):
        raise InvalidInputError(
            f"a content part is a TextPart, ImagePart, DocumentPart or such a dict, not a {type(part).__name__}"
        )
    text = part.text if isinstance(part, TextPart) else part.data_base64
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"a {part.type} part holds text (bytes as base64), not {type(text).__name__}")
    return part


def part_from_dict(value: Mapping[str, Any]) -> UserPart:
    """A user part from its dict form, or from the ``image_url`` form of chat APIs (``data:`` URLs only).

    Raises `InvalidInputError` naming the field.
    """
    kind = value.get("type")
    try:
        if kind == "text":
            return TextPart(_string(value, "text"))
        if kind == "image":
            return ImagePart(_string(value, "mime_type"), _string(value, "data_base64"))
        if kind == "document":
            return DocumentPart(_string(value, "mime_type"), _string(value, "data_base64"), value.get("name"))
        if kind == "image_url":
            url: Any = value.get("image_url")
            return _image_from_url(cast("Mapping[str, Any]", url)["url"] if isinstance(url, Mapping) else url)
    except KeyError as error:
        raise InvalidInputError(f"content part of type {kind!r} needs the text field {error.args[0]!r}") from None
    raise InvalidInputError(f"content part of unknown type {kind!r}; known are text, image, document, image_url")


def _string(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    if not isinstance(found, str):
        raise KeyError(key)
    return found


def _image_from_url(url: object) -> ImagePart:
    if not isinstance(url, str) or not url.startswith("data:") or ";base64," not in url:
        raise InvalidInputError("image_url must be a base64 data: URL; fetch remote images first")
    head, data = url[5:].split(";base64,", 1)
    return ImagePart(head, data)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"cannot read {path}: {error.strerror or error}") from error
