"""Conversations as OpenAI Chat Completions: request bodies made of fragments that are encoded once a message.

Source: https://platform.openai.com/docs/api-reference/chat/create. Contents are plain strings wherever they can
be, because many compatible servers take nothing else.
"""

from collections.abc import Mapping, Sequence
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
    is_strict,
    parameters_schema,
    result_text,
    safe_id,
    safe_name,
    usable_image,
    usable_parts,
)
from agentframework.providers.definitions import OPENAI_FAMILIES, family_of
from agentframework.providers.fragments import MessageWire
from agentframework.providers.protocol import ModelRequest
from agentframework.providers.wire_json import array, encode, encode_object

ORIGIN = "openai-chat"
MAX_ID = 40

BESIDE = "beside_message"
"""``type`` of the `OpaquePart` that keeps a reply's fields (Gemini's ``extra_content``) that must come back."""


def encode_request(request: ModelRequest, *, official: bool) -> bytes:
    """The body of ``POST /chat/completions``.

    ``official`` is OpenAI itself, which calls the output limit ``max_completion_tokens`` and takes a cache key;
    compatible servers know ``max_tokens``.
    """
    fields: dict[str, Any] = {
        "model": request.model,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.max_output_tokens is not None:
        fields["max_completion_tokens" if official else "max_tokens"] = request.max_output_tokens
    family = family_of(OPENAI_FAMILIES, request.model)
    if request.effort is not None and (family is None or family.effort):
        fields["reasoning_effort"] = request.effort
    if request.temperature is not None:
        fields["temperature"] = request.temperature
    if request.response_schema is not None:
        fields["response_format"] = {"type": "json_schema", "json_schema": _format(request.response_schema)}
    if official and request.session_id is not None:
        fields["prompt_cache_key"] = request.session_id[:64]
    encoded: dict[str, bytes] = {}
    if request.tools:
        encoded["tools"] = array(map(_tool, request.tools))
    system = encode({"role": "system", "content": request.system}) if request.system.strip() else b""
    encoded["messages"] = array((system, *_WIRE.fragments(request)))
    return encode_object(fields, **encoded)


def _format(schema: Any) -> dict[str, Any]:
    strict = is_strict(schema)
    return {"name": "response", "schema": closed_schema(schema) if strict else schema, "strict": strict}


def _tool(spec: ToolSpec) -> bytes:
    cached = spec._wire.get(ORIGIN)
    if cached is None:
        function = {
            "name": spec.name,
            "description": spec.description,
            "parameters": parameters_schema(spec.input_schema),
        }
        cached = spec._wire[ORIGIN] = encode({"type": "function", "function": function})
    return cached


def _user(message: UserMessage) -> bytes:
    parts = usable_parts(message.content)
    if all(isinstance(part, TextPart) for part in parts):
        return encode({"role": "user", "content": _joined(parts)})
    return encode({"role": "user", "content": [_user_part(part) for part in parts]})


def _joined(parts: Sequence[object]) -> str:
    return "\n\n".join(part.text for part in parts if isinstance(part, TextPart) and part.text.strip())


def _user_part(part: TextPart | ImagePart | DocumentPart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    url = f"data:{part.mime_type};base64,{part.data_base64}"
    if isinstance(part, ImagePart):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": part.name or "document.pdf", "file_data": url}}


def _tool_results(message: ToolMessage) -> bytes:
    """One message a result; pictures, which those may not hold, follow in a user message."""
    fragments: list[bytes] = []
    pictures: list[dict[str, Any]] = []
    for part in message.content:
        text = result_text(part, has_error_flag=False)
        if part.images:
            text = text or "(see the image below)"
            pictures.append({"type": "text", "text": f"Images from {part.tool_name}:"})
            pictures += [_user_part(usable_image(image)) for image in part.images]
        call_id = safe_id(part.tool_use_id, MAX_ID)
        fragments.append(encode({"role": "tool", "tool_call_id": call_id, "content": text}))
    if pictures:
        fragments.append(encode({"role": "user", "content": pictures}))
    return b",".join(fragments)


def _assistant(message: AssistantMessage, own: bool, own_model: bool) -> bytes:
    """A reply as it may go back; nothing (an empty fragment) if nothing of it may.

    Reasoning goes back with tool calls only, under the field it came in: servers that send it want it there
    while the turn goes on, and ignore or refuse it elsewhere.
    """
    text = _joined(message.content)
    calls = [_call(part, own=own) for part in message.content if isinstance(part, ToolCall)]
    if not text and not calls:
        return b""
    value: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        for part in message.content if own_model else ():
            if isinstance(part, ThinkingPart) and part.data is not None:
                value |= _reasoning(part.text, part.data)
        value["tool_calls"] = calls
    for part in message.content if own else ():
        if isinstance(part, OpaquePart) and part.data.get("type") == BESIDE:
            value |= part.data["fields"]
    return encode(value)


def _reasoning(text: str, data: Mapping[str, Any]) -> dict[str, Any]:
    details = data.get("reasoning_details")
    return ({str(data["field"]): text} if text else {}) | ({"reasoning_details": details} if details else {})


def _call(part: ToolCall, *, own: bool) -> dict[str, Any]:
    arguments = encode({} if part.arguments is None else part.arguments).decode()
    function = {"name": safe_name(part.name), "arguments": arguments}
    call = {"id": safe_id(part.id, MAX_ID), "type": "function", "function": function}
    return {**call, **part.extra} if own else call


_WIRE = MessageWire(ORIGIN, _user, _tool_results, _assistant)
