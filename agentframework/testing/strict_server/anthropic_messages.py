"""What Anthropic Messages demands of the conversation: roles, blocks, images.

Sources: https://platform.claude.com/docs/en/api/messages, …/agents-and-tools/tool-use/overview and
…/build-with-claude/extended-thinking; the wording follows the API's errors.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from .anthropic_pairing import check_pairing
from .anthropic_thinking import check_thinking_block, check_thinking_order, check_tool_loop
from .images import decode_base64, image_problem
from .issued import Issued
from .refusal import as_list, as_object, need, only_keys

__all__ = ["apply_message_rules", "check_text_block"]

_BLOCK_FIELDS: dict[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
    "document": frozenset({"type", "source", "title", "context", "citations", "cache_control"}),
    "search_result": frozenset({"type", "source", "title", "content", "citations", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
    "redacted_thinking": frozenset({"type", "data"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control", "caller", "toolset_name"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control", "toolset_name"}),
}
_OTHER_BLOCKS = frozenset(
    {
        "browser_state",
        "compaction",
        "container_upload",
        "mcp_tool_result",
        "mcp_tool_use",
        "server_tool_use",
        "tool_reference",
        "bash_code_execution_tool_result",
        "code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    }
)
_ONLY_IN = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "server_tool_use": "assistant",
    "tool_result": "user",
    "image": "user",
    "document": "user",
    "search_result": "user",
}
_RESULT_PARTS = frozenset({"text", "image", "document", "search_result", "tool_reference", "browser_state"})
_CALL_ID = re.compile(r"[a-zA-Z0-9_-]+\Z")
_CALL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,200}\Z")
_MAX_IMAGES = 100
_MANY_IMAGES = 20


def apply_message_rules(body: dict[str, Any], issued: Issued | None) -> None:
    """Raises `Refused` for the first rule that `body["messages"]` breaks."""
    messages = as_list(body["messages"], "messages")
    need(messages, "messages: at least one message is required")
    need(len(messages) <= 100_000, "messages: at most 100000 messages are allowed")
    for number, message in enumerate(messages):
        where = f"messages.{number}"
        only_keys(as_object(message, where), {"role", "content"}, where)
        role = message.get("role")
        need(
            role in ("user", "assistant", "system"),
            f"{where}.role: Input should be 'user', 'assistant' or 'system'",
        )
        need("content" in message, f"{where}.content: Field required")
    _check_role_order([message["role"] for message in messages])
    for number, message in enumerate(messages):
        _check_content(message, f"messages.{number}", last=number == len(messages) - 1, issued=issued)
    _check_images(messages)
    check_pairing(messages)
    check_tool_loop(body, issued)
    _check_final_turn(body, messages[-1])


def _check_role_order(roles: list[str]) -> None:
    need(roles[0] == "user", 'messages: first message must use the "user" role')
    for number, role in enumerate(roles):
        if role != "system":
            continue
        need(roles[number - 1] == "user", f"messages.{number}: role 'system' must follow a 'user' message")
        need(
            number + 1 == len(roles) or roles[number + 1] == "assistant",
            f"messages.{number}: role 'system' must precede an 'assistant' message or end the array",
        )


def _check_content(message: dict[str, Any], where: str, *, last: bool, issued: Issued | None) -> None:
    content, role = message["content"], message["role"]
    need(isinstance(content, str | list), f"{where}.content: Input should be a valid string or array")
    need(
        content or (last and role == "assistant"),
        f"{where}: all messages must have non-empty content except for the optional final assistant message",
    )
    if isinstance(content, str):
        need(not content or content.strip(), f"{where}: text content blocks must contain non-whitespace text")
        return
    for number, block in enumerate(content):
        _check_block(as_object(block, f"{where}.content.{number}"), role, f"{where}.content.{number}", issued)
    check_thinking_order(content, where)


def _check_block(block: dict[str, Any], role: str, where: str, issued: Issued | None) -> None:
    kind = str(block.get("type"))
    need(
        kind in _BLOCK_FIELDS or kind in _OTHER_BLOCKS,
        f"{where}: Input tag '{kind}' found using 'type' is unknown",
    )
    need(
        _ONLY_IN.get(kind, role) == role,
        f"{where}: `{kind}` blocks can only be in `{_ONLY_IN.get(kind)}` messages",
    )
    need(role != "system" or kind == "text", f"{where}: `system` messages can only have text blocks")
    if kind in _BLOCK_FIELDS:
        only_keys(block, _BLOCK_FIELDS[kind], f"{where}.{kind}")
    if kind in ("thinking", "redacted_thinking"):
        check_thinking_block(block, where, issued)
    elif kind in _BLOCK_CHECKS:
        _BLOCK_CHECKS[kind](block, where)


def check_text_block(block: dict[str, Any], where: str) -> None:
    """A text block must say something."""
    only_keys(block, _BLOCK_FIELDS["text"], f"{where}.text")
    text = block.get("text")
    need(isinstance(text, str), f"{where}.text.text: Input should be a valid string")
    need(text, f"{where}: text content blocks must be non-empty")
    need(str(text).strip(), f"{where}: text content blocks must contain non-whitespace text")


def _check_tool_use(block: dict[str, Any], where: str) -> None:
    call_id, name = block.get("id"), block.get("name")
    need(
        isinstance(call_id, str) and _CALL_ID.match(call_id),
        f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    )
    need(
        isinstance(name, str) and _CALL_NAME.match(name),
        f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'",
    )
    need(isinstance(block.get("input"), dict), f"{where}.tool_use.input: Input should be an object")


def _check_tool_result(block: dict[str, Any], where: str) -> None:
    call_id, content = block.get("tool_use_id"), block.get("content")
    need(
        isinstance(call_id, str) and _CALL_ID.match(call_id),
        f"{where}.tool_result.tool_use_id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    )
    is_error = block.get("is_error", False)
    need(isinstance(is_error, bool), f"{where}.tool_result.is_error: Input should be a valid boolean")
    if content is None or isinstance(content, str):
        return
    for number, part in enumerate(as_list(content, f"{where}.tool_result.content")):
        inner = f"{where}.tool_result.content.{number}"
        kind = str(as_object(part, inner).get("type"))
        need(kind in _RESULT_PARTS, f"{inner}: Input tag '{kind}' found using 'type' is unknown")
        need(not is_error or kind == "text", f"{where}: all content must be type text if is_error is true")
        if kind in _BLOCK_CHECKS:
            only_keys(part, _BLOCK_FIELDS[kind], f"{inner}.{kind}")
            _BLOCK_CHECKS[kind](part, inner)


def _check_image(block: dict[str, Any], where: str) -> None:
    source = as_object(block.get("source"), f"{where}.image.source")
    kind = source.get("type")
    need(
        kind in ("base64", "url", "file"),
        f"{where}.image.source.type: Input should be 'base64', 'url' or 'file'",
    )
    if kind == "base64":
        only_keys(source, {"type", "media_type", "data"}, f"{where}.image.source.base64")
        need(isinstance(source.get("data"), str), f"{where}.image.source.base64.data: Field required")
        problem = image_problem(str(source.get("media_type")), source["data"])
        need(problem is None, f"{where}.image.source.base64: {problem}")
    elif kind == "url":
        need(
            str(source.get("url")).startswith(("https://", "http://")),
            f"{where}.image.source.url: Only HTTP URLs",
        )


def _check_document(block: dict[str, Any], where: str) -> None:
    source = as_object(block.get("source"), f"{where}.document.source")
    kind = source.get("type")
    need(
        kind in ("base64", "text", "content", "url", "file"),
        f"{where}.document.source.type: unknown type '{kind}'",
    )
    if kind == "base64":
        raw = decode_base64(str(source.get("data")))
        need(
            source.get("media_type") == "application/pdf",
            f"{where}.document.source.base64.media_type: Input should be 'application/pdf'",
        )
        need(
            raw is not None and raw.startswith(b"%PDF-"),
            f"{where}.document.source: The PDF specified was not valid.",
        )
    elif kind == "text":
        need(source.get("data"), f"{where}.document.source.data: PDF or text must be non-empty")


_BLOCK_CHECKS: dict[str, Callable[[dict[str, Any], str], None]] = {
    "text": check_text_block,
    "tool_use": _check_tool_use,
    "tool_result": _check_tool_result,
    "image": _check_image,
    "document": _check_document,
}


def _check_images(messages: list[dict[str, Any]]) -> None:
    images = list(_images(messages))
    need(len(images) <= _MAX_IMAGES, f"Too many images: {len(images)} > {_MAX_IMAGES}")
    if len(images) > _MANY_IMAGES:
        for image in images:
            source = image["source"]
            if source["type"] == "base64":
                problem = image_problem(source["media_type"], source["data"], max_side=2000)
                need(problem is None, f"{problem} for many-image requests")


def _images(blocks: list[Any]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        if block.get("type") == "image":
            yield block
        elif isinstance(block.get("content"), list):
            yield from _images(block["content"])


def _check_final_turn(body: dict[str, Any], final: dict[str, Any]) -> None:
    if final["role"] != "assistant":
        return
    thinks = (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")
    need(
        not thinks,
        "This request does not support assistant message prefill. The conversation must end with a user "
        "message when thinking is enabled.",
    )
    content = final["content"]
    text = content if isinstance(content, str) else content[-1].get("text", "") if content else ""
    need(text == text.rstrip(), "messages: final assistant content cannot end with trailing whitespace")
