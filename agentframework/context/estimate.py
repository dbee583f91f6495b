"""Sizes of messages, without a tokenizer: UTF-8 bytes of the content, four of them to a token.

The ratio is the usual rule of thumb for English text and JSON; a provider's own count replaces it as soon as
there is one. Images count as a flat 1,600 tokens, about what the APIs charge for one at full size.
"""

import json
from collections.abc import Mapping

from agentframework._base.bounded import printable
from agentframework.messages import (
    DocumentPart,
    ImagePart,
    Message,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResultPart,
)

BYTES_PER_TOKEN = 4
IMAGE_BYTES = 1_600 * BYTES_PER_TOKEN
MESSAGE_BYTES = 16


def estimate_message_bytes(message: Message) -> int:
    """Bytes that a message adds to a request, about."""
    return MESSAGE_BYTES + sum(_part_bytes(part) for part in message.content)


def estimate_message_tokens(message: Message) -> int:
    """Tokens of a message, about, rounded up."""
    return -(-estimate_message_bytes(message) // BYTES_PER_TOKEN)


def _part_bytes(part: object) -> int:
    match part:
        case TextPart(text):
            return _utf8(text)
        case ThinkingPart(text, signature, data):
            return _utf8(text) + _utf8(signature or "") + _json(data or {})
        case ToolCall():
            return _utf8(part.name) + _utf8(part.arguments_json) + len(part.id)
        case ToolResultPart():
            return _utf8(part.content) + len(part.tool_use_id) + IMAGE_BYTES * len(part.images)
        case ImagePart():
            return IMAGE_BYTES
        case DocumentPart():
            return len(part.data_base64) * 3 // 4
        case OpaquePart(data):
            return _json(data)
        case _:
            raise TypeError(f"not a content part: {type(part).__name__}")


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(printable(text).encode())


def _json(data: Mapping[str, object]) -> int:
    return len(json.dumps(data, default=str))
