"""What OpenAI Responses demands of a request.

Source: https://platform.openai.com/docs/api-reference/responses/create and the API's error texts.
"""

from __future__ import annotations

from typing import Any

from .issued import Issued
from .openai_shared import (
    check_effort,
    check_function,
    check_name,
    check_plain_choice,
    check_sampling,
    check_schema_format,
    check_stream_options,
    check_tool_options,
    kind_of,
    known_fields,
    tool_list,
)
from .refusal import as_list, as_object, need, one_of
from .responses_items import apply_item_rules

__all__ = ["apply_responses_rules"]

_FIELDS = frozenset(
    {
        "access_programs",
        "background",
        "background_options",
        "context_management",
        "conversation",
        "image",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "moderation",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    }
)
_FUNCTION_FIELDS = frozenset(
    {
        "allowed_callers",
        "async",
        "defer_loading",
        "description",
        "name",
        "output_schema",
        "parameters",
        "strict",
        "type",
    }
)
_TOOL_TYPES = (
    "function",
    "custom",
    "file_search",
    "web_search",
    "web_search_2025_08_26",
    "web_search_preview",
    "web_search_preview_2025_03_11",
    "computer",
    "computer_use_preview",
    "mcp",
    "code_interpreter",
    "programmatic_tool_calling",
    "image_generation",
    "local_shell",
    "shell",
    "namespace",
    "tool_search",
    "apply_patch",
)
_INCLUDES = frozenset(
    {
        "file_search_call.results",
        "web_search_call.results",
        "web_search_call.action.sources",
        "message.input_image.image_url",
        "computer_call_output.output.image_url",
        "code_interpreter_call.outputs",
        "reasoning.encrypted_content",
        "message.output_text.logprobs",
    }
)
_LIMITS = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "max_output_tokens": (16, float("inf")),
    "top_logprobs": (0, 20),
    "max_tool_calls": (1, float("inf")),
}


def apply_responses_rules(body: dict[str, Any], issued: Issued | None) -> None:
    """Raises `Refused` for the first rule that `body` breaks."""
    known_fields(body, _FIELDS)
    has_model = isinstance(body.get("model"), str) and body["model"]
    need(
        has_model or body.get("prompt"),
        "Missing required parameter: 'model'.",
        "model",
        "missing_required_parameter",
    )
    _check_options(body)
    _check_reasoning(body.get("reasoning"))
    _check_text(body.get("text"))
    _check_tools(body)
    apply_item_rules(body, issued)


def _check_options(body: dict[str, Any]) -> None:
    check_sampling(body, _LIMITS)
    for name, kind in (("store", bool), ("stream", bool), ("background", bool), ("instructions", str)):
        need(
            body.get(name) is None or isinstance(body[name], kind),
            f"Invalid type for '{name}': expected a {kind.__name__}.",
            name,
            "invalid_type",
        )
    need(
        body.get("previous_response_id") is None or body.get("conversation") is None,
        "Mutually exclusive parameters: 'previous_response_id' and 'conversation'.",
        "previous_response_id",
        "mutually_exclusive_parameters",
    )
    need(
        body.get("truncation") in (None, "auto", "disabled"),
        "Invalid value for 'truncation'.",
        "truncation",
        "invalid_value",
    )
    for value in as_list(body["include"], "include") if body.get("include") is not None else ():
        need(one_of(value, _INCLUDES), f"Invalid value: '{value}'.", "include", "invalid_value")
    check_stream_options(body, {"include_obfuscation"})


def _check_reasoning(reasoning: object) -> None:
    if reasoning is None:
        return
    value = as_object(reasoning, "reasoning")
    known_fields(value, {"effort", "summary", "generate_summary", "context", "mode"}, "reasoning")
    check_effort(value.get("effort"), "reasoning.effort")
    need(
        value.get("summary") in (None, "auto", "concise", "detailed"),
        f"Invalid value: '{value.get('summary')}'.",
        "reasoning.summary",
        "invalid_value",
    )


def _check_text(text: object) -> None:
    if text is None:
        return
    value = as_object(text, "text")
    known_fields(value, {"format", "verbosity"}, "text")
    need(
        value.get("verbosity") in (None, "low", "medium", "high"),
        "Invalid value for 'text.verbosity'.",
        "text.verbosity",
        "invalid_value",
    )
    if value.get("format") is None:
        return
    kind = kind_of(value["format"], ("text", "json_object", "json_schema"), "text.format")
    if kind == "json_schema":
        known_fields(value["format"], {"type", "name", "description", "schema", "strict"}, "text.format")
        check_schema_format(value["format"], "text.format")
    else:
        known_fields(value["format"], {"type"}, "text.format")


def _check_tools(body: dict[str, Any]) -> None:
    names: list[str] = []
    for number, tool in enumerate(tool_list(body.get("tools"))):
        where = f"tools[{number}]"
        kind = kind_of(tool, _TOOL_TYPES, where)
        if kind == "function":
            names.append(check_function(tool, where))
            known_fields(tool, _FUNCTION_FIELDS, where)
        elif kind == "custom":
            names.append(check_name(tool, where))
    choice = body.get("tool_choice")
    chosen: str | None = None
    if isinstance(choice, dict):
        if choice.get("type") in ("function", "custom"):
            known_fields(choice, {"type", "name"}, "tool_choice")
            chosen = check_name(choice, "tool_choice")
        else:
            kind_of(choice, ("allowed_tools", *_TOOL_TYPES), "tool_choice")
    else:
        check_plain_choice(choice)
    check_tool_options(body, names, chosen)
