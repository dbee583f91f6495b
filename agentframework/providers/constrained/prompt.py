"""A `ModelRequest` as the short prompt that a small model can follow.

A prompt is: what to do and the tools in one line each, a few worked examples (`examples`), and the newest
request, or after a tool has run its result and the request. What the request names – files, identifiers, quoted
words – is listed after it in quotes, because a small model copies a quoted string whole and misspells it from
running text.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentframework._base.bounded import printable
from agentframework.messages import AssistantMessage, Message, ToolCall, ToolMessage, ToolSpec, UserMessage
from agentframework.providers.acceptable import ask_directly
from agentframework.providers.constrained.decode import ReplyKind
from agentframework.providers.constrained.examples import (
    THE_TEXT,
    Example,
    closest_calls,
    closest_replies,
    first_line,
    is_file_name,
    mentioned_names,
    rank_tools,
)
from agentframework.providers.constrained.schema import action_schema
from agentframework.providers.protocol import ModelRequest

_CHOOSE = "You are an assistant with tools. Reply with one JSON object: a tool call, or an answer."
_FROM_TEXT = "Answer the request from the text, as JSON."
_MAX_TOOLS = 8
_CALL_EXAMPLES = 4
_REPLY_EXAMPLES = 2
_MAX_NAMES = 8
_MAX_NAME = 80
# A file as tools show it: a heading in brackets, perhaps, and lines that begin with their numbers.
_HEADING = re.compile(r"\[[^\n]*\]\n(?= *\d+(?:\t|→))")
_NUMBER = re.compile(r"^ *\d+(?:\t|→)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ConstrainedOptions:
    """How much a model can take.

    ``max_bytes`` (UTF-8) bounds what the conversation adds to the prompt; a byte is never more than one token of
    a byte-level vocabulary. ``small_model`` is for models below about a billion parameters: earlier turns and
    long system prompts are left out, optional arguments are not offered, a path argument can only be a file that
    the request mentions (if it mentions any), and after a tool's result comes the reply, not another call.
    """

    max_bytes: int = 24_000
    small_model: bool = False


@dataclass(frozen=True, slots=True)
class ConstrainedPrompt:
    """Chat messages (``role``, ``content``) and the schema of the action, None for plain text.

    ``reply`` tells the decoder what an answer is: plain text, a JSON string, or any JSON value.
    """

    messages: list[dict[str, str]]
    schema: dict[str, Any] | None
    reply: ReplyKind


def build_prompt(request: ModelRequest, options: ConstrainedOptions) -> ConstrainedPrompt:
    """The prompt for ``request``. Without tools and response format it is the conversation as it is, cut."""
    asked, history, results = _split(request.messages)
    if not request.tools and request.response_schema is None and not results:
        return ConstrainedPrompt(_plain(request, asked, history, options), None, "text")
    tools = _offered(asked, request.tools)
    if results and options.small_model:
        system, tools = _FROM_TEXT, []
    else:
        system = "\n".join([_CHOOSE if tools else "Reply with one JSON object.", *_tool_lines(tools, options)])
    system += _instructions(request.system, options)
    messages = [_message("system", system)]
    if request.response_schema is None:
        for example in _examples(asked, tools, with_result=bool(results)):
            messages += [_message("user", _user_turn(example)), _message("assistant", _json(example.action))]
    if not options.small_model:
        messages += [
            _message(role, _json({"answer": text}) if role == "assistant" else text)
            for role, text in _newest(history, options.max_bytes // 2)
        ]
    if results:
        cut_request, text = _result_text(asked, results, options)
        messages.append(_message("user", _with_result(cut_request, text)))
    else:
        messages.append(_message("user", _with_names(_cut(asked, options.max_bytes))))
    files = [name for name in mentioned_names(asked) if is_file_name(name)] if options.small_model else []
    schema = action_schema(tools, answer=request.response_schema, required_only=options.small_model, files=files)
    return ConstrainedPrompt(messages, schema, "string" if request.response_schema is None else "json")


def chat_body(request: ModelRequest, prompt: ConstrainedPrompt) -> dict[str, Any]:
    """Body of a streaming ``/chat/completions`` request; the temperature is 0 unless one is asked for."""
    messages = prompt.messages
    if request.no_think:
        messages = [*messages[:-1], {**messages[-1], "content": ask_directly(messages[-1]["content"])}]
    body: dict[str, Any] = {
        "model": request.model,
        "messages": messages,
        "temperature": 0 if request.temperature is None else request.temperature,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if request.max_output_tokens is not None:
        body["max_tokens"] = request.max_output_tokens
    if prompt.schema is not None:
        named = {"name": "action", "schema": prompt.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    return body


_Round = tuple[AssistantMessage, ToolMessage]


def _split(messages: Sequence[Message]) -> tuple[str, list[tuple[str, str]], list[_Round]]:
    """The newest request, what was said before it, and the tool rounds since."""
    last = max((i for i, message in enumerate(messages) if isinstance(message, UserMessage)), default=-1)
    asked = printable(messages[last].text) if last >= 0 else ""
    history = [
        (message.role, message.text)
        for message in messages[: max(last, 0)]
        if not isinstance(message, ToolMessage) and message.text.strip()
    ]
    rounds: list[_Round] = []
    for before, message in zip(messages[last + 1 :], messages[last + 2 :], strict=False):
        if isinstance(before, AssistantMessage) and isinstance(message, ToolMessage):
            rounds.append((before, message))
    return asked, history, rounds


def _plain(
    request: ModelRequest, asked: str, history: list[tuple[str, str]], options: ConstrainedOptions
) -> list[dict[str, str]]:
    asked = _cut(asked, options.max_bytes)
    instructions = _instructions(request.system, options).strip()
    system = [_message("system", instructions)] if instructions else []
    before = _newest(history, options.max_bytes - _size(asked))
    return [*system, *(_message(role, text) for role, text in before), _message("user", asked)]


def _offered(asked: str, tools: Sequence[ToolSpec]) -> list[ToolSpec]:
    if len(tools) <= _MAX_TOOLS:
        return list(tools)
    likely = {spec.name for spec in rank_tools(asked, tools)[:_MAX_TOOLS]}
    return [spec for spec in tools if spec.name in likely]


def _tool_lines(tools: Sequence[ToolSpec], options: ConstrainedOptions) -> list[str]:
    lines = ["Tools:"] if tools else []
    for spec in tools:
        properties = spec.input_schema.get("properties") or {}
        names = (spec.input_schema.get("required") or ()) if options.small_model else properties
        lines.append(f"{spec.name}({', '.join(names)}): {first_line(spec)}")
    return lines


def _instructions(system: str, options: ConstrainedOptions) -> str:
    """The caller's system prompt, if it is short beside the rest of the prompt."""
    return f"\n{system.strip()}" if 0 < _size(system.strip()) <= options.max_bytes // 4 else ""


def _examples(asked: str, tools: Sequence[ToolSpec], *, with_result: bool) -> list[Example]:
    if with_result:
        return closest_replies(_about_the_text(asked), _REPLY_EXAMPLES)
    return closest_calls(asked, tools, _CALL_EXAMPLES)


def _user_turn(example: Example) -> str:
    if example.result is None:
        return _with_names(example.request)
    return _with_result(example.request, example.result)


def _with_names(request: str) -> str:
    names = [name for name in mentioned_names(request) if len(name) <= _MAX_NAME][:_MAX_NAMES]
    return f"{request}\nNames: {', '.join(map(_json, names))}" if names else request


def _with_result(request: str, result: str) -> str:
    return f"Text:\n{result}\n\nRequest: {request}"


def _about_the_text(asked: str) -> str:
    """``asked`` without the names of files: the text is what they stood for, and a name is taken for its title."""
    for name in mentioned_names(asked):
        if is_file_name(name):
            asked = asked.replace(name, THE_TEXT)
    return asked


def _result_text(asked: str, rounds: list[_Round], options: ConstrainedOptions) -> tuple[str, str]:
    """The request, and the newest results that fit, as the text to answer it from."""
    request = _cut(_about_the_text(asked) if options.small_model else asked, options.max_bytes // 2)
    room = options.max_bytes - _size(request)
    texts: list[str] = []
    for assistant, answered in reversed(rounds):
        called = {call.id: call for call in assistant.tool_calls}
        for result in reversed(answered.content):
            text = result.content.strip() or "(nothing)"
            text = _cut(_unnumbered(text) if options.small_model else text, room)
            texts.append(text if options.small_model else f"{_heading(called.get(result.tool_use_id))}{text}")
            room -= _size(text)
            if room <= 0:
                return request, "\n\n".join(reversed(texts))
    return request, "\n\n".join(reversed(texts))


def _heading(call: ToolCall | None) -> str:
    return "" if call is None else f"Result of {call.name} {_json(dict(call.arguments or {}))}:\n"


def _unnumbered(text: str) -> str:
    """``text`` without the heading and the line numbers of a file tool: a small model takes both for content."""
    text = _HEADING.sub("", text, count=1) if text.startswith("[") else text
    return _NUMBER.sub("", text) if _NUMBER.match(text) else text


def _newest(history: list[tuple[str, str]], room: int) -> list[tuple[str, str]]:
    kept: list[tuple[str, str]] = []
    for role, text in reversed(history):
        room -= _size(text)
        if room < 0:
            break
        kept.append((role, text))
    return kept[::-1]


def _size(text: str) -> int:
    return len(text.encode(errors="replace"))


def _cut(text: str, limit: int) -> str:
    if _size(text) <= limit:
        return text
    return text.encode(errors="replace")[: max(limit, 0)].decode(errors="ignore") + "\n…"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _message(role: str, content: str) -> dict[str, str]:
    # A server's JSON parser refuses a request with half a surrogate pair in it.
    return {"role": role, "content": printable(content)}
