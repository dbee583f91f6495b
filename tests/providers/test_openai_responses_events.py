"""What is particular to the Responses API."""

from typing import Any

import pytest
from apikit import READ, answers, talk

from agentframework.errors import ContextOverflowError, OverloadedError, ProviderError, RateLimitError
from agentframework.messages import AssistantMessage, OpaquePart, TextPart, ThinkingPart, user_text
from agentframework.providers.failures import Source
from agentframework.providers.openai_responses_events import ResponsesReply
from agentframework.providers.protocol import Chunk, ModelReply
from agentframework.testing.strict_server import call, raw_sse, text, thinking

SOURCE = Source("h", "http://h", "m", "KEY")


def message_item(*texts: str, **more: Any) -> dict[str, Any]:
    content = [{"type": "output_text", "text": each, "annotations": []} for each in texts]
    item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    return {**item, **more}


def call_item(**more: Any) -> dict[str, Any]:
    item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "Read", "arguments": '{"path": "a"}'}
    return {**item, **more}


def end(*items: dict[str, Any], kind: str = "completed", **more: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "response": {"status": kind, "output": list(items), **more}}


def fold(*events: dict[str, Any]) -> tuple[AssistantMessage, list[Chunk]]:
    reply = ResponsesReply(SOURCE, 100, set)
    chunks = [chunk for event in events for chunk in reply.feed(event)]
    return reply.message(), chunks


def test_items_that_only_the_final_response_has_are_taken_from_it() -> None:
    reply, chunks = fold(end(message_item("a", "b"), call_item()))
    assert [part.text for part in reply.content if isinstance(part, TextPart)] == ["a", "b"]
    assert reply.tool_calls[0].arguments == {"path": "a"}
    assert len(chunks) == 3


def test_items_of_the_final_response_are_not_taken_twice() -> None:
    for key in ({"output_index": 0}, {}):
        reply, _ = fold(
            {"type": "response.output_item.added", **key, "item": call_item(arguments="")},
            {"type": "response.function_call_arguments.delta", "item_id": "fc_1", **key, "delta": '{"path":'},
            {"type": "response.function_call_arguments.delta", "item_id": "fc_1", **key, "delta": ' "a"}'},
            {"type": "response.output_item.done", **key, "item": call_item()},
            end(call_item()),
        )
        assert [made.arguments for made in reply.tool_calls] == [{"path": "a"}]


def test_a_started_item_without_its_end_is_completed_by_the_final_response() -> None:
    for key in ({"output_index": 0}, {}):
        reply, chunks = fold(
            {"type": "response.output_item.added", **key, "item": message_item()},
            {"type": "response.output_text.delta", "item_id": "msg_1", **key, "delta": "a"},
            end(message_item("a")),
        )
        assert reply.text == "a"
        assert len(chunks) == 1


def test_reasoning_that_led_to_nothing_is_not_sent_back() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "e", "status": None}
    reply, _ = fold(end(message_item("x"), reasoning))
    assert reply.content[1] == ThinkingPart("", data={key: reasoning[key] for key in reasoning if key != "status"})


def test_sections_of_a_summary_are_paragraphs() -> None:
    delta = {"type": "response.reasoning_summary_text.delta", "output_index": 0}
    reply, chunks = fold(
        {**delta, "summary_index": 0, "delta": "one"},
        {**delta, "summary_index": 0, "delta": " more"},
        {**delta, "summary_index": 1, "delta": "two"},
        end(),
    )
    assert reply.thinking == "one more\n\ntwo"
    assert len(chunks) == 3


async def test_the_phase_of_a_message_goes_back_with_it() -> None:
    item = message_item("Let me look.", phase="commentary")
    events = [{"type": "response.output_item.done", "output_index": 0, "item": item}]
    async with talk("responses") as it:
        it.server.reply(raw_sse(events), call("Read", {"path": "a"}, index=1))
        it.server.reply(text("ok"))
        reply = await it.ask("look")
        assert reply.text == "Let me look."
        await it.ask([user_text("look"), reply, answers(reply, "x")])
    sent = it.server.requests[1].body["input"][1]
    assert sent == {"type": "message", "role": "assistant", "content": "Let me look.", "phase": "commentary"}
    assert it.server.rejections == []


async def test_an_item_that_nobody_knows_goes_back_as_it_came() -> None:
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}}
    events = [{"type": "response.output_item.done", "output_index": 0, "item": item}]
    async with talk("responses") as it:
        it.server.reply(raw_sse(events), text("found"))
        it.server.reply(text("ok"))
        reply = await it.ask("search")
        assert OpaquePart(item) in reply.content
        await it.ask([user_text("search"), reply, user_text("and?")])
    assert it.server.requests[1].body["input"][1] == item
    assert it.server.rejections == []


async def test_a_call_loses_its_item_id_together_with_its_reasoning() -> None:
    async with talk("responses") as it:
        it.server.reply(thinking("hm"), call("Read", {"path": "a"}))
        reply = await it.ask("look")
        history = [user_text("look"), reply, answers(reply, "x")]
        for model in ("model-a", "model-b"):
            it.server.reply(text("ok"))
            await it.ask(history, model=model)
    own, other = (request.body["input"] for request in it.server.requests[1:])
    assert [item.get("type") for item in own][1:3] == ["reasoning", "function_call"]
    assert own[2]["id"].startswith("fc_")
    assert other[1]["type"] == "function_call"
    assert "id" not in other[1]
    assert it.server.rejections == []


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "error", "code": "server_error", "message": "it broke"}, OverloadedError),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "it broke"}, RateLimitError),
        ({"type": "error", "error": {"code": "context_length_exceeded", "message": "it broke"}}, ContextOverflowError),
        (end(kind="failed", error={"code": "rate_limit_exceeded", "message": "it broke"}), RateLimitError),
        (end(kind="failed", error={"code": "invalid_prompt", "message": "it broke"}), ProviderError),
        (end(kind="failed", error=None), OverloadedError),
    ],
)
def test_errors_inside_the_stream(event: dict[str, Any], kind: type[ProviderError]) -> None:
    with pytest.raises(kind):
        fold(event)


async def test_a_failed_response_is_an_error() -> None:
    async with talk("responses") as it:
        it.server.reply(text("x"), finish_reason="failed")
        with pytest.raises(OverloadedError, match="failed to answer"):
            await it.ask("hi")


def test_a_refusal_is_text_with_its_own_reason() -> None:
    item = message_item(content=[{"type": "refusal", "refusal": "No."}])
    reply, _ = fold(end(item))
    assert (reply.text, reply.stop_reason) == ("No.", "refusal")
    streamed, chunks = fold(
        {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "No."},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        end(item),
    )
    assert (streamed.text, streamed.stop_reason, len(chunks)) == ("No.", "refusal", 1)


async def test_more_than_the_least_output_is_asked_for() -> None:
    async with talk("responses") as it:
        it.server.reply(text("x"))
        reply = (await it.chunks("hi", max_output_tokens=1, tools=(READ,)))[-1]
    assert isinstance(reply, ModelReply)
    assert it.server.rejections == []
