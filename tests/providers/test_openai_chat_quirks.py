"""What compatible servers make of Chat Completions, and that each of it is understood."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from apikit import answers, shown, talk, thought

from agentframework.errors import OverloadedError, ProviderError, StreamInterruptedError
from agentframework.messages import AssistantMessage, ThinkingPart, user_text
from agentframework.providers.api_client import ReplyDecoder
from agentframework.providers.failures import Source
from agentframework.providers.openai_chat import encode_request
from agentframework.providers.openai_chat_events import ChatReply
from agentframework.providers.protocol import ModelReply, ModelRequest, ToolCallChunk
from agentframework.testing.strict_server import call, cut, raw_sse, stall, text

SOURCE = Source("h", "http://h", "m", "KEY")


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def piece(arguments: Any = None, name: str | None = None, **fields: Any) -> dict[str, Any]:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**fields, "function": function}


def fold(*events: dict[str, Any], finish: str | None = "stop", taken: Sequence[str] = ()) -> AssistantMessage:
    """The reply of a stream of these events, each with CRLF line ends and a comment before it."""
    decoder = ReplyDecoder(ChatReply(SOURCE, 100, lambda: set(taken)), SOURCE)
    for event in [*events, *([delta(finish)] if finish else [])]:
        decoder.feed(b": ping\r\n\r\ndata: " + json.dumps(event).encode() + b"\r\n\r\n")
    return decoder.message()


def calls_of(*events: dict[str, Any], **options: Any) -> list[tuple[str, Any]]:
    return [(made.name, made.arguments) for made in fold(*events, **options).tool_calls]


READ = [("Read", {"p": 1})]
TWO = [("Read", {"p": 1}), ("Read", {"p": 2})]
FIRST, SECOND = '{"p": 1}', '{"p": 2}'

ONE_CALL = {
    "an index but no id": [piece("", "Read", index=0), piece('{"p":', index=0), piece(" 1}", index=0)],
    "an id in the first piece and no index": [piece("", "Read", id="c"), piece('{"p":'), piece(" 1}")],
    "an id in each piece and no index": [piece('{"p":', "Read", id="c"), piece(" 1}", id="c")],
    "a whole call and no index": [piece(FIRST, "Read", id="c")],
    "arguments as an object": [piece({"p": 1}, "Read", index=0, id="c")],
    "nulls in later pieces": [
        piece("", "Read", index=0, id="c", type="function"),
        {"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": FIRST}},
    ],
    "empty strings in later pieces": [
        piece("", "Read", index=0, id="c"),
        {"index": 0, "id": "", "function": {"name": "", "arguments": FIRST}},
    ],
    "the name in each piece": [
        piece("", "Read", index=0, id="c"),
        piece('{"p":', "Read", index=0, id="c"),
        piece(" 1}", "Read", index=0, id="c"),
        piece("", "Read", index=0, id="c"),
    ],
    "the id after the name": [piece("", "Read", index=0), piece(FIRST, index=0, id="c")],
    "the name after the id": [{"index": 0, "id": "c"}, piece(FIRST, "Read", index=0)],
    "an id that is a number": [piece(FIRST, "Read", index=0, id=7)],
    "no function in a piece": [piece(FIRST, "Read", index=0, id="c"), {"index": 0, "function": None}],
}
TWO_CALLS = {
    "their own indexes": [
        piece(FIRST, "Read", index=0, id="a"),
        piece(SECOND, "Read", index=1, id="b"),
    ],
    "pieces that alternate": [
        piece("", "Read", index=0, id="a"),
        piece("", "Read", index=1, id="b"),
        piece('{"p":', index=0),
        piece('{"p":', index=1),
        piece(" 1}", index=0),
        piece(" 2}", index=1),
    ],
    "one index and two ids": [
        piece(FIRST, "Read", index=0, id="a"),
        piece("", "Read", index=0, id="b"),
        piece(SECOND, index=0),
    ],
    "one index and no ids": [piece(FIRST, "Read", index=0), piece(SECOND, "Read", index=0)],
    "no index and two ids": [piece(FIRST, "Read", id="a"), piece(SECOND, "Read", id="b")],
    "no index and no ids": [piece(FIRST, "Read"), piece(SECOND, "Read")],
    "one id and two indexes": [piece(FIRST, "Read", index=0, id="a"), piece(SECOND, "Read", index=1, id="a")],
    "one id and no index": [piece(FIRST, "Read", id="a"), piece(SECOND, "Read", id="a")],
    "gaps between the indexes": [piece(FIRST, "Read", index=3), piece(SECOND, "Read", index=9)],
}


@pytest.mark.parametrize("pieces", ONE_CALL.values(), ids=ONE_CALL.keys())
@pytest.mark.parametrize("finish", ["tool_calls", "stop"])
def test_one_call_with(pieces: list[dict[str, Any]], finish: str) -> None:
    reply = fold(*(delta(tool_calls=[each]) for each in pieces), finish=finish)
    assert [(made.name, made.arguments) for made in reply.tool_calls] == READ
    assert reply.stop_reason == "tool_use"
    assert reply.tool_calls[0].id


@pytest.mark.parametrize("pieces", TWO_CALLS.values(), ids=TWO_CALLS.keys())
def test_two_calls_with(pieces: list[dict[str, Any]]) -> None:
    one_by_one = fold(*(delta(tool_calls=[each]) for each in pieces))
    at_once = fold(delta(tool_calls=pieces))
    for reply in (one_by_one, at_once):
        assert [(made.name, made.arguments) for made in reply.tool_calls] == TWO
        assert len({made.id for made in reply.tool_calls}) == 2


def test_calls_to_different_tools_under_one_index_are_two_even_without_arguments() -> None:
    pieces = [piece("", "A", index=0), piece("", "B", index=0)]
    assert calls_of(*(delta(tool_calls=[each]) for each in pieces)) == [("A", {}), ("B", {})]


def test_an_id_of_an_earlier_turn_is_made_new() -> None:
    reply = fold(delta(tool_calls=[piece(FIRST, "Read", index=0, id="call_0")]), taken=["call_0"])
    assert reply.tool_calls[0].id == "call_0_2"


def test_pieces_are_shown_under_the_id_that_the_call_gets() -> None:
    fold_ = ChatReply(SOURCE, 100, set)
    chunks = [*fold_.feed(delta(tool_calls=[piece("", "Read", index=0)]))]
    chunks += fold_.feed(delta(tool_calls=[piece(FIRST, index=0, id="late")]))
    fold_.feed(delta("stop"))
    made = fold_.message().tool_calls[0]
    assert {chunk.tool_use_id for chunk in chunks if isinstance(chunk, ToolCallChunk)} == {made.id}


def test_nulls_and_missing_fields_mean_nothing() -> None:
    reply = fold(
        delta(role="assistant", content=None, tool_calls=None, refusal=None),
        {"choices": []},
        {"choices": None},
        {"object": "chat.completion.chunk"},
        {"choices": [{"index": 0, "delta": None, "finish_reason": None}]},
        {"choices": [{"index": 0, "finish_reason": ""}]},
        delta(content="te"),
        delta(content="xt", role="assistant"),
        delta(content=""),
        {"usage": {"prompt_tokens": 3, "completion_tokens": 2, "prompt_tokens_details": None}},
        {"choices": [], "usage": None},
    )
    assert reply.text == "text"
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.estimated) == (3, 2, False)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
async def test_reasoning_goes_back_with_tool_calls_under_its_own_name(name: str) -> None:
    async with talk("chat") as it:
        it.server.issued.reasoning_texts.add("hm so")
        it.server.reply(
            raw_sse([delta(**{name: "hm "}), delta(**{name: "so"})]), call("Read", {"path": "a"}), text("x")
        )
        chunks = await it.chunks("look")
        reply = chunks[-1]
        assert isinstance(reply, ModelReply)
        assert thought(chunks) == "hm so"
        assert reply.message.content[0] == ThinkingPart("hm so", data={"field": name})
        if name == "reasoning_content":  # the strict server plays one of the two dialects
            it.server.reply(text("ok"))
            await it.ask([user_text("look"), reply.message, answers(reply.message, "x")])
            assert it.server.requests[1].body["messages"][1]["reasoning_content"] == "hm so"
    assert it.server.rejections == []


def test_reasoning_details_are_put_together_and_go_back_whole() -> None:
    def item(kind: str, index: int, **fields: object) -> dict[str, Any]:
        return {"type": kind, "index": index, "format": "anthropic-claude-v1", **fields}

    reply = fold(
        delta(reasoning="hm ", reasoning_details=[item("reasoning.text", 0, text="hm ", signature=None)]),
        delta(reasoning="so", reasoning_details=[item("reasoning.text", 0, text="so")]),
        delta(reasoning_details=[item("reasoning.text", 0, signature="sig")]),
        delta(reasoning_details=[item("reasoning.encrypted", 1, data="xyz", id="r1"), "noise"]),
        delta(tool_calls=[piece(FIRST, "Read", index=0, id="a")]),
    )
    history = [user_text("q"), reply, answers(reply, "x")]
    body = json.loads(encode_request(ModelRequest(reply.model, history), official=False))
    assert body["messages"][1]["reasoning"] == "hm so"
    assert body["messages"][1]["reasoning_details"] == [
        item("reasoning.text", 0, text="hm so", signature="sig"),
        item("reasoning.encrypted", 1, data="xyz", id="r1"),
    ]
    other = json.loads(encode_request(ModelRequest("another", history), official=False))
    assert "reasoning_details" not in other["messages"][1]


def test_extra_content_of_a_reply_goes_back() -> None:
    signature = {"google": {"thought_signature": "abc"}}
    reply = fold(delta(content="Hello"), delta(extra_content=signature))
    assert reply.text == "Hello"
    body = json.loads(encode_request(ModelRequest("m", [user_text("q"), reply, user_text("r")]), official=False))
    assert body["messages"][1] == {"role": "assistant", "content": "Hello", "extra_content": signature}


def test_reasoning_under_both_names_is_taken_once() -> None:
    reply = fold(delta(reasoning="hm", reasoning_content="hm"), delta(content="x"))
    assert reply.thinking == "hm"


async def test_reasoning_without_tool_calls_stays_here() -> None:
    async with talk("chat") as it:
        it.server.reply(raw_sse([delta(reasoning_content="hm")]), text("x"))
        it.server.reply(text("ok"))
        reply = await it.ask("hi")
        await it.ask([user_text("hi"), reply, user_text("and?")])
    assert b"reasoning" not in it.server.requests[1].raw


def test_fields_beside_a_call_are_kept() -> None:
    signature = {"google": {"thought_signature": "abc"}}
    made = fold(delta(tool_calls=[piece(FIRST, "Read", index=0, id="a", extra_content=signature)])).tool_calls[0]
    assert made.extra == {"extra_content": signature}


def test_content_as_a_list_of_parts_and_a_refusal_are_text() -> None:
    assert fold(delta(content=[{"type": "text", "text": "a"}, {"type": "image"}])).text == "a"
    refused = fold(delta(refusal="No"), delta(refusal=" way"))
    assert (refused.text, refused.stop_reason) == ("No way", "refusal")


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"error": {"message": "it broke", "code": 502}}, OverloadedError),
        ({"error": "it broke"}, OverloadedError),
        ({**delta("error"), "error": {"message": "it broke", "code": 503}}, OverloadedError),
        (delta("error"), ProviderError),
    ],
)
def test_errors_inside_the_stream(event: dict[str, Any], kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        fold(delta(content="a"), event, finish=None)


async def test_the_final_marker_may_be_missing_but_not_the_finish_reason() -> None:
    async with talk("chat") as it:
        for ending in ([], [cut()], [raw_sse([b"data: [DONE]"])]):
            it.server.reply(raw_sse([delta(content="te"), delta("stop", content="xt")]), *ending)
            assert (await it.ask("hi")).text == "text"
        it.server.reply(raw_sse([delta(content="text"), b"data: [DONE]\n\n"]))
        with pytest.raises(StreamInterruptedError):
            await it.ask("hi")


async def test_a_reply_is_complete_when_the_server_says_so_even_if_it_stays_connected() -> None:
    async with talk("chat", idle_timeout_s=0.2) as it:
        for end in (delta("stop"), b"data: [DONE]\n\n"):
            it.server.reply(raw_sse([delta(content="te"), delta("stop", content="xt"), end]), stall())
            chunks = await it.chunks("hi")
            assert shown(chunks) == "text"
            assert isinstance(chunks[-1], ModelReply)


async def test_a_character_cut_in_two_reads_is_whole() -> None:
    event = b"data: " + json.dumps(delta(content="🙂é"), ensure_ascii=False).encode() + b"\r\n\r\n"
    half = event.index("🙂".encode()) + 2
    async with talk("chat") as it:
        it.server.reply(raw_sse([event[:half], event[half:], delta("stop")]))
        assert (await it.ask("hi")).text == "🙂é"
