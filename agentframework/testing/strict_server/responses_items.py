"""What OpenAI Responses demands of the input items: shapes, pairing of calls, reasoning.

Source: https://platform.openai.com/docs/guides/reasoning ("keeping reasoning items in context") and the API's
errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .issued import Issued
from .openai_shared import check_arguments, check_image_url, check_name, kind_of, known_fields, text_of
from .refusal import as_list, as_object, need, one_of

__all__ = ["apply_item_rules"]

_MESSAGE_FIELDS = frozenset({"type", "role", "content", "id", "status", "phase"})
_CALL_FIELDS = frozenset({"type", "id", "call_id", "name", "arguments", "status", "caller", "namespace", "async"})
_OUTPUT_FIELDS = frozenset({"type", "id", "call_id", "output", "status", "caller", "name", "namespace"})
_REASONING_FIELDS = frozenset({"type", "id", "summary", "content", "encrypted_content", "status"})
_INPUT_PARTS = ("input_text", "input_image", "input_file")
_OUTPUT_PARTS = ("output_text", "refusal")
_OTHER_ITEMS = frozenset(
    {
        "additional_tools",
        "apply_patch_call",
        "apply_patch_call_output",
        "code_interpreter_call",
        "compaction",
        "compaction_trigger",
        "computer_call",
        "computer_call_output",
        "configuration_update",
        "file_search_call",
        "image_generation_call",
        "item_reference",
        "local_shell_call",
        "local_shell_call_output",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "mcp_list_tools",
        "program",
        "program_output",
        "shell_call",
        "shell_call_output",
        "tool_search_call",
        "tool_search_output",
        "web_search_call",
    }
)
_CALLS = {"function_call": "function_call_output", "custom_tool_call": "custom_tool_call_output"}
_ANSWERS = frozenset(_CALLS.values())
_MAX_CALL_ID = 64


def apply_item_rules(body: dict[str, Any], issued: Issued | None) -> None:
    """Raises `Refused` for the first rule that `body["input"]` breaks."""
    given = body.get("input")
    continued = any(body.get(name) is not None for name in ("previous_response_id", "conversation", "prompt"))
    need(given or continued, "Missing required parameter: 'input'.", "input", "missing_required_parameter")
    carried = _carried_calls(body.get("previous_response_id"), issued)
    if isinstance(given, str):
        given = []
    items = [as_object(item, f"input[{number}]") for number, item in enumerate(as_list(given or [], "input"))]
    for number, item in enumerate(items):
        kind = _kind(item)
        known = kind in _ITEM_CHECKS or kind in _OTHER_ITEMS
        need(known, f"Invalid value: '{kind}'.", f"input[{number}]", "invalid_value")
        if kind in _ITEM_CHECKS:
            _ITEM_CHECKS[kind](item, f"input[{number}]")
    _check_pairing(items, carried)
    _check_reasoning(items, issued)


def _kind(item: dict[str, Any]) -> str:
    """A message may leave its type out."""
    kind = item.get("type")
    return "message" if kind is None else str(kind)


def _carried_calls(previous: object, issued: Issued | None) -> frozenset[str] | None:
    """Calls left open by the response that this one continues; None when that is not known here."""
    if previous is None:
        return frozenset()
    if issued is None:
        return None
    need(
        one_of(previous, issued.open_calls),
        f"Previous response with id '{previous}' not found.",
        "previous_response_id",
        "previous_response_not_found",
    )
    return issued.open_calls[str(previous)]


def _check_id(item: dict[str, Any], prefix: str, where: str) -> None:
    identity = item.get("id")
    need(
        identity is None or str(identity).startswith(prefix),
        f"Invalid '{where}.id': '{identity}'. Expected an ID that begins with '{prefix}'.",
        f"{where}.id",
        "invalid_value",
    )


def _check_message(item: dict[str, Any], where: str) -> None:
    known_fields(item, _MESSAGE_FIELDS, where)
    role = item.get("role")
    need(
        role in ("user", "assistant", "system", "developer"),
        f"Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
        f"{where}.role",
        "invalid_value",
    )
    if role == "assistant":
        _check_id(item, "msg", where)
    allowed = _OUTPUT_PARTS if role == "assistant" else _INPUT_PARTS
    _check_parts(item.get("content"), allowed, f"{where}.content")


def _check_parts(content: object, allowed: tuple[str, ...], where: str) -> None:
    need(content is not None, f"Missing required parameter: '{where}'.", where, "missing_required_parameter")
    if isinstance(content, str):
        return
    for number, part in enumerate(as_list(content, where)):
        place = f"{where}[{number}]"
        kind = kind_of(part, allowed, place)
        if kind in ("input_text", "output_text"):
            known_fields(part, {"type", "text", "annotations", "logprobs", "prompt_cache_breakpoint"}, place)
            need(
                isinstance(part.get("text"), str),
                f"Missing required parameter: '{place}.text'.",
                f"{place}.text",
                "missing_required_parameter",
            )
        elif kind == "input_image" and part.get("file_id") is None:
            need(
                isinstance(part.get("image_url"), str),
                f"Invalid type for '{place}.image_url': expected a string.",
                f"{place}.image_url",
                "invalid_type",
            )
            check_image_url(part["image_url"], f"{place}.image_url")


def _check_call(item: dict[str, Any], where: str) -> None:
    known_fields(item, _CALL_FIELDS, where)
    _check_id(item, "fc", where)
    text_of(item, "call_id", where, _MAX_CALL_ID)
    check_name(item, where)
    check_arguments(item, where)


def _check_custom_call(item: dict[str, Any], where: str) -> None:
    text_of(item, "call_id", where, _MAX_CALL_ID)
    check_name(item, where)


def _check_output(item: dict[str, Any], where: str) -> None:
    known_fields(item, _OUTPUT_FIELDS, where)
    text_of(item, "call_id", where, _MAX_CALL_ID)
    _check_parts(item.get("output"), _INPUT_PARTS, f"{where}.output")


def _check_reasoning_item(item: dict[str, Any], where: str) -> None:
    known_fields(item, _REASONING_FIELDS, where)
    text_of(item, "id", where)
    _check_id(item, "rs", where)
    need(
        isinstance(item.get("summary"), list),
        f"Missing required parameter: '{where}.summary'.",
        f"{where}.summary",
        "missing_required_parameter",
    )
    for number, part in enumerate(item["summary"]):
        kind_of(part, ("summary_text",), f"{where}.summary[{number}]")


_ITEM_CHECKS: dict[str, Callable[[dict[str, Any], str], None]] = {
    "message": _check_message,
    "function_call": _check_call,
    "function_call_output": _check_output,
    "custom_tool_call": _check_custom_call,
    "custom_tool_call_output": _check_output,
    "reasoning": _check_reasoning_item,
}


def _check_pairing(items: list[dict[str, Any]], carried: frozenset[str] | None) -> None:
    """Each call is answered once and later; nothing else is answered."""
    open_calls = {call_id: "" for call_id in carried or ()}
    closed: set[str] = set()
    for number, item in enumerate(items):
        kind, call_id = _kind(item), item.get("call_id")
        if kind in _CALLS:
            need(
                call_id not in open_calls and call_id not in closed,
                f"Duplicate call_id '{call_id}' in input.",
                f"input[{number}].call_id",
                "invalid_value",
            )
            open_calls[str(call_id)] = _CALLS[kind]
        elif kind in _ANSWERS:
            need(call_id not in closed, f"Duplicate function call output for call_id {call_id}.", "input")
            answers = open_calls.pop(str(call_id), None)
            need(
                answers in ("", kind) or (answers is None and carried is None),
                f"No tool call found for function call output with call_id {call_id}.",
                "input",
            )
            closed.add(str(call_id))
    need(not open_calls, f"No tool output found for function call {next(iter(open_calls), None)}.", "input")


def _check_reasoning(items: list[dict[str, Any]], issued: Issued | None) -> None:
    """Reasoning comes back as issued, right before what it led to, which never comes without it."""
    present: set[str] = set()
    for number, item in enumerate(items):
        if _kind(item) == "item_reference":
            present.add(str(item.get("id")))
        elif _kind(item) == "reasoning":
            present.add(item["id"])
            need(
                number + 1 < len(items) and _is_from_model(items[number + 1]),
                f"Item '{item['id']}' of type 'reasoning' was provided without its required following item.",
                "input",
            )
            if issued is not None:
                _check_as_issued(item, issued)
        needed = issued.needs_reasoning.get(str(item.get("id"))) if issued is not None else None
        need(
            needed is None or needed in present,
            f"Item '{item.get('id')}' of type '{_kind(item)}' was provided without its required "
            f"'reasoning' item: '{needed}'.",
            "input",
        )


def _is_from_model(item: dict[str, Any]) -> bool:
    kind = _kind(item)
    return item.get("role") == "assistant" if kind == "message" else kind not in _ANSWERS


def _check_as_issued(item: dict[str, Any], issued: Issued) -> None:
    known = issued.reasoning.get(item["id"])
    encrypted = item.get("encrypted_content")
    need(
        known is not None and (encrypted is not None or known.stored),
        f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to false. Try "
        "again with `store` set to true, or remove this item from your input.",
        "input",
    )
    need(
        known is None or encrypted in (None, known.encrypted_content),
        f"The encrypted content for item {item['id']} could not be verified.",
        "input",
        "invalid_encrypted_content",
    )
