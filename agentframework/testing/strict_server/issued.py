"""What a server has handed out, so that it can recognise what comes back.

The real APIs sign thinking and encrypt reasoning: a block that was edited, cut or invented is refused. The
stand-in for that cryptography is memory. Wire modules write it, rule modules read it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["BlockKey", "Issued", "IssuedReasoning", "ThinkingTurn"]

BlockKey = tuple[str, str]
"""("thinking", signature) or ("redacted_thinking", data)."""


@dataclass(slots=True)
class ThinkingTurn:
    """The thinking blocks of one assistant message, in order, and the model that wrote them."""

    model: str
    blocks: list[BlockKey] = field(default_factory=list[BlockKey])


@dataclass(frozen=True, slots=True)
class IssuedReasoning:
    """A reasoning item of the Responses API; `stored` items may come back without their encrypted content."""

    encrypted_content: str
    stored: bool


@dataclass(slots=True)
class Issued:
    """Memory of one server; `StrictModelServer(issued=…)` shares it with another."""

    thinking: dict[str, str] = field(default_factory=dict[str, str])
    """Signature to thinking text."""
    redacted: set[str] = field(default_factory=set[str])
    turns: dict[str, ThinkingTurn] = field(default_factory=dict[str, ThinkingTurn])
    """Anthropic tool_use id to the thinking of its message."""
    reasoning_texts: set[str] = field(default_factory=set[str])
    """Whole `reasoning_content` texts streamed over Chat Completions."""
    reasoning: dict[str, IssuedReasoning] = field(default_factory=dict[str, IssuedReasoning])
    """Responses reasoning item id to its content."""
    needs_reasoning: dict[str, str] = field(default_factory=dict[str, str])
    """Responses output item id to the id of the reasoning item that led to it."""
    open_calls: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Id of each stored response to the call ids it left unanswered."""
