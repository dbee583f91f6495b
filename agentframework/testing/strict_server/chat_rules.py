"""What OpenAI Chat Completions demands of a request.

Source: https://platform.openai.com/docs/api-reference/chat/create and the API's error texts.
"""

from __future__ import annotations

from typing import Any

from .chat_messages import apply_chat_message_rules
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
from .refusal import as_list, as_object, need

__all__ = ["apply_chat_rules"]

_FIELDS = frozenset(
    {
        "audio",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "messages",
        "metadata",
        "modalities",
        "model",
        "moderation",
        "n",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning_effort",
        "response_format",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "stream",
        "stream_options",
        "temperature",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    }
)
_LIMITS = {
    "temperature": (0, 2),
    "top_p": (0, 1),
    "n": (1, 128),
    "presence_penalty": (-2, 2),
    "frequency_penalty": (-2, 2),
    "max_tokens": (1, float("inf")),
    "max_completion_tokens": (1, float("inf")),
    "top_logprobs": (0, 20),
}


def apply_chat_rules(body: dict[str, Any], issued: Issued | None) -> None:
    """Raises `Refused` for the first rule that `body` breaks."""
    known_fields(body, _FIELDS)
    need(isinstance(body.get("model"), str) and body["model"], "you must provide a model parameter")
    _check_options(body)
    messages = body.get("messages")
    need(
        messages is not None,
        "Missing required parameter: 'messages'.",
        "messages",
        "missing_required_parameter",
    )
    need(
        as_list(messages, "messages"),
        "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        "messages",
        "empty_array",
    )
    apply_chat_message_rules(body["messages"], issued)
    _check_tools(body)
    _check_response_format(body)


def _check_options(body: dict[str, Any]) -> None:
    check_sampling(body, _LIMITS)
    need(
        body.get("max_tokens") is None or body.get("max_completion_tokens") is None,
        "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
        "max_tokens",
        "invalid_parameter_combination",
    )
    check_stream_options(body, {"include_usage", "include_obfuscation"})
    check_effort(body.get("reasoning_effort"), "reasoning_effort")
    stop = body.get("stop")
    need(
        not isinstance(stop, list) or len(stop) <= 4,
        "Invalid 'stop': array too long.",
        "stop",
        "array_above_max_length",
    )


def _check_tools(body: dict[str, Any]) -> None:
    names: list[str] = []
    for number, tool in enumerate(tool_list(body.get("tools"))):
        where = f"tools[{number}]"
        kind = kind_of(tool, ("function", "custom"), where)
        known_fields(tool, {"type", kind}, where)
        details = as_object(tool.get(kind), f"{where}.{kind}")
        if kind == "function":
            known_fields(details, {"name", "description", "parameters", "strict"}, f"{where}.function")
            names.append(check_function(details, f"{where}.function"))
        else:
            names.append(check_name(details, f"{where}.custom"))
    choice = body.get("tool_choice")
    chosen: str | None = None
    if isinstance(choice, dict):
        kind = kind_of(choice, ("function", "custom", "allowed_tools"), "tool_choice")
        if kind != "allowed_tools":
            chosen = check_name(as_object(choice.get(kind), f"tool_choice.{kind}"), f"tool_choice.{kind}")
    else:
        check_plain_choice(choice)
    check_tool_options(body, names, chosen)


def _check_response_format(body: dict[str, Any]) -> None:
    if body.get("response_format") is None:
        return
    wanted = as_object(body["response_format"], "response_format")
    kind = kind_of(wanted, ("text", "json_object", "json_schema"), "response_format")
    known_fields(wanted, {"type", "json_schema"} if kind == "json_schema" else {"type"}, "response_format")
    if kind == "json_schema":
        inner = as_object(wanted.get("json_schema"), "response_format.json_schema")
        known_fields(inner, {"name", "description", "schema", "strict"}, "response_format.json_schema")
        check_schema_format(inner, "response_format.json_schema")
    elif kind == "json_object":
        need(
            "json" in str([message.get("content") for message in body["messages"]]).lower(),
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            "messages",
        )
