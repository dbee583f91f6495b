"""Conversations as OpenAI Responses: request bodies made of fragments that are encoded once a message.

Sources: https://platform.openai.com/docs/api-reference/responses/create and …/docs/guides/reasoning. Nothing is
stored at OpenAI; reasoning travels encrypted inside the conversation, right before what it led to.
"""

from collections.abc import Sequence
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

ORIGIN = "openai-responses"
MIN_OUTPUT_TOKENS = 16

HEADER = "message_header"
"""``type`` of the `OpaquePart` that keeps what a message item holds beside its text (such as ``phase``)."""


def encode_request(request: ModelRequest) -> bytes:
    """The body of ``POST /responses``."""
    fields: dict[str, Any] = {"model": request.model, "stream": True, "store": False}
    family = family_of(OPENAI_FAMILIES, request.model)
    if family is None or family.thinking != "none":
        fields["include"] = ["reasoning.encrypted_content"]
    if request.effort is not None and (family is None or family.effort):
        fields["reasoning"] = {"effort": request.effort}
        if request.effort != "none":
            fields["reasoning"]["summary"] = "auto"
    if request.max_output_tokens is not None:
        fields["max_output_tokens"] = max(MIN_OUTPUT_TOKENS, request.max_output_tokens)
    if request.temperature is not None:
        fields["temperature"] = request.temperature
    if request.response_schema is not None:
        fields["text"] = {"format": _format(request.response_schema)}
    if request.session_id is not None:
        fields["prompt_cache_key"] = request.session_id[:64]
    encoded: dict[str, bytes] = {}
    if request.tools:
        encoded["tools"] = array(map(_tool, request.tools))
    if request.system.strip():
        encoded["instructions"] = encode(request.system)
    encoded["input"] = array(_WIRE.fragments(request))
    return encode_object(fields, **encoded)


def _format(schema: Any) -> dict[str, Any]:
    strict = is_strict(schema)
    return {
        "type": "json_schema",
        "name": "response",
        "schema": closed_schema(schema) if strict else schema,
        "strict": strict,
    }


def _tool(spec: ToolSpec) -> bytes:
    cached = spec._wire.get(ORIGIN)
    if cached is None:
        tool = {
            "type": "function",
            "name": spec.name,
            "description": spec.description,
            "parameters": parameters_schema(spec.input_schema),
            "strict": False,
        }
        cached = spec._wire[ORIGIN] = encode(tool)
    return cached


def _user(message: UserMessage) -> bytes:
    content = [_user_part(part) for part in usable_parts(message.content)]
    return encode({"role": "user", "content": content})


def _user_part(part: TextPart | ImagePart | DocumentPart) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "input_text", "text": part.text}
    url = f"data:{part.mime_type};base64,{part.data_base64}"
    if isinstance(part, ImagePart):
        return {"type": "input_image", "image_url": url}
    return {"type": "input_file", "filename": part.name or "document.pdf", "file_data": url}


def _tool_results(message: ToolMessage) -> bytes:
    return b",".join(
        encode({"type": "function_call_output", "call_id": safe_id(part.tool_use_id), "output": output})
        for part in message.content
        for output in [_output(result_text(part, has_error_flag=False), part.images)]
    )


def _output(text: str, images: Sequence[ImagePart]) -> str | list[dict[str, Any]]:
    if not images:
        return text
    head = [{"type": "input_text", "text": text}] if text else []
    return [*head, *(_user_part(usable_image(image)) for image in images)]


def _assistant(message: AssistantMessage, own: bool, own_model: bool) -> bytes:
    """A reply's items as they may go back; nothing (an empty fragment) if none may.

    Reasoning waits for the item it led to, and is dropped if there is none.
    """
    items: list[dict[str, Any]] = []
    reasoning: list[dict[str, Any]] = []
    header: dict[str, Any] = {}
    for part in message.content:
        if isinstance(part, ThinkingPart):
            if own_model and part.data is not None:
                reasoning.append(dict(part.data))
            continue
        if isinstance(part, OpaquePart) and part.data.get("type") == HEADER:
            header = {key: value for key, value in part.data.items() if key != "type"} if own else {}
            continue
        if isinstance(part, TextPart):
            item = (
                {"type": "message", "role": "assistant", "content": part.text, **header} if part.text.strip() else None
            )
            header = {}
        elif isinstance(part, ToolCall):
            item = _call(part, own=own, own_model=own_model)
        else:
            item = dict(part.data) if own else None
        if item is not None:
            items += [*reasoning, item]
            reasoning = []
    return b",".join(map(encode, items))


def _call(part: ToolCall, *, own: bool, own_model: bool) -> dict[str, Any]:
    """The call; its item id only together with the reasoning that it refers to."""
    item: dict[str, Any] = {
        "type": "function_call",
        "call_id": safe_id(part.id),
        "name": safe_name(part.name),
        "arguments": encode({} if part.arguments is None else part.arguments).decode(),
    }
    if own:
        item |= {key: value for key, value in part.extra.items() if own_model or key != "id"}
    return item


_WIRE = MessageWire(ORIGIN, _user, _tool_results, _assistant)
