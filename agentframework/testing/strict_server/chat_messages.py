"""What OpenAI Chat Completions demands of the conversation: roles, contents, pairing of calls.

Source: https://platform.openai.com/docs/api-reference/chat/create and the API's error texts.
"""

from __future__ import annotations

from typing import Any

from .issued import Issued
from .openai_shared import check_arguments, check_image_url, check_name, kind_of, known_fields, text_of
from .refusal import Refused, as_list, as_object, need, one_of

__all__ = ["apply_chat_message_rules"]

_MESSAGE_FIELDS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {
        "role",
        "content",
        "name",
        "refusal",
        "tool_calls",
        "audio",
        "function_call",
        "reasoning_content",
    },
    "tool": {"role", "content", "tool_call_id"},
}
_PART_TYPES = {
    "system": ("text",),
    "developer": ("text",),
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "tool": ("text",),
}
_MAX_ID = 40


def apply_chat_message_rules(messages: list[Any], issued: Issued | None) -> None:
    """Raises `Refused` for the first rule that `messages` break."""
    for number, message in enumerate(messages):
        _check_message(as_object(message, f"messages[{number}]"), f"messages[{number}]", issued)
    _check_pairing(messages)


def _check_message(message: dict[str, Any], where: str, issued: Issued | None) -> None:
    role = message.get("role")
    need(
        one_of(role, _MESSAGE_FIELDS),
        f"Invalid value: '{role}'. Supported values are: 'system', 'developer', 'user', 'assistant', and 'tool'.",
        f"{where}.role",
        "invalid_value",
    )
    role = str(role)
    known_fields(message, _MESSAGE_FIELDS[role], where)
    if role == "tool":
        text_of(message, "tool_call_id", where)
    if role == "assistant":
        _check_assistant(message, where, issued)
    content = message.get("content")
    if content is None:
        silent = role == "assistant" and any(message.get(name) for name in ("tool_calls", "refusal", "function_call"))
        need(silent, f"Invalid value for 'content': expected a string, got null. ({where})", f"{where}.content")
    else:
        _check_content(content, _PART_TYPES[role], f"{where}.content")


def _check_assistant(message: dict[str, Any], where: str, issued: Issued | None) -> None:
    thought = message.get("reasoning_content")
    if thought is not None:
        known = issued is None or one_of(thought, issued.reasoning_texts)
        need(known, f"Unknown parameter: '{where}.reasoning_content'.", where, "unknown_parameter")
    if "tool_calls" not in message:
        return
    calls = as_list(message["tool_calls"], f"{where}.tool_calls")
    need(
        calls,
        f"Invalid '{where}.tool_calls': empty array. Expected an array with minimum length 1, but got an "
        "empty array instead.",
        f"{where}.tool_calls",
        "empty_array",
    )
    for number, call in enumerate(calls):
        place = f"{where}.tool_calls[{number}]"
        kind = kind_of(call, ("function", "custom"), place)
        text_of(call, "id", place, _MAX_ID)
        details = as_object(call.get(kind), f"{place}.{kind}")
        check_name(details, f"{place}.{kind}")
        if kind == "function":
            known_fields(call, {"id", "type", "function"}, place)
            known_fields(details, {"name", "arguments"}, f"{place}.function")
            check_arguments(details, f"{place}.function")


def _check_content(content: object, allowed: tuple[str, ...], where: str) -> None:
    if isinstance(content, str):
        return
    parts = as_list(content, where)
    need(
        parts,
        f"Invalid '{where}': empty array. Expected an array with minimum length 1.",
        where,
        "empty_array",
    )
    for number, part in enumerate(parts):
        kind = kind_of(part, allowed, f"{where}[{number}]")
        if kind in ("text", "refusal"):
            need(
                isinstance(part.get(kind), str),
                f"Missing required parameter: '{where}[{number}].{kind}'.",
                where,
                "missing_required_parameter",
            )
        elif kind == "image_url":
            image = as_object(part.get("image_url"), f"{where}[{number}].image_url")
            known_fields(image, {"url", "detail"}, f"{where}[{number}].image_url")
            check_image_url(image.get("url"), f"{where}[{number}].image_url.url")


def _check_pairing(messages: list[dict[str, Any]]) -> None:
    """Each call is answered once, by tool messages right after the assistant message that made it."""
    seen: set[str] = set()
    made: set[str] = set()
    waiting: list[str] = []
    for number, message in enumerate(messages):
        if message["role"] == "tool":
            _check_answer(message["tool_call_id"], waiting, made, f"messages[{number}]")
            continue
        _need_answered(waiting, number)
        made = set()
        for call in message.get("tool_calls") or () if message["role"] == "assistant" else ():
            need(
                call["id"] not in seen,
                f"Duplicate value for 'tool_call_id' of '{call['id']}' in message[{number}]",
                f"messages[{number}].tool_calls",
                "invalid_value",
            )
            seen.add(call["id"])
            made.add(call["id"])
            waiting.append(call["id"])
    _need_answered(waiting, len(messages))


def _check_answer(call_id: str, waiting: list[str], made: set[str], where: str) -> None:
    if not made:
        raise Refused(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
            "'tool_calls'.",
            param=f"{where}.role",
        )
    need(
        call_id in made,
        f"Invalid parameter: 'tool_call_id' of '{call_id}' not found in 'tool_calls' of previous message.",
        f"{where}.tool_call_id",
    )
    need(
        call_id in waiting,
        f"Duplicate value for 'tool_call_id' of '{call_id}' in {where}",
        f"{where}.tool_call_id",
    )
    waiting.remove(call_id)


def _need_answered(waiting: list[str], number: int) -> None:
    need(
        not waiting,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}",
        f"messages[{number - 1}].role",
    )
