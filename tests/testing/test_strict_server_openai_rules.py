"""The rules of OpenAI Chat Completions and Responses, one body per rule."""

import base64
import io
from typing import Any

import pytest
from PIL import Image

from agentframework.testing.strict_server import Issued, check_request

Body = dict[str, Any]

USER: Body = {"role": "user", "content": "hi"}
OBJECT: Body = {"type": "object", "properties": {"path": {"type": "string"}}}
CLOSED: Body = {**OBJECT, "additionalProperties": False, "required": ["path"]}


def picture(kind: str = "PNG") -> str:
    buffer = io.BytesIO()
    Image.new("RGB", (2, 2)).save(buffer, kind)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def function(**changes: Any) -> Body:
    made = {"name": "Read", "parameters": OBJECT, **changes}
    return {name: value for name, value in made.items() if value is not ...}


# -- Chat Completions ------------------------------------------------------------------------------


def chat(*messages: Any, **changes: Any) -> Body:
    made = {"model": "gpt-test", "messages": list(messages or (USER,)), **changes}
    return {name: value for name, value in made.items() if value is not ...}


def made(*ids: Any, name: str = "Read", arguments: Any = "{}", content: Any = None) -> Body:
    calls = [{"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}} for call_id in ids]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def answer(call_id: str = "a") -> Body:
    return {"role": "tool", "tool_call_id": call_id, "content": ""}


def chat_tool(**changes: Any) -> Body:
    return {"type": "function", "function": function(**changes)}


def image(url: str) -> Body:
    return {"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}


def chat_schema(schema: Any, **changes: Any) -> Body:
    inner = {"name": "answer", "schema": schema, "strict": True, **changes}
    return {"type": "json_schema", "json_schema": inner}


CHAT_REFUSED: dict[str, tuple[Body, str]] = {
    "no model": (chat(model=...), "model"),
    "no messages": (chat(messages=...), "Missing required parameter: 'messages'"),
    "empty messages": (chat(messages=[]), "empty array"),
    "unknown field": (chat(thinking={}), "Unknown parameter: 'thinking'"),
    "unknown role": (chat({"role": "function", "content": "a"}), "Invalid value: 'function'"),
    "unknown message field": (chat({**USER, "id": 1}), "Unknown parameter: 'messages[0].id'"),
    "null user content": (chat({"role": "user", "content": None}), "expected a string, got null"),
    "empty user parts": (chat({"role": "user", "content": []}), "empty array"),
    "null assistant content": (chat(USER, {"role": "assistant", "content": None}), "got null"),
    "image from the assistant": (chat(USER, {**image(picture()), "role": "assistant"}), "Invalid value"),
    "input_text part": (
        chat({"role": "user", "content": [{"type": "input_text", "text": "a"}]}),
        "Invalid value",
    ),
    "part without text": (
        chat({"role": "user", "content": [{"type": "text"}]}),
        "Missing required parameter",
    ),
    "lone surrogate": (chat({"role": "user", "content": "\ud83d"}), "surrogate"),
    "unanswered call": (chat(USER, made("a")), "did not have response messages: a"),
    "half answered": (chat(USER, made("a", "b"), answer(), USER), "did not have response messages: b"),
    "user between results": (chat(USER, made("a", "b"), answer(), USER, answer("b")), "messages: b"),
    "answered twice": (chat(USER, made("a"), answer(), answer()), "Duplicate"),
    "answer to nothing": (chat(USER, answer()), "must be a response to a preceeding message"),
    "answer after text": (chat(USER, made("a"), answer(), USER, answer()), "preceeding message"),
    "answer to another": (chat(USER, made("a"), answer("b")), "not found in 'tool_calls'"),
    "answer without id": (chat(USER, made("a"), {"role": "tool", "content": "x"}), "tool_call_id"),
    "id twice in a turn": (chat(USER, made("a", "a"), answer()), "Duplicate"),
    "id used again": (chat(USER, made("a"), answer(), made("a"), answer()), "Duplicate"),
    "id too long": (chat(USER, made("a" * 41), answer("a" * 41)), "maximum length 40"),
    "no calls": (chat(USER, made()), "empty array"),
    "name in history": (chat(USER, made("a", name="a.b"), answer()), "does not match pattern"),
    "arguments as object": (chat(USER, made("a", arguments={}), answer()), "expected a string"),
    "broken arguments": (chat(USER, made("a", arguments='{"a": '), answer()), "JSON object"),
    "arguments of no object": (chat(USER, made("a", arguments="[]"), answer()), "JSON object"),
    "no tools": (chat(tools=[]), "empty array"),
    "129 tools": (chat(tools=[chat_tool(name=f"t{number}") for number in range(129)]), "maximum length 128"),
    "tool twice": (chat(tools=[chat_tool(), chat_tool()]), "unique"),
    "tool name": (chat(tools=[chat_tool(name="a" * 65)]), "does not match pattern"),
    "tool in Responses shape": (chat(tools=[{"type": "function", **function()}]), "Unknown parameter"),
    "schema of no object": (chat(tools=[chat_tool(parameters={"type": "array"})]), 'type: "object"'),
    "schema without properties": (
        chat(tools=[chat_tool(parameters={"type": "object"})]),
        "missing properties",
    ),
    "schema with anyOf": (chat(tools=[chat_tool(parameters={**OBJECT, "anyOf": []})]), "at the top level"),
    "array without items": (
        chat(tools=[chat_tool(parameters={"type": "object", "properties": {"a": {"type": "array"}}})]),
        "array schema missing items",
    ),
    "strict tool is open": (chat(tools=[chat_tool(strict=True)]), "additionalProperties"),
    "choice without tools": (chat(tool_choice="auto"), "only allowed when 'tools'"),
    "choice of missing tool": (
        chat(tools=[chat_tool()], tool_choice={"type": "function", "function": {"name": "b"}}),
        "not found",
    ),
    "unknown choice": (chat(tools=[chat_tool()], tool_choice="any"), "Supported values"),
    "parallel without tools": (chat(parallel_tool_calls=True), "only allowed when 'tools'"),
    "stream options without stream": (chat(stream_options={"include_usage": True}), "'stream' is enabled"),
    "two limits": (chat(max_tokens=1, max_completion_tokens=1), "at the same time"),
    "temperature": (chat(temperature=3), "temperature"),
    "five stops": (chat(stop=["a"] * 5), "stop"),
    "effort": (chat(reasoning_effort="huge"), "reasoning_effort"),
    "format type": (chat(response_format={"type": "xml"}), "Supported values"),
    "format without schema": (chat(response_format={"type": "json_schema"}), "json_schema"),
    "format name": (chat(response_format=chat_schema(CLOSED, name="a b")), "does not match pattern"),
    "open format": (chat(response_format=chat_schema(OBJECT)), "additionalProperties"),
    "optional key": (chat(response_format=chat_schema({**CLOSED, "required": []})), "every key"),
    "json without the word": (chat(response_format={"type": "json_object"}), "the word 'json'"),
    "picture of another type": (chat(image(picture().replace("png", "jpeg"))), "appears to be"),
    "bmp": (chat(image(picture("BMP"))), "media_type"),
    "file url": (chat(image("file:///etc/passwd")), "data URL or an HTTP URL"),
}

CHAT_ACCEPTED: dict[str, Body] = {
    "text": chat(),
    "roles": chat({"role": "system", "content": "a"}, {"role": "developer", "content": "b"}, USER),
    "tool loop": chat(USER, made("a", "b"), answer("b"), answer("a"), USER, tools=[chat_tool()]),
    "empty assistant text": chat(USER, {"role": "assistant", "content": ""}, USER),
    "call with text": chat(USER, made("a", content="b"), answer()),
    "picture": chat(image(picture()), image("https://example.com/a.png")),
    "strict": chat(response_format=chat_schema(CLOSED), tools=[chat_tool(parameters=CLOSED, strict=True)]),
    "tool without parameters": chat(tools=[chat_tool(parameters=...)], tool_choice="required"),
    "json": chat({"role": "user", "content": "as JSON"}, response_format={"type": "json_object"}),
    "options": chat(
        stream=True,
        stream_options={"include_usage": True},
        max_completion_tokens=10,
        reasoning_effort="low",
        temperature=2,
    ),
}

# -- Responses -------------------------------------------------------------------------------------


def responses(*items: Any, **changes: Any) -> Body:
    body = {"model": "gpt-test", "input": list(items or (USER,)), **changes}
    return {name: value for name, value in body.items() if value is not ...}


def fc(call_id: Any = "a", **changes: Any) -> Body:
    return {"type": "function_call", "call_id": call_id, "name": "Read", "arguments": "{}", **changes}


def output(call_id: str = "a", **changes: Any) -> Body:
    return {"type": "function_call_output", "call_id": call_id, "output": "x", **changes}


def tool(**changes: Any) -> Body:
    return {"type": "function", **function(**changes)}


def message(*parts: Any, role: str = "user") -> Body:
    return {"type": "message", "role": role, "content": list(parts)}


REASONING: Body = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "enc"}


def text_format(**changes: Any) -> Body:
    made = {"type": "json_schema", "name": "answer", "schema": CLOSED, "strict": True, **changes}
    return {"format": {name: value for name, value in made.items() if value is not ...}}


RESPONSES_REFUSED: dict[str, tuple[Body, str]] = {
    "no model": (responses(model=...), "model"),
    "no input": (responses(input=...), "Missing required parameter: 'input'"),
    "empty input": (responses(input=[]), "Missing required parameter: 'input'"),
    "unknown field": (responses(messages=[]), "Unknown parameter: 'messages'"),
    "unknown item": (responses({"type": "foo"}), "Invalid value: 'foo'"),
    "unknown role": (responses({"role": "tool", "content": "a"}), "Invalid value: 'tool'"),
    "unknown message field": (responses({**USER, "tool_calls": []}), "Unknown parameter"),
    "text part of Chat": (responses(message({"type": "text", "text": "a"})), "Invalid value: 'text'"),
    "input part from the assistant": (
        responses(USER, message({"type": "input_text", "text": "a"}, role="assistant")),
        "Invalid value: 'input_text'",
    ),
    "lone surrogate": (responses({"role": "user", "content": "\ud83d"}), "surrogate"),
    "unanswered call": (responses(USER, fc()), "No tool output found for function call a"),
    "answered before the call": (responses(USER, output(), fc()), "No tool call found"),
    "answered twice": (responses(USER, fc(), output(), output()), "Duplicate"),
    "answer to nothing": (responses(USER, output()), "No tool call found"),
    "call twice": (responses(USER, fc(), fc(), output()), "Duplicate"),
    "answer of another kind": (
        responses(USER, fc(), output(type="custom_tool_call_output")),
        "No tool call found",
    ),
    "call without call_id": (responses(USER, fc(None), output()), "call_id"),
    "call_id too long": (responses(USER, fc("a" * 65), output("a" * 65)), "maximum length 64"),
    "call id prefix": (responses(USER, fc(id="call_1"), output()), "begins with 'fc'"),
    "message id prefix": (
        responses(USER, {"role": "assistant", "content": "a", "id": "x"}),
        "begins with 'msg'",
    ),
    "call name": (responses(USER, fc(name="a.b"), output()), "does not match pattern"),
    "broken arguments": (responses(USER, fc(arguments="{"), output()), "JSON object"),
    "no output": (responses(USER, fc(), output(output=None)), "output"),
    "reasoning at the end": (responses(USER, REASONING), "without its required following item"),
    "reasoning before user": (responses(USER, REASONING, USER), "without its required following item"),
    "reasoning without summary": (
        responses(USER, {"type": "reasoning", "id": "rs_1"}, fc(), output()),
        "summary",
    ),
    "reasoning without id": (responses(USER, {"type": "reasoning", "summary": []}, fc(), output()), "id"),
    "tool of Chat": (responses(tools=[chat_tool()]), "Missing required parameter: 'tools[0].name'"),
    "tool twice": (responses(tools=[tool(), tool()]), "unique"),
    "unknown tool type": (responses(tools=[{"type": "bash"}]), "Supported values"),
    "strict tool is open": (responses(tools=[tool(strict=True)]), "additionalProperties"),
    "choice of missing tool": (
        responses(tools=[tool()], tool_choice={"type": "function", "name": "b"}),
        "not found",
    ),
    "choice of Chat": (
        responses(tools=[tool()], tool_choice={"type": "function", "function": {"name": "Read"}}),
        "Unknown parameter",
    ),
    "format name missing": (responses(text=text_format(name=...)), "name"),
    "format of Chat": (responses(text={"format": chat_schema(CLOSED)}), "Unknown parameter"),
    "open format": (responses(text=text_format(schema=OBJECT)), "additionalProperties"),
    "verbosity": (responses(text={"verbosity": "loud"}), "verbosity"),
    "store is text": (responses(store="no"), "store"),
    "instructions is a list": (responses(instructions=["a"]), "instructions"),
    "include": (responses(include=["everything"]), "everything"),
    "effort": (responses(reasoning={"effort": "huge"}), "huge"),
    "max_output_tokens": (responses(max_output_tokens=15), "max_output_tokens"),
    "two histories": (responses(previous_response_id="a", conversation="b"), "Mutually exclusive"),
    "picture of another type": (
        responses(message({"type": "input_image", "image_url": picture().replace("png", "gif")})),
        "appears to be",
    ),
    "picture of Chat": (
        responses(message({"type": "input_image", "image_url": {"url": picture()}})),
        "expected a string",
    ),
}

RESPONSES_ACCEPTED: dict[str, Body] = {
    "text": responses(input="hi", instructions="be brief", store=False),
    "parts": responses(
        message({"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": picture()}),
        message({"type": "output_text", "text": "b", "annotations": []}, role="assistant"),
        USER,
    ),
    "tool loop": responses(
        USER, REASONING, fc("a", id="fc_1"), fc("b"), output("b"), output("a"), USER, tools=[tool()]
    ),
    "output parts": responses(USER, fc(), output(output=[{"type": "input_text", "text": "a"}])),
    "other items": responses(USER, {"type": "web_search_call", "id": "ws_1", "status": "completed"}),
    "strict": responses(text=text_format(), tools=[tool(parameters=CLOSED, strict=True)]),
    "continued": responses(output(), previous_response_id="resp_1"),
    "options": responses(
        stream=True,
        reasoning={"effort": "high", "summary": "auto"},
        include=["reasoning.encrypted_content"],
        max_output_tokens=16,
        tools=[tool(), {"type": "web_search"}],
        tool_choice="required",
        parallel_tool_calls=False,
    ),
}


@pytest.mark.parametrize("name", CHAT_REFUSED)
def test_a_chat_body_that_breaks_a_rule_is_refused_for_that_rule(name: str) -> None:
    refused, expected = CHAT_REFUSED[name]
    assert expected in str(check_request("chat", refused))


@pytest.mark.parametrize("name", CHAT_ACCEPTED)
def test_a_chat_body_within_the_rules_is_accepted(name: str) -> None:
    assert check_request("chat", CHAT_ACCEPTED[name]) is None


@pytest.mark.parametrize("name", RESPONSES_REFUSED)
def test_a_responses_body_that_breaks_a_rule_is_refused_for_that_rule(name: str) -> None:
    refused, expected = RESPONSES_REFUSED[name]
    assert expected in str(check_request("responses", refused))


@pytest.mark.parametrize("name", RESPONSES_ACCEPTED)
def test_a_responses_body_within_the_rules_is_accepted(name: str) -> None:
    assert check_request("responses", RESPONSES_ACCEPTED[name]) is None


def test_reasoning_has_to_be_known_to_the_server_that_is_asked() -> None:
    loop = responses(USER, REASONING, fc(), output())
    assert check_request("responses", loop) is None
    assert "not found" in str(check_request("responses", loop, Issued()))
