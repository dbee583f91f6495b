"""What a run is given, as messages of a conversation: a text, a text with content, or a list of messages.

Messages may be ours, or dicts as the chat API of OpenAI has them.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from agentframework._base.ids import new_id
from agentframework.errors import InvalidInputError
from agentframework.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    UserMessage,
    as_user_part,
)

_NOT_SENT = ("system", "developer")


def input_messages(value: Any, content: Any) -> list[Message]:
    """The messages that a run adds to its conversation; the last one is the user's, or holds results.

    ``content`` are parts that go with a text, which may be among them. System messages of a list are left out: an agent
    has its own instructions. Raises `InvalidInputError`.
    """
    if isinstance(value, str):
        parts = _user_parts(value if content is None else content, value)
        return [UserMessage(parts)]
    if content is not None:
        raise InvalidInputError("content goes with a text, not with a list of messages", details={"field": "content"})
    if not isinstance(value, Sequence):
        raise InvalidInputError(f"input is a text or a list of messages, not a {type(value).__name__}")
    messages = _Reader().read(cast("Sequence[Any]", value))
    if not messages or isinstance(messages[-1], AssistantMessage):
        raise InvalidInputError("a list of messages ends with what the user says or with results of tools")
    return messages


def _user_parts(value: Any, text: str = "") -> tuple[Any, ...]:
    if isinstance(value, str):
        if not value.strip():
            raise InvalidInputError("the input is blank; a run needs text, content or messages")
        return (TextPart(value),)
    if not isinstance(value, Sequence) or not value:
        raise InvalidInputError("content is a list of parts", details={"field": "content"})
    parts = tuple(map(as_user_part, cast("Sequence[object]", value)))
    said = any(isinstance(part, TextPart) and part.text.strip() == text.strip() for part in parts)
    # Some callers repeat the text among the parts.
    return parts if said or not text.strip() else (TextPart(text), *parts)


class _Reader:
    """Reads a list of messages; results of one round become one message."""

    def __init__(self) -> None:
        self._found: list[Message] = []
        self._names: dict[str, str] = {}
        self._results: list[ToolResultPart] = []

    def read(self, values: Sequence[Any]) -> list[Message]:
        for place, value in enumerate(values):
            if isinstance(value, UserMessage | AssistantMessage | ToolMessage):
                self._flush()
                self._found.append(value)
            elif isinstance(value, Mapping):
                try:
                    self._one(cast("Mapping[str, Any]", value))
                except InvalidInputError as error:
                    raise InvalidInputError(f"message {place}: {error.message}", details={"index": place}) from None
            else:
                raise InvalidInputError(f"message {place} is a {type(value).__name__}, not a message or a dict")
        self._flush()
        return self._found

    def _one(self, value: Mapping[str, Any]) -> None:
        role, content = value.get("role"), value.get("content")
        if role in _NOT_SENT:
            return
        if role == "tool":
            self._result(value, content)
            return
        self._flush()
        if role == "user":
            self._found.append(UserMessage(_user_parts(content)))
        elif role == "assistant":
            self._reply(value, content)
        else:
            raise InvalidInputError(f"role {role!r} is none of user, assistant, tool, system, developer")

    def _reply(self, value: Mapping[str, Any], content: Any) -> None:
        parts: list[AssistantPart] = []
        text = content if isinstance(content, str) else "".join(_texts(content))
        if text.strip():
            parts.append(TextPart(text))
        parts += [self._call(call) for call in value.get("tool_calls") or ()]
        if parts:
            self._found.append(AssistantMessage(tuple(parts)))

    def _call(self, value: Any) -> ToolCall:
        function: Any = value.get("function") if isinstance(value, Mapping) else None
        if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
            raise InvalidInputError('a tool call is {"id", "function": {"name", "arguments"}}')
        name, text = function["name"], function.get("arguments") or "{}"
        if not isinstance(text, str):
            text = json.dumps(text)
        call_id = str(value.get("id") or new_id("call"))
        self._names[call_id] = name
        arguments, problem = _arguments(text)
        return ToolCall(call_id, name, arguments, text, problem)

    def _result(self, value: Mapping[str, Any], content: Any) -> None:
        call_id = str(value.get("tool_call_id"))
        name = self._names.get(call_id)
        if name is None:
            raise InvalidInputError(f"a result for {call_id!r}, which no call before it has as id")
        text = content if isinstance(content, str) else "".join(_texts(content))
        self._results.append(ToolResultPart(call_id, name, text))

    def _flush(self) -> None:
        if self._results:
            self._found.append(ToolMessage(tuple(self._results)))
            self._results = []


def _arguments(text: str) -> tuple[Mapping[str, Any] | None, str | None]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return (value, None) if isinstance(value, dict) else (None, "the arguments are not a JSON object")


def _texts(content: Any) -> list[str]:
    if content is None:
        return []
    if not isinstance(content, Sequence):
        raise InvalidInputError(f"content is text or a list of parts, not a {type(content).__name__}")
    found: list[str] = []
    for part in cast("Sequence[Any]", content):
        text: Any = part.get("text") if isinstance(part, Mapping) else None
        if not isinstance(text, str):
            raise InvalidInputError("content of this role is text")
        found.append(text)
    return found
