"""What Anthropic Messages demands around the messages: fields, tools, thinking, cache marks, output.

Sources: https://platform.claude.com/docs/en/api/messages and the pages named at the rules; refusals are
worded like the API's, because programs recognise them by their text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Any

from .anthropic_messages import apply_message_rules, check_text_block
from .issued import Issued
from .refusal import as_list, as_object, is_number, need, one_of, only_keys
from .schema_rules import anthropic_schema_problem, closed_object_problem

__all__ = ["apply_anthropic_rules"]

_FIELDS = frozenset(
    {
        "cache_control",
        "container",
        "diagnostics",
        "inference_geo",
        "max_tokens",
        "messages",
        "metadata",
        "model",
        "output_config",
        "service_tier",
        "speed",
        "stop_sequences",
        "stream",
        "system",
        "temperature",
        "thinking",
        "tool_choice",
        "tools",
        "top_k",
        "top_p",
        "user_profile_id",
        "workspace_id",
    }
)
_BETA_FIELDS = {
    "compaction": ("compact-",),
    "context_management": ("context-management-", "compact-"),
    "fallbacks": ("",),
    "mcp_servers": ("mcp-client-",),
    "thread": ("message-threads-",),
}
_TOOL_FIELDS = frozenset(
    {
        "allowed_callers",
        "cache_control",
        "defer_loading",
        "description",
        "eager_input_streaming",
        "input_examples",
        "input_schema",
        "name",
        "strict",
        "type",
    }
)
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}\Z")
_SERVER_TOOL = re.compile(r"[a-z0-9_]+_\d{8}\Z")
_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_THINKING_FIELDS = {
    "adaptive": {"type", "display"},
    "between_tools": {"type"},
    "disabled": {"type"},
    "enabled": {"type", "budget_tokens", "display"},
}


def apply_anthropic_rules(body: dict[str, Any], issued: Issued | None, betas: Collection[str]) -> None:
    """Raises `Refused` for the first rule that `body` breaks."""
    for name in body:
        prefixes = _BETA_FIELDS.get(name, ())
        enabled = any(beta.startswith(prefix) for beta in betas for prefix in prefixes)
        need(name in _FIELDS or enabled, f"{name}: Extra inputs are not permitted")
    need("model" in body, "model: Field required")
    need(isinstance(body["model"], str) and body["model"], "model: String should have at least 1 character")
    need("max_tokens" in body, "max_tokens: Field required")
    need(_is_count(body["max_tokens"]), "max_tokens: Input should be an integer greater than or equal to 1")
    need("messages" in body, "messages: Field required")
    need(isinstance(body.get("stream", False), bool), "stream: Input should be a valid boolean")
    _check_system(body.get("system"))
    names = _check_tools(body.get("tools"))
    _check_thinking(body, betas)
    _check_tool_choice(body, names)
    _check_sampling(body)
    _check_output_config(body.get("output_config"))
    apply_message_rules(body, issued)
    _check_cache_marks(body)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and is_number(value, 1, float("inf"))


def _check_system(system: object) -> None:
    if system is None or isinstance(system, str):
        return
    for number, block in enumerate(as_list(system, "system")):
        where = f"system.{number}"
        need(as_object(block, where).get("type") == "text", f"{where}.type: Input should be 'text'")
        check_text_block(block, where)


def _check_tools(tools: object) -> list[str]:
    names: list[str] = []
    for number, tool in enumerate(as_list(tools, "tools") if tools is not None else ()):
        kind = as_object(tool, f"tools.{number}").get("type") or "custom"
        if kind == "custom":
            _check_custom_tool(tool, f"tools.{number}.custom")
        else:
            need(
                isinstance(kind, str) and _SERVER_TOOL.match(kind),
                f"tools.{number}: Input tag {kind!r} is unknown",
            )
        if isinstance(tool.get("name"), str):
            names.append(tool["name"])
    need(len(set(names)) == len(names), "tools: Tool names must be unique.")
    return names


def _check_custom_tool(tool: dict[str, Any], where: str) -> None:
    only_keys(tool, _TOOL_FIELDS, where)
    name = tool.get("name")
    need(isinstance(name, str), f"{where}.name: Field required")
    need(_TOOL_NAME.match(str(name)), f"{where}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
    need(isinstance(tool.get("description", ""), str), f"{where}.description: Input should be a valid string")
    need("input_schema" in tool, f"{where}.input_schema: Field required")
    problem = anthropic_schema_problem(as_object(tool["input_schema"], f"{where}.input_schema"))
    need(problem is None, f"{where}.input_schema: {problem}")
    if tool.get("strict") is True:
        problem = closed_object_problem(tool["input_schema"])
        need(problem is None, f"{where}.input_schema: {problem}")


def _check_thinking(body: dict[str, Any], betas: Collection[str]) -> None:
    """https://platform.claude.com/docs/en/build-with-claude/extended-thinking"""
    if body.get("thinking") is None:
        return
    thinking = as_object(body["thinking"], "thinking")
    kind = thinking.get("type")
    need(one_of(kind, _THINKING_FIELDS), f"thinking.type: Input should be one of {', '.join(_THINKING_FIELDS)}")
    only_keys(thinking, _THINKING_FIELDS[str(kind)], f"thinking.{kind}")
    need(thinking.get("display") in (None, "summarized", "omitted"), "thinking.display: unknown value")
    if kind == "enabled":
        budget = thinking.get("budget_tokens")
        need(
            _is_count(budget) and is_number(budget, 1024, float("inf")),
            "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        )
        interleaved = any(beta.startswith("interleaved-thinking-") for beta in betas)
        need(
            interleaved or is_number(budget, 1024, body["max_tokens"] - 1),
            "`max_tokens` must be greater than `thinking.budget_tokens`.",
        )
    if kind in ("enabled", "adaptive"):
        need(
            body.get("temperature") in (None, 1),
            "`temperature` may only be set to 1 when thinking is enabled.",
        )
        need(body.get("top_k") is None, "`top_k` must be unset when thinking is enabled.")
        need(
            body.get("top_p") is None or is_number(body["top_p"], 0.95, 1),
            "`top_p` must be at least 0.95 when thinking is enabled.",
        )


def _check_tool_choice(body: dict[str, Any], names: list[str]) -> None:
    if body.get("tool_choice") is None:
        return
    choice = as_object(body["tool_choice"], "tool_choice")
    kind = choice.get("type")
    need(
        kind in ("auto", "any", "tool", "none"),
        "tool_choice.type: Input should be 'auto', 'any', 'tool' or 'none'",
    )
    allowed = {"type"} | ({"name"} if kind == "tool" else set[str]())
    only_keys(choice, allowed | ({"disable_parallel_tool_use"} if kind != "none" else set[str]()), "tool_choice")
    need(kind == "none" or body.get("tools"), "tool_choice may only be specified while providing tools.")
    need(
        kind != "tool" or choice.get("name") in names,
        f"Tool '{choice.get('name')}' not found in provided tools",
    )
    thinks = (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")
    need(
        not (thinks and kind in ("any", "tool")),
        "Thinking may not be enabled when tool_choice forces tool use.",
    )


def _check_sampling(body: dict[str, Any]) -> None:
    for name in ("temperature", "top_p"):
        need(body.get(name) is None or is_number(body[name], 0, 1), f"{name}: range: 0..1")
    need(
        body.get("top_k") is None or is_number(body["top_k"], 0, float("inf")),
        "top_k: Input should be at least 0",
    )
    stops = body.get("stop_sequences")
    for stop in as_list(stops, "stop_sequences") if stops is not None else ():
        need(
            isinstance(stop, str) and stop.strip(),
            "stop_sequences: each stop sequence must contain non-whitespace",
        )
    if body.get("metadata") is not None:
        only_keys(as_object(body["metadata"], "metadata"), {"user_id"}, "metadata")


def _check_output_config(config: object) -> None:
    """https://platform.claude.com/docs/en/build-with-claude/structured-outputs"""
    if config is None:
        return
    value = as_object(config, "output_config")
    only_keys(value, {"effort", "format", "task_budget"}, "output_config")
    need(value.get("effort") in (None, *_EFFORTS), f"output_config.effort: Input should be one of {_EFFORTS}")
    if value.get("format") is not None:
        wanted = as_object(value["format"], "output_config.format")
        only_keys(wanted, {"type", "schema"}, "output_config.format")
        need(wanted.get("type") == "json_schema", "output_config.format.type: Input should be 'json_schema'")
        problem = closed_object_problem(as_object(wanted.get("schema"), "output_config.format.schema"))
        need(problem is None, f"output_config.format.schema: {problem}")


def _check_cache_marks(body: dict[str, Any]) -> None:
    """At most four marks, longer-lived ones first.

    https://platform.claude.com/docs/en/build-with-claude/prompt-caching
    """
    marks = [mark for mark in _cache_marks(body) if mark is not None]
    need(len(marks) <= 4, f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    short_seen = False
    for mark in marks:
        value = as_object(mark, "cache_control")
        only_keys(value, {"type", "ttl"}, "cache_control")
        need(value.get("type") == "ephemeral", "cache_control.type: Input should be 'ephemeral'")
        need(value.get("ttl", "5m") in ("5m", "1h"), "cache_control.ttl: Input should be '5m' or '1h'")
        long = value.get("ttl") == "1h"
        need(
            not (long and short_seen),
            "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
        )
        short_seen = short_seen or not long


def _cache_marks(body: dict[str, Any]) -> Iterator[Any]:
    """In the order the cache is keyed: tools, system, messages, then the automatic mark at the end."""
    for tool in body.get("tools") or ():
        yield tool.get("cache_control")
    system = body.get("system")
    for block in system if isinstance(system, list) else ():
        yield block.get("cache_control")
    for message in body["messages"]:
        content = message["content"]
        for block in content if isinstance(content, list) else ():
            inner = block.get("content")
            for part in inner if isinstance(inner, list) else ():
                yield part.get("cache_control") if isinstance(part, dict) else None
            yield block.get("cache_control")
    yield body.get("cache_control")
