"""What a tool gives back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from agentframework.events import Diff
from agentframework.messages import ImagePart, TextPart, part_from_dict


@dataclass(frozen=True, slots=True)
class ToolResult:
    """``content`` is the text for the model; ``content_blocks`` are images beside it (`ImageBlock` or dicts).

    ``structured`` is the same result for programs; ``diff`` is what an edit changed, for display.
    """

    content: str = ""
    is_error: bool = False
    content_blocks: tuple[Any, ...] = ()
    structured: Any = None
    diff: Diff | None = field(default=None, kw_only=True)

    @property
    def images(self) -> tuple[ImagePart, ...]:
        """The image blocks. Raises `InvalidInputError` for a block of another kind."""
        parts = [
            part_from_dict(cast("Mapping[str, Any]", block)) if isinstance(block, Mapping) else block
            for block in self.content_blocks
        ]
        return tuple(part for part in parts if isinstance(part, ImagePart))

    @property
    def full_text(self) -> str:
        """The content and every text block, one a line."""
        texts = [self.content] if self.content else []
        for block in self.content_blocks:
            part = part_from_dict(cast("Mapping[str, Any]", block)) if isinstance(block, Mapping) else block
            if isinstance(part, TextPart):
                texts.append(part.text)
        return "\n".join(texts)


def error_result(message: str) -> ToolResult:
    """A failed call: the model reads ``Error: message``."""
    return ToolResult(f"Error: {message}", is_error=True)


def as_tool_result(value: Any) -> ToolResult:
    """What a tool function returned, as a `ToolResult`: text as it is, None as empty, data as JSON.

    Raises ``TypeError`` for a value that is no JSON.
    """
    if isinstance(value, ToolResult):
        return value
    if value is None:
        return ToolResult()
    if isinstance(value, str):
        return ToolResult(value)
    if isinstance(value, ImagePart):
        return ToolResult(content_blocks=(value,))
    dump = getattr(value, "model_dump", None)
    data = dump(mode="json") if callable(dump) else value
    return ToolResult(json.dumps(data, ensure_ascii=False), structured=data)
