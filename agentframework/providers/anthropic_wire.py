"""Conversations as Anthropic Messages: request bodies made of fragments that are encoded once a message.

Source: https://platform.claude.com/docs/en/api/messages. Members are ordered so that a body is the last one plus
new messages at the end (tools, system, messages), which is what the prompt cache is keyed by.
"""

from typing import Any

from agentframework.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from agentframework.providers.acceptable import (
    closed_schema,
    result_text,
    safe_id,
    safe_name,
    usable_image,
    usable_parts,
)
from agentframework.providers.definitions import ANTHROPIC_FAMILIES, ModelFamily, family_of
from agentframework.providers.fragments import MessageWire
from agentframework.providers.protocol import ModelRequest
from agentframework.providers.wire_json import array, encode, encode_object

ORIGIN = "anthropic"
DEFAULT_MAX_TOKENS = 8_192
MIN_BUDGET = 1_024

_BUDGETS = {"minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 32_000, "max": 60_000}

BESIDE_TEXT = "beside_text"
"""``type`` of the `OpaquePart` that keeps what a text block holds beside its text (citations, say) in ``fields``."""

_FIRST = encode({"role": "user", "content": [{"type": "text", "text": "(continued)"}]})
_OPENS_AS_ASSISTANT = b'{"role":"assistant"'
_CACHE = {"type": "ephemeral"}

Block = dict[str, Any]


def encode_request(request: ModelRequest) -> bytes:
    """The body of ``POST /v1/messages``."""
    max_tokens = request.max_output_tokens or _max_tokens(request.model)
    fields: dict[str, Any] = {
        "model": request.model,
        "max_tokens": max_tokens,
        "stream": True,
        "cache_control": _CACHE,
        **_sampling(request, max_tokens),
    }
    encoded: dict[str, bytes] = {}
    if request.tools:
        encoded["tools"] = array(map(_tool, request.tools))
    if request.system.strip():
        encoded["system"] = encode([{"type": "text", "text": request.system}])
    encoded["messages"] = array(_messages(request))
    return encode_object(fields, **encoded)


def _sampling(request: ModelRequest, max_tokens: int) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    config: dict[str, Any] = {}
    family = family_of(ANTHROPIC_FAMILIES, request.model)
    if request.effort == "none":
        if family is None or family.thinking != "none":
            fields["thinking"] = {"type": "disabled"}
    elif request.effort is not None:
        if family is None or family.effort:
            config["effort"] = "low" if request.effort == "minimal" else request.effort
        if family is not None and request.temperature in (None, 1):
            thinking = _thinking_setting(family, request, max_tokens)
            fields |= {"thinking": thinking} if thinking else {}
    if request.response_schema is not None:
        config["format"] = {"type": "json_schema", "schema": closed_schema(request.response_schema)}
    if config:
        fields["output_config"] = config
    if request.temperature is not None:
        fields["temperature"] = request.temperature
    return fields


def _thinking_setting(family: ModelFamily, request: ModelRequest, max_tokens: int) -> dict[str, Any] | None:
    """How the model is asked to think, or None if it cannot.

    A budget leaves room for the answer. It is left out in the middle of a tool round that began without thinking
    (another model's, say), because the API refuses it there.
    """
    if family.thinking == "adaptive":
        return {"type": "adaptive", "display": "summarized"}
    budget = min(_BUDGETS[request.effort or "medium"], max_tokens - MIN_BUDGET)
    if family.thinking == "none" or budget < MIN_BUDGET or _goes_on_without_thinking(request):
        return None
    return {"type": "enabled", "budget_tokens": budget}


def _goes_on_without_thinking(request: ModelRequest) -> bool:
    last = next((it for it in reversed(request.messages) if isinstance(it, AssistantMessage)), None)
    if last is None or not last.tool_calls:
        return False
    first = last.content[0]
    own = last.origin == ORIGIN and last.model == request.model
    return not (own and isinstance(first, ThinkingPart) and _thinking(first) is not None)


def _max_tokens(model: str) -> int:
    family = family_of(ANTHROPIC_FAMILIES, model)
    return DEFAULT_MAX_TOKENS if family is None else family.max_output_tokens


def _tool(spec: ToolSpec) -> bytes:
    cached = spec._wire.get(ORIGIN)
    if cached is None:
        tool = {"name": spec.name, "description": spec.description, "input_schema": spec.input_schema}
        if not spec.description:
            del tool["description"]
        cached = spec._wire[ORIGIN] = encode(tool)
    return cached


def _messages(request: ModelRequest) -> list[bytes]:
    fragments = _WIRE.fragments(request)
    first = next(filter(None, fragments), b"")
    return [_FIRST, *fragments] if first.startswith(_OPENS_AS_ASSISTANT) else fragments


def _user(message: UserMessage) -> bytes:
    return encode({"role": "user", "content": [_user_block(part) for part in usable_parts(message.content)]})


def _user_block(part: TextPart | ImagePart | DocumentPart) -> Block:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    source = {"type": "base64", "media_type": part.mime_type, "data": part.data_base64}
    if isinstance(part, ImagePart):
        return {"type": "image", "source": source}
    return {"type": "document", "source": source, **({"title": part.name} if part.name else {})}


def _tool_results(message: ToolMessage) -> bytes:
    """Results first, as the API demands; pictures of failed calls follow, for those may only hold text."""
    results: list[Block] = []
    after: list[Block] = []
    for part in message.content:
        text = result_text(part, has_error_flag=True)
        pictures = [_user_block(usable_image(image)) for image in part.images]
        result: Block = {"type": "tool_result", "tool_use_id": safe_id(part.tool_use_id)}
        if part.is_error:
            result |= {"content": text or "(see the image)", "is_error": True}
            after += pictures
        elif pictures:
            result["content"] = [*([{"type": "text", "text": text}] if text else []), *pictures]
        else:
            result["content"] = text
        results.append(result)
    return encode({"role": "user", "content": results + after})


def _assistant(message: AssistantMessage, own: bool, own_model: bool) -> bytes:
    """A reply as it may go back; nothing (an empty fragment) if nothing of it may."""
    if message.is_empty:
        return b""
    blocks: list[Block] = []
    for part in message.content:
        if isinstance(part, TextPart):
            if part.text.strip():
                blocks.append({"type": "text", "text": part.text})
        elif isinstance(part, ToolCall):
            blocks.append(_call(part, own=own))
        elif isinstance(part, ThinkingPart):
            if own_model and (block := _thinking(part)) is not None:
                blocks.append(block)
        elif isinstance(part, OpaquePart) and own:
            if part.data.get("type") != BESIDE_TEXT:
                blocks.append(dict(part.data))
            elif blocks and blocks[-1]["type"] == "text":
                blocks[-1] |= part.data["fields"]
    if all(block.get("type") in ("thinking", "redacted_thinking") for block in blocks):
        return b""
    return encode({"role": "assistant", "content": blocks})


def _call(part: ToolCall, *, own: bool) -> Block:
    block: Block = {
        "type": "tool_use",
        "id": safe_id(part.id),
        "name": safe_name(part.name),
        "input": {} if part.arguments is None else part.arguments,
    }
    return {**block, **part.extra} if own else block


def _thinking(part: ThinkingPart) -> Block | None:
    """The block as it came; None for one that was never signed."""
    if part.data is not None:
        return dict(part.data)
    if part.signature:
        return {"type": "thinking", "thinking": part.text, "signature": part.signature}
    return None


_WIRE = MessageWire(ORIGIN, _user, _tool_results, _assistant)
