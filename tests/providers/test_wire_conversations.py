"""One table of conversations over all three APIs, against a server that refuses what the real ones refuse."""

import asyncio
import json
from typing import Any

import pytest
from apikit import APIS, ORIGINS, PIXEL, READ, answers, shown, talk, thought

from agentframework.messages import (
    AssistantMessage,
    DocumentPart,
    ImagePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    ToolSpec,
    UserMessage,
    user_text,
)
from agentframework.providers.protocol import ModelReply, RawChunk, TextChunk, ToolCallChunk
from agentframework.testing.strict_server import call, redacted_thinking, text, thinking, usage

pytestmark = pytest.mark.parametrize("api", APIS)


def _strings(value: Any) -> list[str]:
    """Every string inside a JSON value."""
    if isinstance(value, str):
        return [value]
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [found for member in members for found in _strings(member)]


async def test_text_arrives_piece_by_piece_and_whole_at_the_end(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(text("Hello, world", chunks=4))
        chunks = await it.chunks("hi")
    assert [type(chunk) for chunk in chunks] == [TextChunk] * 4 + [ModelReply]
    reply = chunks[-1]
    assert isinstance(reply, ModelReply)
    assert reply.message.content == (TextPart("Hello, world"),)
    assert (reply.message.origin, reply.message.model) == (ORIGINS[api], "model-a")
    assert reply.message.stop_reason == "end_turn"
    assert it.provider.name == ORIGINS[api]


async def test_usage_counts_cached_tokens_as_input(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(text("x"), usage=usage(10, 7, cache_read=30, reasoning=2))
        reply = await it.ask("hi")
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (40, 7)
    assert (reply.usage.cache_read_tokens, reply.usage.reasoning_tokens) == (30, 2)
    assert reply.usage.estimated is False


async def test_usage_is_estimated_where_the_server_sends_none(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(text("four words of text"), usage={})
        reply = await it.ask("hi")
    assert reply.usage is not None
    assert reply.usage.estimated
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0


async def test_a_tool_round_trip_is_accepted(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(text("Let me look."), call("Read", {"path": "a.txt"}, split=3))
        it.server.reply(text("Found it."))
        history = [user_text("look")]
        chunks = await it.chunks(history, system="Be brief.")
        reply = chunks[-1]
        assert isinstance(reply, ModelReply)
        history += [reply.message, answers(reply.message, "contents")]
        last = await it.ask(history, system="Be brief.")
    made = reply.message.tool_calls[0]
    pieces = [chunk for chunk in chunks if isinstance(chunk, ToolCallChunk)]
    assert "".join(piece.partial_json for piece in pieces) == made.arguments_json
    assert {(piece.tool_use_id, piece.name) for piece in pieces} == {(made.id, "Read")}
    assert (made.arguments, made.problem) == ({"path": "a.txt"}, None)
    assert reply.message.stop_reason == "tool_use"
    assert last.text == "Found it."
    assert it.server.rejections == []


async def test_parallel_calls_keep_their_order_and_their_arguments(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(*(call("Read", {"path": f"{n}.txt"}, split=2) for n in range(4)))
        it.server.reply(text("ok"))
        reply = await it.ask("look")
        assert [made.arguments for made in reply.tool_calls] == [{"path": f"{n}.txt"} for n in range(4)]
        assert len({made.id for made in reply.tool_calls}) == 4
        await it.ask([user_text("look"), reply, answers(reply, "a", "b", "", "d")])
    assert it.server.rejections == []


async def test_thinking_goes_back_as_it_came_while_the_same_model_goes_on(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(thinking("Let me\nthink … ", chunks=3), text("So."), call("Read", {"path": "a"}))
        it.server.reply(text("ok"))
        history = [user_text("look")]
        chunks = await it.chunks(history, effort="high")
        reply = chunks[-1]
        assert isinstance(reply, ModelReply)
        assert thought(chunks) == reply.message.thinking == "Let me\nthink … "
        await it.ask([*history, reply.message, answers(reply.message, "x")], effort="high")
    assert it.server.rejections == []
    sent = json.dumps(it.server.requests[1].body, ensure_ascii=False)
    assert "think … " in sent


async def test_thinking_is_left_out_whole_for_another_model(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(thinking("secret thoughts"), text("So."), call("Read", {"path": "a"}))
        it.server.reply(text("ok"))
        it.server.reply(text("ok"))
        reply = await it.ask("look", effort="high")
        history = [user_text("look"), reply, answers(reply, "x")]
        await it.ask(history, model="model-b", effort="high")
        await it.ask(history, effort="high")
    assert it.server.rejections == []
    assert b"secret thoughts" not in it.server.requests[1].raw
    assert b"secret thoughts" in it.server.requests[2].raw


async def test_thinking_of_another_api_is_left_out_whole(api: str) -> None:
    others = [other for other in APIS if other != api]
    history = [user_text("look")]
    for other in others:
        async with talk(other) as it:
            it.server.reply(thinking("secret thoughts"), text("So."), call("Read", {"path": "a"}))
            reply = await it.ask("look")
        history += [reply, answers(reply, "x"), user_text("and now?")]
    async with talk(api) as it:
        it.server.reply(text("ok"))
        await it.ask(history)
    assert it.server.rejections == []
    assert b"secret thoughts" not in it.server.requests[0].raw


async def test_redacted_thinking_survives_a_tool_round(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(redacted_thinking(), text("So."), call("Read", {"path": "a"}))
        it.server.reply(text("ok"))
        reply = await it.ask("look", effort="low")
        await it.ask([user_text("look"), reply, answers(reply, "x")], effort="low")
    assert it.server.rejections == []
    assert any(isinstance(part, ThinkingPart) for part in reply.content) == (api != "chat")


async def test_images_and_documents_are_understood(api: str) -> None:
    image = ImagePart("image/jpeg", PIXEL)  # a wrong type: the bytes are a PNG
    pdf = DocumentPart("application/pdf", "JVBERi0xLjQK", "a.pdf")
    note = DocumentPart("text/plain", "aGVsbG8=", "note.txt")
    broken = ImagePart("image/png", "AAAA")
    async with talk(api) as it:
        it.server.reply(call("Read", {"path": "a.png"}), call("Read", {"path": "b.png"}))
        it.server.reply(text("a pixel"))
        history = [UserMessage((TextPart("see"), image, pdf, note, broken))]
        reply = await it.ask(history)
        results = tuple(
            ToolResultPart(made.id, made.name, content, is_error=failed, images=(image,))
            for made, content, failed in zip(reply.tool_calls, ("", "broken"), (False, True), strict=True)
        )
        await it.ask([*history, reply, ToolMessage(results)])
    assert it.server.rejections == []
    assert b"hello" in it.server.requests[0].raw
    assert it.server.requests[0].raw.count(PIXEL.encode()) == 1
    assert it.server.requests[1].raw.count(PIXEL.encode()) == 3


async def test_unicode_survives_both_ways(api: str) -> None:
    said = "naïve 日本語 🙂 \u2028 \x07 end"
    async with talk(api) as it:
        it.server.reply(text(said, chunks=9))
        chunks = await it.chunks(said)
    assert shown(chunks) == said
    assert said in _strings(it.server.requests[0].body)


async def test_lone_surrogates_never_reach_the_api(api: str) -> None:
    spec = ToolSpec("Read", "bad \udc00 description", READ.input_schema)
    reply = AssistantMessage((TextPart("bad \ud800"), ToolCall("c1", "Read", {"path": "\udfff"})))
    history = [user_text("bad \udc80"), reply, answers(reply, "bad \ud83d")]
    async with talk(api) as it:
        it.server.reply(text("ok"))
        await it.ask(history, system="bad \udcff", tools=(spec,))
    assert it.server.rejections == []


async def test_an_empty_reply_is_a_reply_and_can_stay_in_the_history(api: str) -> None:
    async with talk(api) as it:
        it.server.reply()
        it.server.reply(text(""))
        it.server.reply(text(" \n"))
        it.server.reply(text("ok"))
        history = [user_text("hi")]
        for _ in range(3):
            history += [await it.ask(history), user_text("and?")]
        assert (await it.ask(history)).text == "ok"
    assert it.server.rejections == []


async def test_the_output_limit_and_refusals_are_stop_reasons(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(text("and so"), finish_reason="length")
        it.server.reply(text("no"), finish_reason="content_filter")
        assert (await it.ask("hi", max_output_tokens=100)).stop_reason == "max_tokens"
        assert (await it.ask("hi")).stop_reason == "refusal"


@pytest.mark.parametrize("arguments", ['{"path": "b', "[1]", '{"a": NaN}', "nonsense"])
async def test_broken_arguments_become_a_problem_and_can_stay_in_the_history(api: str, arguments: str) -> None:
    async with talk(api) as it:
        it.server.reply(call("Read", {"path": "a"}), call("Read", arguments_raw=arguments, split=2))
        it.server.reply(text("ok"))
        reply = await it.ask("look")
        good, bad = reply.tool_calls
        assert good.problem is None
        assert bad.arguments is None
        assert bad.problem
        assert len(bad.problem) < 1000
        await it.ask([user_text("look"), reply, answers(reply, "x", "Error: bad arguments")])
    assert it.server.rejections == []


async def test_a_call_without_arguments_has_an_empty_object(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(call("Read", arguments_raw="", split=1))
        reply = await it.ask("look")
    assert reply.tool_calls[0].arguments == {}


async def test_arguments_cut_off_by_the_output_limit_are_a_problem_even_if_empty(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(call("Read", arguments_raw="", split=1), finish_reason="length")
        reply = await it.ask("look")
    assert reply.tool_calls[0].arguments is None
    assert "output limit" in (reply.tool_calls[0].problem or "")


async def test_raw_events_are_handed_out_when_asked_for(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(text("x"))
        it.server.reply(text("x"))
        raw = [chunk for chunk in await it.chunks("hi", raw_events=True) if isinstance(chunk, RawChunk)]
        assert len(raw) >= 3
        assert not [chunk for chunk in await it.chunks("hi") if isinstance(chunk, RawChunk)]


async def test_a_response_schema_and_an_effort_reach_the_api(api: str) -> None:
    strict = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    loose = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
    async with talk(api) as it:
        for schema in (strict, loose):
            it.server.reply(text('{"a": "b"}'))
            await it.ask("json please", response_schema=schema, effort="minimal", tools=())
    assert it.server.rejections == []
    assert "additionalProperties" not in strict


async def test_every_effort_is_accepted(api: str) -> None:
    efforts = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
    async with talk(api) as it:
        for effort in efforts:
            it.server.reply(text("x"))
            await it.ask("hi", effort=effort, temperature=0.5)
    assert it.server.rejections == []


async def test_each_request_begins_with_the_bytes_of_the_one_before(api: str) -> None:
    async with talk(api) as it:
        history = [user_text("start")]
        for n in range(4):
            it.server.reply(thinking(f"hm {n}"), text(f"step {n}"), call("Read", {"path": str(n)}))
            reply = await it.ask(history, system="Be brief.", session_id="session_1")
            history += [reply, answers(reply, f"result {n}")]
    bodies = [request.raw.removesuffix(b"]}") for request in it.server.requests]
    assert all(later.startswith(earlier) for earlier, later in zip(bodies, bodies[1:], strict=False))
    assert it.server.rejections == []


async def test_one_provider_serves_many_sessions_at_once(api: str) -> None:
    async with talk(api) as it:
        for _ in range(20):
            it.server.reply(text("hello", chunks=5))
        replies = await asyncio.gather(*(it.ask("hi") for _ in range(20)))
    assert [reply.text for reply in replies] == ["hello"] * 20
