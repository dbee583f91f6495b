"""The vocabulary of scripted replies, rendered by each wire."""

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.testing.strict_server import (
    Issued,
    Reply,
    StrictModelServer,
    call,
    error,
    raw_sse,
    reply,
    text,
    thinking,
    usage,
)
from agentframework.testing.strict_server.anthropic_wire import AnthropicWire
from agentframework.testing.strict_server.chat_wire import ChatWire
from agentframework.testing.strict_server.responses_wire import ResponsesWire
from agentframework.testing.strict_server.wire import Exchange

WIRES: dict[str, Any] = {"anthropic": AnthropicWire, "chat": ChatWire, "responses": ResponsesWire}


def whole(api: str, answer: Reply, body: dict[str, Any] | None = None) -> dict[str, Any]:
    wire = WIRES[api](Exchange({"model": "m", **(body or {})}, 400, "k", answer, Issued()))
    for part in answer.parts:
        list(wire.part(part))
    return wire.whole()


def stopped(api: str, answer: dict[str, Any]) -> Any:
    if api == "anthropic":
        return answer["stop_reason"]
    return answer["choices"][0]["finish_reason"] if api == "chat" else answer["status"]


@given(st.text(), st.integers(1, 9))
def test_chunks_add_up_and_are_never_empty(value: str, chunks: int) -> None:
    pieces = text(value, chunks=chunks).pieces
    assert "".join(pieces) == value
    assert all(pieces)
    assert len(pieces) == min(chunks, len(value))


def test_exact_chunks_have_to_be_the_text() -> None:
    assert thinking("abc", chunks=["a", "", "bc"]).pieces == ("a", "", "bc")
    with pytest.raises(ValueError, match="add up"):
        text("abc", chunks=["a", "b"])
    with pytest.raises(ValueError, match="at least 1"):
        text("abc", chunks=0)


@pytest.mark.parametrize(
    ("reason", "anthropic", "chat", "responses"),
    [
        (None, "end_turn", "stop", "completed"),
        ("stop", "end_turn", "stop", "completed"),
        ("length", "max_tokens", "length", "incomplete"),
        ("content_filter", "refusal", "content_filter", "incomplete"),
        ("tool_calls", "tool_use", "tool_calls", "completed"),
        ("pause_turn", "pause_turn", "pause_turn", "completed"),
        ("failed", "failed", "stop", "failed"),
    ],
)
def test_a_finish_reason_is_translated_to_each_api(
    reason: str | None, anthropic: str, chat: str, responses: str
) -> None:
    answer = reply(text("a"), finish_reason=reason)
    expected = {"anthropic": anthropic, "chat": chat, "responses": responses}
    assert {api: stopped(api, whole(api, answer)) for api in WIRES} == expected


def test_a_call_makes_the_reason_a_call() -> None:
    answer = reply(text("a"), call("Read", {}))
    assert stopped("anthropic", whole("anthropic", answer)) == "tool_use"
    assert stopped("chat", whole("chat", answer)) == "tool_calls"


def test_usage_follows_the_convention_of_each_api() -> None:
    answer = reply(text("a"), usage=usage(10, 7, cache_read=100, cache_write=20, reasoning=3))
    anthropic = whole("anthropic", answer)["usage"]
    assert (anthropic["input_tokens"], anthropic["cache_read_input_tokens"]) == (10, 100)
    assert whole("chat", answer)["usage"]["prompt_tokens"] == 130
    assert whole("responses", answer)["usage"]["input_tokens"] == 130


@pytest.mark.parametrize("api", WIRES)
def test_a_usage_mapping_goes_out_as_it_is(api: str) -> None:
    assert whole(api, reply(text("a"), usage={"odd": 1}))["usage"] == {"odd": 1}


@pytest.mark.parametrize("api", WIRES)
def test_usage_is_estimated_from_the_bytes_when_not_scripted(api: str) -> None:
    counted = whole(api, reply(text("x" * 40)))["usage"]
    assert 100 in counted.values()
    assert 10 in counted.values()


def test_an_empty_usage_mapping_sends_none() -> None:
    assert "usage" not in whole("chat", reply(text("a"), usage={}))


def test_empty_text_is_a_block_without_words() -> None:
    assert whole("anthropic", reply(text("")))["content"] == [{"type": "text", "text": ""}]
    assert whole("chat", reply(text("")))["choices"][0]["message"]["content"] == ""


def test_a_call_without_an_id_has_none_anywhere() -> None:
    answer = reply(call("Read", {}, id=None))
    assert "id" not in whole("anthropic", answer)["content"][0]
    assert "id" not in whole("chat", answer)["choices"][0]["message"]["tool_calls"][0]
    assert "call_id" not in whole("responses", answer)["output"][0]


def test_an_error_cannot_follow_content() -> None:
    with pytest.raises(ValueError, match="whole request"):
        reply(raw_sse(), error(500))


async def test_a_gap_paces_the_deltas() -> None:
    async with StrictModelServer() as server:
        server.reply(text("abcd", chunks=4, gap=0.01))
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
        body = json.dumps({"model": "m", "stream": True, "messages": [{"role": "user", "content": "a"}]})
        head = f"POST /v1/chat/completions HTTP/1.1\r\nauthorization: Bearer x\r\ncontent-length: {len(body)}"
        began = asyncio.get_running_loop().time()
        writer.write(f"{head}\r\n\r\n{body}".encode())
        await asyncio.wait_for(reader.readuntil(b"[DONE]"), 10)
        assert asyncio.get_running_loop().time() - began >= 0.035
        writer.close()
        await writer.wait_closed()
