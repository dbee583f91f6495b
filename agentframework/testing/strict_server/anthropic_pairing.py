"""How tool calls and their results pair in Anthropic Messages.

Source: https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview; wording of the API's errors.
"""

from __future__ import annotations

from typing import Any

from .refusal import need

__all__ = ["check_pairing"]


def check_pairing(messages: list[dict[str, Any]]) -> None:
    """Each call is answered once, in the very next message, before anything else there."""
    seen: set[str] = set()
    pending: list[str] = []
    for number, message in enumerate(messages):
        blocks = _blocks(message)
        _check_results(pending, blocks, number)
        pending = [block["id"] for block in blocks if block["type"] == "tool_use"]
        need(
            seen.isdisjoint(pending) and len(set(pending)) == len(pending),
            f"messages.{number}: `tool_use` ids must be unique",
        )
        seen.update(pending)
    _need_answered(pending, len(messages))


def _check_results(pending: list[str], blocks: list[dict[str, Any]], number: int) -> None:
    answered: set[str] = set()
    others = 0
    for block in blocks:
        if block["type"] != "tool_result":
            others += 1
            continue
        call_id = block["tool_use_id"]
        need(
            call_id in pending,
            f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {call_id}. Each "
            "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
        )
        need(
            call_id not in answered,
            f"messages.{number}: each tool_use must have a single result. "
            f"Found multiple `tool_result` blocks with id: {call_id}",
        )
        need(not others, f"messages.{number}: `tool_result` blocks must come before any other content")
        answered.add(call_id)
    _need_answered([call_id for call_id in pending if call_id not in answered], number)


def _need_answered(missing: list[str], number: int) -> None:
    need(
        not missing,
        f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the "
        "next message.",
    )


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return content if isinstance(content, list) else [{"type": "text"}]
