"""What a tool gives back."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass
from typing import Any, cast

from agentframework.errors import InvalidInputError
from agentframework.events import Diff
from agentframework.messages import ImagePart, TextPart, part_from_dict


@dataclass(frozen=True, slots=True)
class ToolResult:
    """``content`` is the text for the model; ``content_blocks`` are images beside it (`ImageBlock` or dicts).

    ``structured`` is the same result for programs; ``diff`` is what an edit changed, for display. ``truncated``: the
    text is not all there was; ``spill_path`` then names the file with all of it, until the session ends.
    """

    content: str = ""
    is_error: bool = False
    content_blocks: tuple[Any, ...] = ()
    structured: Any = None
    diff: Diff | None = field(default=None, kw_only=True)
    truncated: bool = field(default=False, kw_only=True)
    spill_path: str | None = field(default=None, kw_only=True)

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """The image blocks. Raises `InvalidInputError` for a block that is neither image nor text."""
        return tuple(part for part in self._blocks() if isinstance(part, ImagePart))

    @property
    def full_text(self) -> str:
        """The content and every text block, one a line. Raises like `images`."""
        texts = [part.text for part in self._blocks() if isinstance(part, TextPart)]
        return "\n".join([self.content, *texts] if self.content else texts)

    def _blocks(self) -> list[TextPart | ImagePart]:
        parts: list[TextPart | ImagePart] = []
        for block in self.content_blocks:
            part = part_from_dict(cast("Mapping[str, Any]", block)) if isinstance(block, Mapping) else block
            if not isinstance(part, TextPart | ImagePart):
                raise InvalidInputError(f"a tool result holds text and images, not a {_kind(part)}")
            if isinstance(part, ImagePart) and not _is_text(part.data_base64):
                raise InvalidInputError("data_base64 of an image has to be text; encode the bytes with base64")
            parts.append(part)
        return parts


def _is_text(value: object) -> bool:
    return isinstance(value, str)  # a tool may have built the part with bytes


def _kind(part: object) -> str:
    return str(getattr(part, "type", type(part).__name__))


def error_result(message: str) -> ToolResult:
    """A failed call: the model reads ``Error: message``."""
    return ToolResult(f"Error: {message}", is_error=True)


def as_tool_result(value: Any) -> ToolResult:
    """What a tool function returned, as a `ToolResult`: text as it is, None as empty, data as JSON.

    A pydantic model or dataclass counts as its data, also inside lists and dicts. Raises ``TypeError`` or
    ``ValueError`` for a value that is no JSON.
    """
    if isinstance(value, ToolResult):
        return value
    if value is None:
        return ToolResult()
    if isinstance(value, str):
        return ToolResult(value)
    if isinstance(value, ImagePart):
        return ToolResult(content_blocks=(value,))
    if hasattr(value, "model_dump") or is_dataclass(value):
        value = _plain(value)
    return ToolResult(json.dumps(value, ensure_ascii=False, default=_plain), structured=value)


def _plain(value: Any) -> Any:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"a tool returns text, JSON data or a ToolResult; {type(value).__name__} is none of these")
