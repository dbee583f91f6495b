"""What is particular to Anthropic's API and to servers that imitate it."""

from typing import Any

import pytest
from apikit import READ, answers, talk

from agentframework.errors import OverloadedError, StreamInterruptedError
from agentframework.messages import (
    AssistantMessage,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolMessage,
    user_text,
)
from agentframework.providers.anthropic_events import AnthropicReply
from agentframework.providers.failures import Source
from agentframework.providers.protocol import Chunk
from agentframework.testing.strict_server import call, raw_sse, redacted_thinking, text, thinking

SOURCE = Source("h", "http://h", "m", "KEY")


def start(block: dict[str, Any], **at: Any) -> dict[str, Any]:
    return {"type": "content_block_start", **at, "content_block": block}


def delta(kind: str, value: Any, name: str | None = None, **at: Any) -> dict[str, Any]:
    name = name or kind.removesuffix("_delta")
    return {"type": "content_block_delta", **at, "delta": {"type": kind, name: value}}


def stop(**at: Any) -> dict[str, Any]:
    return {"type": "content_block_stop", **at}


def end(reason: str = "end_turn") -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 3}},
        {"type": "message_stop"},
    ]


def fold(*events: dict[str, Any]) -> tuple[AssistantMessage, list[Chunk]]:
    reply = AnthropicReply(SOURCE, 100, set)
    chunks = [chunk for event in events for chunk in reply.feed(event)]
    return reply.message(), chunks


def test_blocks_without_an_index_belong_to_the_one_that_is_open() -> None:
    reply, _ = fold(
        start({"type": "text", "text": ""}),
        delta("text_delta", "a"),
        stop(),
        start({"type": "tool_use", "id": "t1", "name": "Read", "input": {}}),
        delta("input_json_delta", '{"path":', "partial_json"),
        delta("input_json_delta", ' "a"}', "partial_json"),
        stop(),
        *end("tool_use"),
    )
    assert reply.text == "a"
    assert reply.tool_calls[0].arguments == {"path": "a"}


def test_several_text_blocks_stay_apart() -> None:
    reply, _ = fold(
        start({"type": "text", "text": "a"}, index=0),
        start({"type": "text", "text": ""}, index=1),
        delta("text_delta", "b", index=1),
        *end(),
    )
    assert reply.content == (TextPart("a"), TextPart("b"))


async def test_blocks_that_nobody_knows_go_back_as_they_came() -> None:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [{"type": "x", "url": "u"}]}
    events = [
        start(use, index=0),
        delta("input_json_delta", '{"query": "q"}', "partial_json", index=0),
        stop(index=0),
        start(found, index=1),
        stop(index=1),
    ]
    async with talk("anthropic") as it:
        it.server.reply(raw_sse(events), call("Read", {"path": "a"}, index=2))
        it.server.reply(text("ok"))
        reply = await it.ask("search")
        await it.ask([user_text("search"), reply, answers(reply, "x")])
    assert reply.content[:2] == (OpaquePart({**use, "input": {"query": "q"}}), OpaquePart(found))
    assert it.server.requests[1].body["messages"][1]["content"][:2] == [{**use, "input": {"query": "q"}}, found]
    assert it.server.rejections == []


async def test_citations_stay_with_their_text() -> None:
    one = {"type": "web_search_result_location", "url": "u", "title": "t", "encrypted_index": "e", "cited_text": "c"}
    events = [
        start({"type": "text", "text": "", "citations": []}, index=0),
        delta("text_delta", "It rains.", index=0),
        delta("citations_delta", one, "citation", index=0),
        stop(index=0),
        start({"type": "text", "text": " Take a coat."}, index=1),
        stop(index=1),
        *end(),
    ]
    async with talk("anthropic") as it:
        it.server.reply(raw_sse(events))
        it.server.reply(text("ok"))
        reply = await it.ask("weather?")
        await it.ask([user_text("weather?"), reply, user_text("thanks")])
    assert reply.text == "It rains. Take a coat."
    assert it.server.requests[1].body["messages"][1]["content"] == [
        {"type": "text", "text": "It rains.", "citations": [one]},
        {"type": "text", "text": " Take a coat."},
    ]
    assert it.server.rejections == []


async def test_fields_that_nobody_knows_on_a_call_go_back() -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": "Read", "input": {}, "caller": {"type": "direct"}}
    async with talk("anthropic") as it:
        it.server.reply(raw_sse([start(block, index=0), stop(index=0)]), text("x"))
        it.server.reply(text("ok"))
        reply = await it.ask("look")
        await it.ask([user_text("look"), reply, answers(reply, "x")])
    assert reply.tool_calls[0].extra == {"caller": {"type": "direct"}}
    assert it.server.requests[1].body["messages"][1]["content"][0] == block


async def test_thinking_goes_back_in_its_order_and_byte_for_byte() -> None:
    async with talk("anthropic") as it:
        it.server.reply(
            thinking("first \n", chunks=2, signature="sig/1+="),
            redacted_thinking("opaque=="),
            thinking("", signature="sig2"),
            call("Read", {"path": "a"}),
        )
        it.server.reply(text("ok"))
        reply = await it.ask("look", effort="high", model="claude-opus-5-5")
        history = [user_text("look"), reply, answers(reply, "x")]
        await it.ask(history, effort="high", model="claude-opus-5-5")
    assert [part for part in reply.content if isinstance(part, ThinkingPart)] == [
        ThinkingPart("first \n", "sig/1+="),
        ThinkingPart("", data={"type": "redacted_thinking", "data": "opaque=="}),
        ThinkingPart("", "sig2"),
    ]
    assert it.server.rejections == []
    assert it.server.requests[1].body["messages"][1]["content"][:3] == [
        {"type": "thinking", "thinking": "first \n", "signature": "sig/1+="},
        {"type": "redacted_thinking", "data": "opaque=="},
        {"type": "thinking", "thinking": "", "signature": "sig2"},
    ]


async def test_thinking_that_was_never_signed_is_not_sent() -> None:
    partial = AssistantMessage(
        (ThinkingPart("half a tho"), TextPart("So")), "model-a", "anthropic", state="interrupted"
    )
    only_thought = AssistantMessage((ThinkingPart("half", "sig"),), "model-a", "anthropic")
    async with talk("anthropic") as it:
        it.server.reply(text("ok"))
        await it.ask([user_text("hi"), partial, user_text("go on"), only_thought, user_text("go on")])
    assert it.server.rejections == []
    messages = it.server.requests[0].body["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user", "user"]
    assert messages[1]["content"] == [{"type": "text", "text": "So"}]


async def test_a_history_that_begins_in_the_middle_gets_a_user_message_in_front() -> None:
    async with talk("anthropic") as it:
        it.server.reply(text("ok"))
        reply = AssistantMessage((TextPart("… and so on."),))
        await it.ask([ToolMessage(()), AssistantMessage(()), reply, user_text("go on")])
    assert it.server.rejections == []
    assert it.server.requests[0].body["messages"][0]["role"] == "user"


def test_a_reply_that_filled_the_window_stopped_at_the_output_limit() -> None:
    reply, _ = fold(start({"type": "text", "text": "a"}, index=0), *end("model_context_window_exceeded"))
    assert reply.stop_reason == "max_tokens"
    assert fold(*end("pause_turn"))[0].stop_reason == "pause_turn"


def test_later_counts_win_and_nulls_mean_no_news() -> None:
    reply, _ = fold(
        {"type": "message_start", "message": {"usage": {"input_tokens": 5, "output_tokens": 1}}},
        {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 9, "input_tokens": None}},
        *end(),
    )
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (5, 3)


def test_events_deltas_and_fields_of_the_future_change_nothing() -> None:
    reply, chunks = fold(
        {"type": "ping"},
        {"type": "from_the_future", "index": 0},
        start({"type": "text", "text": "", "citations": None}, index=0),
        delta("citations_delta", {"url": "u"}, index=0),
        delta("text_delta", "a", index=0),
        delta("unheard_of_delta", "b", index=0),
        delta("text_delta", "stray", index=7),
        *end(),
    )
    assert reply.content == (TextPart("a"), TextPart("stray"))
    assert len(chunks) == 2


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        {"error": {"type": "api_error", "message": "it broke"}},
        {"type": "error"},
    ],
)
def test_an_error_event_ends_the_reply(event: dict[str, Any]) -> None:
    with pytest.raises(OverloadedError):
        fold(start({"type": "text", "text": "a"}, index=0), event, *end())


def test_a_stop_reason_alone_is_no_end() -> None:
    with pytest.raises(StreamInterruptedError):
        fold(start({"type": "text", "text": "a"}, index=0), end()[0])


async def test_the_cache_mark_is_one_for_the_whole_request() -> None:
    async with talk("anthropic") as it:
        it.server.reply(text("ok"))
        await it.ask("hi", system="Be brief.", tools=(READ,))
    request = it.server.requests[0]
    assert request.raw.count(b"cache_control") == 1
    assert request.body["cache_control"] == {"type": "ephemeral"}
