"""The strict server as the Anthropic SDK sees it."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import anthropic
import httpx2
import pytest
from anthropic import AsyncAnthropic

from agentframework.testing.strict_server import (
    StrictModelServer,
    call,
    cut,
    end_early,
    error,
    hold,
    raw_sse,
    redacted_thinking,
    stall,
    stream_error,
    text,
    thinking,
    usage,
)

TOOLS: list[Any] = [
    {
        "name": "Read",
        "description": "Read a file",
        "input_schema": {"type": "object", "properties": {"file_path": {"type": "string"}}},
    }
]
USER: Any = {"role": "user", "content": "Read README.md"}


@pytest.fixture
async def server() -> AsyncIterator[StrictModelServer]:
    async with StrictModelServer() as started:
        yield started


@pytest.fixture
async def client(server: StrictModelServer) -> AsyncIterator[AsyncAnthropic]:
    timeout = httpx2.Timeout(10.0, read=5.0)
    async with AsyncAnthropic(base_url=server.anthropic_url, api_key="test", max_retries=0, timeout=timeout) as made:
        yield made


async def ask(client: AsyncAnthropic, *messages: Any, **options: Any) -> anthropic.types.Message:
    options = {"model": "claude-test", "max_tokens": 4096, "tools": TOOLS, **options}
    async with client.messages.stream(messages=messages or (USER,), **options) as stream:
        return await stream.get_final_message()


async def deltas(client: AsyncAnthropic, **options: Any) -> AsyncGenerator[Any, None]:
    stream = await client.messages.create(model="claude-test", max_tokens=4096, messages=[USER], stream=True, **options)
    try:
        async for event in stream:
            yield event
    finally:
        await stream.close()


async def collect(client: AsyncAnthropic, field: str, seen: list[str]) -> None:
    """One field of every delta, kept also when the stream breaks."""
    async for event in deltas(client):
        if event.type == "content_block_delta":
            seen.append(getattr(event.delta, field))


def as_turn(message: anthropic.types.Message) -> dict[str, Any]:
    blocks = [block.model_dump(exclude_none=True, exclude={"parsed_output"}) for block in message.content]
    return {"role": "assistant", "content": blocks}


async def test_text_arrives_in_the_scripted_chunks(server: StrictModelServer, client: AsyncAnthropic) -> None:
    server.reply(text("Grüße 🙂!", chunks=["Gr", "üße ", "🙂!"]))
    events = [event async for event in deltas(client)]
    assert [event.delta.text for event in events if event.type == "content_block_delta"] == [
        "Gr",
        "üße ",
        "🙂!",
    ]
    assert events[-1].type == "message_stop"


async def test_thinking_text_and_calls_accumulate_to_one_message(
    server: StrictModelServer, client: AsyncAnthropic
) -> None:
    server.reply(
        thinking("hm, a file", chunks=2),
        redacted_thinking("b64data"),
        text("Let me look.", chunks=3),
        call("Read", {"file_path": "README.md"}, split=4),
        call("Read", {"file_path": "b.txt"}, id="toolu_mine"),
        usage=usage(10, 7, cache_read=100, cache_write=20),
    )
    message = await ask(client)
    assert [block.type for block in message.content] == [
        "thinking",
        "redacted_thinking",
        "text",
        "tool_use",
        "tool_use",
    ]
    blocks: list[Any] = message.content
    assert blocks[0].thinking == "hm, a file"
    assert blocks[0].signature in server.issued.thinking
    assert blocks[1].data == "b64data"
    assert blocks[2].text == "Let me look."
    assert [block.input for block in blocks[3:]] == [{"file_path": "README.md"}, {"file_path": "b.txt"}]
    assert blocks[4].id == "toolu_mine"
    assert message.stop_reason == "tool_use"
    assert message.usage.input_tokens == 10
    assert message.usage.output_tokens == 7
    assert (message.usage.cache_read_input_tokens, message.usage.cache_creation_input_tokens) == (100, 20)


async def test_a_whole_answer_equals_the_streamed_one(server: StrictModelServer, client: AsyncAnthropic) -> None:
    script = (thinking("hm"), text("a", chunks=1), text("b"), call("Read", {"file_path": "x"}, id="toolu_1"))
    server.reply(*script, usage=usage(1, 2))
    server.reply(*script, usage=usage(1, 2))
    streamed = await ask(client)
    whole = await client.messages.create(model="claude-test", max_tokens=10, messages=[USER])
    different = {"id", "signature", "parsed_output"}

    def plain(message: Any) -> Any:
        dumped = message.model_dump(exclude_none=True)
        return [
            {name: value for name, value in block.items() if name not in different} for block in dumped["content"]
        ], dumped["stop_reason"]

    assert plain(streamed) == plain(whole)


async def test_a_tool_loop_with_thinking_is_accepted_unchanged_and_refused_when_edited(
    server: StrictModelServer, client: AsyncAnthropic
) -> None:
    server.reply(thinking("plan"), call("Read", {"file_path": "a"}))
    server.reply(text("done"))
    options: dict[str, Any] = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    message = await ask(client, **options)
    turn: Any = as_turn(message)
    result = {"type": "tool_result", "tool_use_id": turn["content"][1]["id"], "content": "text"}
    answer: Any = {"role": "user", "content": [result]}

    edited: Any = {**turn, "content": [{**turn["content"][0], "thinking": "plan."}, turn["content"][1]]}
    dropped: Any = {**turn, "content": turn["content"][1:]}
    invented: Any = {**turn, "content": [{**turn["content"][0], "signature": "x"}, turn["content"][1]]}
    for changed in (edited, dropped, invented):
        with pytest.raises(anthropic.BadRequestError):
            await ask(client, USER, changed, answer, **options)
    assert (await ask(client, USER, turn, answer, **options)).content[0].type == "text"
    assert [rejection.request.number for rejection in server.rejections] == [2, 3, 4]


async def test_thinking_of_another_model_may_be_left_out(server: StrictModelServer, client: AsyncAnthropic) -> None:
    server.reply(thinking("plan"), call("Read", {"file_path": "a"}))
    server.reply(text("done"))
    options: dict[str, Any] = {"thinking": {"type": "adaptive"}}
    turn: Any = as_turn(await ask(client, **options))
    result = {"type": "tool_result", "tool_use_id": turn["content"][1]["id"], "content": "text"}
    await ask(
        client,
        USER,
        {**turn, "content": turn["content"][1:]},
        {"role": "user", "content": [result]},
        model="claude-other",
        **options,
    )


async def test_http_errors_are_typed_by_the_sdk(server: StrictModelServer, client: AsyncAnthropic) -> None:
    server.reply(error(529, "overloaded", retry_after=2))
    server.reply(error(400, "prompt is too long: 9 tokens > 8 maximum"))
    server.reply(error(502, raw_body=b"<html>Bad gateway</html>"))
    with pytest.raises(anthropic.APIStatusError) as overloaded:
        await ask(client)
    assert overloaded.value.status_code == 529
    assert overloaded.value.type == "overloaded_error"
    assert overloaded.value.response.headers["retry-after"] == "2"
    with pytest.raises(anthropic.BadRequestError, match="prompt is too long"):
        await ask(client)
    with pytest.raises(anthropic.InternalServerError):
        await ask(client)
    assert [request.status for request in server.requests] == [529, 400, 502]


async def test_an_error_event_is_a_status_error_with_status_200(
    server: StrictModelServer, client: AsyncAnthropic
) -> None:
    server.reply(text("abc"), stream_error("overloaded_error"))
    with pytest.raises(anthropic.APIStatusError) as raised:
        await ask(client)
    assert raised.value.status_code == 200
    assert raised.value.type == "overloaded_error"


async def test_a_cut_connection_shows_after_the_text_before_it(
    server: StrictModelServer, client: AsyncAnthropic
) -> None:
    server.reply(text("abc"), cut())
    seen: list[str] = []
    with pytest.raises(httpx2.RemoteProtocolError):
        await collect(client, "text", seen)
    assert seen == ["abc"]


async def test_a_cut_in_front_comes_before_the_first_byte(server: StrictModelServer, client: AsyncAnthropic) -> None:
    server.reply(cut())
    with pytest.raises(anthropic.APIConnectionError):
        await ask(client)
    await server.requests[0].wait_finished()
    assert server.requests[0].status == 0


async def test_an_early_end_has_no_stop_reason(server: StrictModelServer, client: AsyncAnthropic) -> None:
    server.reply(call("Read", {"file_path": "a"}), end_early())
    message = await ask(client)
    assert message.stop_reason is None
    assert message.content[0].type == "tool_use"


async def test_an_unfinished_thinking_block_has_no_signature(server: StrictModelServer, client: AsyncAnthropic) -> None:
    server.reply(thinking("half a thou", chunks=3, done=False), end_early())
    events = [event async for event in deltas(client)]
    assert "content_block_stop" not in {event.type for event in events}
    assert {event.delta.type for event in events if event.type == "content_block_delta"} == {"thinking_delta"}
    assert server.issued.thinking == {}


async def test_broken_arguments_travel_as_written(server: StrictModelServer, client: AsyncAnthropic) -> None:
    server.reply(call("Read", arguments_raw='{"file_path": "b', done=False), cut())
    pieces: list[str] = []
    with pytest.raises(httpx2.RemoteProtocolError):
        await collect(client, "partial_json", pieces)
    assert "".join(pieces) == '{"file_path": "b'


async def test_a_held_reply_waits_for_the_test(server: StrictModelServer, client: AsyncAnthropic) -> None:
    gate = asyncio.Event()
    part = hold(gate)
    server.reply(text("a"), part, text("b"))
    events = deltas(client)
    seen = ""
    async for event in events:
        if event.type != "content_block_delta":
            continue
        seen += event.delta.text
        if seen == "a":
            await asyncio.wait_for(part.reached.wait(), 5)
            gate.set()
    assert seen == "ab"


async def test_a_client_that_leaves_a_stalled_stream_is_noticed(
    server: StrictModelServer, client: AsyncAnthropic
) -> None:
    server.reply(text("a"), stall())
    events = deltas(client)
    async for event in events:
        if event.type == "content_block_delta":
            break
    request = await server.wait_for_request(1)
    assert not request.disconnected.is_set()
    await events.aclose()
    await request.wait_disconnected()
    await request.wait_finished()


async def test_a_stall_is_a_read_timeout(server: StrictModelServer, client: AsyncAnthropic) -> None:
    server.reply(text("a"), stall())
    impatient = client.with_options(timeout=httpx2.Timeout(5.0, read=0.05))
    with pytest.raises(httpx2.ReadTimeout):
        async for _ in deltas(impatient):
            pass


async def test_raw_events_are_spliced_into_a_rendered_reply(server: StrictModelServer, client: AsyncAnthropic) -> None:
    server.reply(raw_sse([b": comment\n\n", {"type": "future_event", "x": 1}]), text("a"))
    kinds = [event.type async for event in deltas(client)]
    assert kinds[0] == "future_event"
    assert kinds[-1] == "message_stop"


async def test_models_and_token_counts_are_served(server: StrictModelServer, client: AsyncAnthropic) -> None:
    models = await client.models.list()
    assert [model.id for model in models.data] == ["strict-model"]
    counted = await client.messages.count_tokens(model="claude-test", messages=[USER])
    assert counted.input_tokens > 0
    with pytest.raises(anthropic.BadRequestError, match="non-whitespace"):
        await client.messages.count_tokens(model="claude-test", messages=[{"role": "user", "content": "  "}])


async def test_beta_fields_need_their_header(server: StrictModelServer, client: AsyncAnthropic) -> None:
    extra = {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}
    with pytest.raises(anthropic.BadRequestError, match="context_management: Extra inputs are not permitted"):
        await ask(client, extra_body=extra)
    server.reply(text("ok"))
    await ask(client, extra_body=extra, extra_headers={"anthropic-beta": "context-management-2025-06-27"})
