"""A model server for tests and benchmarks that is as strict as the real ones.

    async with StrictModelServer() as server:
        server.reply(text("Hello", chunks=3))
        client = AsyncAnthropic(base_url=server.anthropic_url, api_key="test")

`StrictModelServer` speaks Anthropic Messages, OpenAI Chat Completions and OpenAI Responses with true
server-sent events; `script` has the vocabulary of replies, `checks` the rules as pure functions. Standard
library only.
"""

from .checks import check_anthropic, check_chat, check_request, check_responses
from .issued import Issued
from .records import RecordedRequest, Rejection
from .script import (
    Part,
    Reply,
    Usage,
    call,
    cut,
    end_early,
    error,
    hold,
    raw_sse,
    redacted_thinking,
    reply,
    stall,
    stream_error,
    text,
    thinking,
    usage,
)
from .server import Responder, StrictModelServer

__all__ = [
    "Issued",
    "Part",
    "RecordedRequest",
    "Rejection",
    "Reply",
    "Responder",
    "StrictModelServer",
    "Usage",
    "call",
    "check_anthropic",
    "check_chat",
    "check_request",
    "check_responses",
    "cut",
    "end_early",
    "error",
    "hold",
    "raw_sse",
    "redacted_thinking",
    "reply",
    "stall",
    "stream_error",
    "text",
    "thinking",
    "usage",
]
