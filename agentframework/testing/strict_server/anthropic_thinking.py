"""Thinking blocks must come back exactly as they were issued, and with the tool calls they led to.

Source: https://platform.claude.com/docs/en/build-with-claude/extended-thinking ("preserving thinking
blocks").
"""

from __future__ import annotations

from typing import Any

from .issued import BlockKey, Issued
from .refusal import need

__all__ = ["check_thinking_block", "check_thinking_order", "check_tool_loop"]

_KINDS = ("thinking", "redacted_thinking")
_UNTOUCHED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. "
    "These blocks must remain as they were in the original response."
)


def check_thinking_block(block: dict[str, Any], where: str, issued: Issued | None) -> None:
    """A block sent back: signed, and with `issued` known to the character."""
    if block["type"] == "redacted_thinking":
        data = block.get("data")
        need(isinstance(data, str) and data, f"{where}.redacted_thinking.data: Field required")
        need(issued is None or data in issued.redacted, f"{where}: Invalid `data` in `redacted_thinking` block")
        return
    text, signature = block.get("thinking"), block.get("signature")
    need(isinstance(text, str), f"{where}.thinking.thinking: Field required")
    need(isinstance(signature, str), f"{where}.thinking.signature: Field required")
    need(signature, f"{where}: Invalid `signature` in `thinking` block")
    if issued is not None:
        need(signature in issued.thinking, f"{where}: Invalid `signature` in `thinking` block")
        need(issued.thinking[str(signature)] == text, f"{where}: {_UNTOUCHED}")


def check_thinking_order(content: list[dict[str, Any]], where: str) -> None:
    """Thinking precedes the calls of its turn."""
    called = False
    for number, block in enumerate(content):
        called = called or block["type"] == "tool_use"
        need(
            not (called and block["type"] in _KINDS),
            f"{where}.content.{number}: thinking blocks must precede the `tool_use` blocks of their turn",
        )


def check_tool_loop(body: dict[str, Any], issued: Issued | None) -> None:
    """While a tool turn goes on with thinking, its last assistant message keeps all its thinking.

    A turn written by another model is exempt: its thinking may be left out as a whole.
    """
    kind = (body.get("thinking") or {}).get("type")
    number = _running_turn(body["messages"])
    if number is None or kind not in ("enabled", "adaptive"):
        return
    content = body["messages"][number]["content"]
    kept = [_key(block) for block in content if block["type"] in _KINDS]
    call_id = next(block["id"] for block in content if block["type"] == "tool_use")
    turn = issued.turns.get(call_id) if issued is not None else None
    if turn is not None:
        foreign = turn.model != body["model"]
        need(kept == turn.blocks or (foreign and not kept), f"messages.{number}: {_UNTOUCHED}")
    elif kind == "enabled":
        need(
            content[0]["type"] in _KINDS,
            f"messages.{number}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{content[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start "
            "with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
        )


def _running_turn(messages: list[dict[str, Any]]) -> int | None:
    """Index of the assistant message whose calls the last user message answers."""
    last = len(messages) - 1
    while last > 0 and messages[last]["role"] == "system":
        last -= 1
    content = messages[last - 1]["content"]
    calls = isinstance(content, list) and any(block["type"] == "tool_use" for block in content)
    return last - 1 if last > 0 and calls else None


def _key(block: dict[str, Any]) -> BlockKey:
    kind = str(block["type"])
    return kind, str(block["data" if kind == "redacted_thinking" else "signature"])
