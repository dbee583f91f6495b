"""Properties of the strict server's rules and renderings, without HTTP."""

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentframework.testing.strict_server import Issued, Reply, call, check_request, redacted_thinking, text, thinking
from agentframework.testing.strict_server.anthropic_wire import AnthropicWire
from agentframework.testing.strict_server.chat_wire import ChatWire
from agentframework.testing.strict_server.responses_wire import ResponsesWire
from agentframework.testing.strict_server.wire import Exchange, Wire

USER = {"role": "user", "content": "hi"}
SCHEMA = {"type": "object", "properties": {"path": {"type": "array", "items": {"type": "string"}}}}
MARK = {"type": "ephemeral"}

RICH: dict[str, dict[str, Any]] = {
    "anthropic": {
        "model": "m",
        "max_tokens": 2000,
        "system": [{"type": "text", "text": "a", "cache_control": MARK}],
        "tools": [{"name": "Read", "description": "d", "input_schema": SCHEMA}],
        "tool_choice": {"type": "auto"},
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        "output_config": {"format": {"type": "json_schema", "schema": {"type": "object"}}},
        "messages": [
            USER,
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "t", "signature": "s"},
                    {"type": "tool_use", "id": "a", "name": "Read", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "content": [
                            {"type": "text", "text": "x", "cache_control": MARK},
                            {"type": "image", "source": {"type": "base64", "media_type": "a", "data": "b"}},
                        ],
                    }
                ],
            },
        ],
    },
    "chat": {
        "model": "m",
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [{"type": "function", "function": {"name": "Read", "parameters": SCHEMA}}],
        "tool_choice": {"type": "function", "function": {"name": "Read"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
        "messages": [
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://a"}}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "R", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "x"}]},
        ],
    },
    "responses": {
        "model": "m",
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}},
        "tools": [{"type": "function", "name": "Read", "parameters": SCHEMA}],
        "tool_choice": {"type": "function", "name": "Read"},
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a"}]},
            {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "t"}]},
            {"type": "function_call", "call_id": "a", "name": "Read", "arguments": "{}", "id": "fc_1"},
            {"type": "function_call_output", "call_id": "a", "output": "x"},
        ],
    },
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield from places(member, (*path, name))


@pytest.mark.parametrize("api", RICH)
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_body_makes_a_rule_fail(api: Any, data: st.DataObject) -> None:
    body = copy.deepcopy(RICH[api])
    for _ in range(data.draw(st.integers(1, 2))):
        *parents, last = data.draw(st.sampled_from(list(places(body))))
        holder: Any = body
        for name in parents:
            holder = holder[name]
        if data.draw(st.booleans()):
            holder[last] = data.draw(json_values)
        else:
            del holder[last]
    for issued in (None, Issued()):
        assert isinstance(check_request(api, body, issued), str | None)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
visible = words.map(lambda value: value.strip() + "x")
parts = st.lists(
    st.one_of(
        st.builds(text, visible, chunks=st.integers(1, 4)),
        st.builds(thinking, words, chunks=st.integers(1, 4)),
        st.builds(redacted_thinking),
        st.builds(call, st.just("Read"), st.dictionaries(words, words, max_size=2), split=st.integers(0, 3)),
    ),
    min_size=1,
    max_size=6,
)


def render(wire_class: type[Wire], script: list[Any], body: dict[str, Any], issued: Issued) -> tuple[Any, Any]:
    """The decoded events of a stream, and the whole answer of the same exchange."""
    wire = wire_class(Exchange(body, 100, "k", Reply(tuple(script)), issued))
    raw = [*wire.start(), *(event for part in script for event in wire.part(part)), *wire.finish()]
    events = [
        json.loads(line[6:])
        for event in raw
        for line in event.decode().split("\n")
        if line.startswith("data: ") and line != "data: [DONE]"
    ]
    return events, wire.whole()


def order(script: list[Any], *, thinking_first: bool) -> list[Any]:
    """Scripts as models write them: thinking before the calls, and something after it."""
    ranks = {"Thinking": 0, "Text": 1, "Call": 2}
    made = sorted(script, key=lambda part: ranks[type(part).__name__]) if thinking_first else list(script)
    return [*made, call("Read", {})] if all(ranks[type(part).__name__] == 0 for part in made) else made


@given(script=parts)
@settings(max_examples=60, deadline=None)
def test_anthropic_events_add_up_to_the_whole_and_may_be_sent_back(script: list[Any]) -> None:
    issued = Issued()
    body = {"model": "m", "max_tokens": 4096, "thinking": {"type": "adaptive"}, "messages": [USER]}
    events, whole = render(AnthropicWire, order(script, thinking_first=True), body, issued)
    blocks: list[dict[str, Any]] = []
    pieces: dict[int, str] = {}
    for event in events:
        if event["type"] == "content_block_start":
            assert event["index"] == len(blocks)
            blocks.append(event["content_block"])
        elif event["type"] == "content_block_delta":
            delta, block = event["delta"], blocks[event["index"]]
            if delta["type"] == "input_json_delta":
                pieces[event["index"]] = pieces.get(event["index"], "") + delta["partial_json"]
            else:
                name = delta["type"].removesuffix("_delta")
                block[name] += delta[name]
        elif event["type"] == "content_block_stop" and event["index"] in pieces:
            blocks[event["index"]]["input"] = json.loads(pieces[event["index"]])
    assert blocks == whole["content"]
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "content": ""}
        for block in blocks
        if block["type"] == "tool_use"
    ]
    answer = {"role": "user", "content": [*results, {"type": "text", "text": "go on"}]}
    following = {**body, "messages": [USER, {"role": "assistant", "content": blocks}, answer]}
    assert check_request("anthropic", following, issued) is None
    if results:
        following["messages"] = [USER, {"role": "assistant", "content": blocks}]
        assert check_request("anthropic", following, issued) is not None


@given(script=parts)
@settings(max_examples=60, deadline=None)
def test_chat_chunks_add_up_to_the_whole_and_may_be_sent_back(script: list[Any]) -> None:
    issued = Issued()
    body = {"model": "m", "messages": [USER]}
    chunks, whole = render(ChatWire, script, body, issued)
    content, thoughts, calls = "", "", dict[int, str]()
    for chunk in chunks:
        delta = chunk["choices"][0]["delta"]
        content += delta.get("content") or ""
        thoughts += delta.get("reasoning_content", "")
        for made in delta.get("tool_calls", ()):
            calls[made["index"]] = calls.get(made["index"], "") + made["function"]["arguments"]
    turn = whole["choices"][0]["message"]
    assert (turn["content"] or "") == content
    assert turn.get("reasoning_content", "") == thoughts
    assert [made["function"]["arguments"] for made in turn.get("tool_calls", ())] == list(calls.values())
    if turn["content"] is None and not calls:
        return
    sent = {name: value for name, value in turn.items() if name != "refusal"}
    results = [{"role": "tool", "tool_call_id": made["id"], "content": ""} for made in turn.get("tool_calls", ())]
    assert check_request("chat", {**body, "messages": [USER, sent, *results, USER]}, issued) is None
    if results:
        assert check_request("chat", {**body, "messages": [USER, sent, USER]}, issued) is not None


@given(script=parts, store=st.booleans())
@settings(max_examples=60, deadline=None)
def test_responses_items_add_up_to_the_whole_and_may_be_sent_back(script: list[Any], store: bool) -> None:
    issued = Issued()
    body: dict[str, Any] = {"model": "m", "input": [USER], "store": store}
    ordered = order(script, thinking_first=True)
    events, whole = render(ResponsesWire, ordered, body, issued)
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == whole["output"] == events[-1]["response"]["output"]
    for number, item in enumerate(done):
        streamed = "".join(
            event["delta"]
            for event in events
            if event.get("output_index") == number and event["type"].endswith(".delta")
        )
        if item["type"] == "message":
            assert streamed == item["content"][0]["text"]
        elif item["type"] == "reasoning":
            assert streamed == "".join(part["text"] for part in item["summary"])
        else:
            assert streamed in ("", item["arguments"])
    outputs = [
        {"type": "function_call_output", "call_id": item["call_id"], "output": ""}
        for item in done
        if item["type"] == "function_call"
    ]
    assert check_request("responses", {**body, "input": [USER, *done, *outputs, USER]}, issued) is None
    if outputs:
        assert check_request("responses", {**body, "input": [USER, *done, USER]}, issued) is not None
