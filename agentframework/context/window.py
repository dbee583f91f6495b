"""What fills the window: a picture for people, from the provider's count and estimates of the parts."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentframework.context.estimate import BYTES_PER_TOKEN, estimate_message_bytes
from agentframework.context.references import OPENING
from agentframework.messages import ContextState, Message, TextPart, ToolSpec, UserMessage

_OF_SERVERS = "mcp__"


@dataclass(frozen=True, slots=True)
class ContextPart:
    """Something that takes room in the window; ``tokens`` are estimated."""

    name: str
    tokens: int


def context_parts(
    state: ContextState, system: str, tools: Iterable[ToolSpec], messages: Sequence[Message]
) -> tuple[ContextPart, ...]:
    """``system``, ``tools``, ``mcp``, ``files``, ``messages`` and ``free``; together at least the whole window.

    What the provider has counted and none of the others explains belongs to the messages.
    """
    offered = {True: 0, False: 0}
    for tool in tools:
        offered[tool.name.startswith(_OF_SERVERS)] += _spec_bytes(tool)
    files = sum(_referenced(message) for message in messages if isinstance(message, UserMessage))
    said = sum(map(estimate_message_bytes, messages)) - files
    beside = {
        "system": _tokens(len(system.encode(errors="replace"))),
        "tools": _tokens(offered[False]),
        "mcp": _tokens(offered[True]),
        "files": _tokens(files),
    }
    rest = max(_tokens(said), state.used_tokens - sum(beside.values()))
    free = max(0, state.max_tokens - sum(beside.values()) - rest)
    everything = {**beside, "messages": rest, "free": free}
    return tuple(ContextPart(name, tokens) for name, tokens in everything.items())


def _referenced(message: UserMessage) -> int:
    texts = (part.text for part in message.content if isinstance(part, TextPart))
    return sum(len(text.encode(errors="replace")) for text in texts if text.startswith(OPENING))


def _spec_bytes(tool: ToolSpec) -> int:
    return len(tool.name) + len(tool.description.encode(errors="replace")) + len(json.dumps(dict(tool.input_schema)))


def _tokens(size: int) -> int:
    return -(-size // BYTES_PER_TOKEN)
