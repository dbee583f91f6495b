"""Binary content is not kept with the state of a run: in its place stand type, size and digest."""

import base64
import binascii
import hashlib
from dataclasses import replace
from typing import Any

from agentframework.messages import DocumentPart, ImagePart, Message, TextPart, ToolMessage, UserMessage
from agentframework.stores.port import SessionState


def without_binary(state: SessionState) -> SessionState:
    """``state`` with placeholders for its images and documents."""
    messages = tuple(message_without_binary(message) for message in state.messages)
    unchanged = all(new is old for new, old in zip(messages, state.messages, strict=True))
    return state if unchanged else replace(state, messages=messages)


def message_without_binary(message: Message) -> Message:
    """``message`` with placeholders, or itself if it holds nothing binary."""
    if isinstance(message, UserMessage):
        if any(isinstance(part, ImagePart | DocumentPart) for part in message.content):
            return replace(message, content=tuple(_placeholder(part) for part in message.content))
    elif isinstance(message, ToolMessage) and any(part.images for part in message.content):
        return replace(message, content=tuple(_result(part) for part in message.content))
    return message


def _placeholder(part: Any) -> Any:
    return TextPart(placeholder(part)) if isinstance(part, ImagePart | DocumentPart) else part


def _result(part: Any) -> Any:
    notes = "".join(f"\n{placeholder(image)}" for image in part.images)
    return replace(part, content=part.content + notes, images=()) if part.images else part


def placeholder(part: ImagePart | DocumentPart) -> str:
    """One line that says what was there."""
    try:
        data = base64.b64decode(part.data_base64)
    except (binascii.Error, ValueError):
        data = part.data_base64.encode()
    return f"[{part.type} {part.mime_type}, {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}]"
