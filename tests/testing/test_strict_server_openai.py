"""The strict server as the OpenAI SDK sees it, over both of its APIs."""

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai
import pytest
from openai import AsyncOpenAI

from agentframework.testing.strict_server import (
    StrictModelServer,
    call,
    cut,
    end_early,
    error,
    raw_sse,
    redacted_thinking,
    reply,
    stream_error,
    text,
    thinking,
    usage,
)

SCHEMA = {"type": "object", "properties": {"file_path": {"type": "string"}}}
CHAT_TOOLS: Any = [{"type": "function", "function": {"name": "Read", "parameters": SCHEMA}}]
RESPONSES_TOOLS: Any = [{"type": "function", "name": "Read", "parameters": SCHEMA, "strict": False}]
USER: Any = {"role": "user", "content": "Read README.md"}


@pytest.fixture
async def server() -> AsyncIterator[StrictModelServer]:
    async with StrictModelServer() as started:
        yield started


@pytest.fixture
async def client(server: StrictModelServer) -> AsyncIterator[AsyncOpenAI]:
    timeout = httpx2.Timeout(10.0, read=5.0)
    async with AsyncOpenAI(base_url=server.openai_url, api_key="test", max_retries=0, timeout=timeout) as made:
        yield made


async def chat_chunks(client: AsyncOpenAI, *messages: Any, **options: Any) -> list[Any]:
    stream = await client.chat.completions.create(
        model="gpt-test", messages=list(messages or (USER,)), stream=True, tools=CHAT_TOOLS, **options
    )
    async with stream:
        return [chunk async for chunk in stream]


async def response_events(client: AsyncOpenAI, items: Any = "Read README.md", **options: Any) -> list[Any]:
    stream = await client.responses.create(model="gpt-test", input=items, stream=True, tools=RESPONSES_TOOLS, **options)
    async with stream:
        return [event async for event in stream]


# -- Chat Completions ------------------------------------------------------------------------------


async def test_chat_text_and_calls_accumulate_in_the_sdk(server: StrictModelServer, client: AsyncOpenAI) -> None:
    server.reply(
        text("Grüße 🙂", chunks=4),
        call("Read", {"file_path": "a"}, split=3),
        call("Read", {"file_path": "b"}, id="call_mine"),
    )
    async with client.chat.completions.stream(model="gpt-test", messages=[USER], tools=CHAT_TOOLS) as stream:
        completion = await stream.get_final_completion()
    choice = completion.choices[0]
    calls: Any = choice.message.tool_calls
    assert choice.message.content == "Grüße 🙂"
    assert [made.function.arguments for made in calls] == ['{"file_path": "a"}', '{"file_path": "b"}']
    assert calls[1].id == "call_mine"
    assert choice.finish_reason == "tool_calls"


async def test_chat_usage_comes_last_with_no_choices_and_only_when_asked(
    server: StrictModelServer, client: AsyncOpenAI
) -> None:
    server.reply(text("a"), usage=usage(10, 7, cache_read=5, reasoning=3))
    server.reply(text("a"), usage=usage(10, 7))
    chunks = await chat_chunks(client, stream_options={"include_usage": True})
    assert chunks[-1].choices == []
    assert (chunks[-1].usage.prompt_tokens, chunks[-1].usage.completion_tokens) == (15, 7)
    assert chunks[-1].usage.prompt_tokens_details.cached_tokens == 5
    assert all(chunk.usage is None for chunk in await chat_chunks(client))


async def test_chat_thinking_is_reasoning_content_and_may_come_back_as_sent(
    server: StrictModelServer, client: AsyncOpenAI
) -> None:
    server.reply(thinking("hm hm", chunks=2), redacted_thinking(), text("a"))
    server.reply(text("b"))
    chunks = await chat_chunks(client)
    thoughts = [getattr(chunk.choices[0].delta, "reasoning_content", None) for chunk in chunks]
    assert [thought for thought in thoughts if thought] == ["hm ", "hm"]
    turn = {"role": "assistant", "content": "a", "reasoning_content": "hm hm"}
    await chat_chunks(client, USER, turn, USER)
    with pytest.raises(openai.BadRequestError, match="reasoning_content"):
        await chat_chunks(client, USER, {**turn, "reasoning_content": "hm"}, USER)


async def test_chat_calls_of_odd_servers_lack_id_or_index(server: StrictModelServer, client: AsyncOpenAI) -> None:
    server.reply(call("Read", {"file_path": "a"}, id=None, index=None, split=0), finish_reason="stop")
    chunks = await chat_chunks(client)
    made = [part for chunk in chunks for part in chunk.choices[0].delta.tool_calls or ()]
    assert [(part.id, part.index, part.function.arguments) for part in made] == [(None, None, '{"file_path": "a"}')]
    assert chunks[-1].choices[0].finish_reason == "stop"


async def test_chat_raw_events_are_the_whole_body(server: StrictModelServer, client: AsyncOpenAI) -> None:
    before, after = 'data: {"choices":[{"index":0,"delta":{"content":"ü"}}]}\r\n\r\n'.encode().split(b"\xbc")
    nothing = {"content": None, "tool_calls": None}
    server.reply(
        raw_sse(
            [
                b": ping\r\n\r\n",
                {"choices": [{"index": 0, "delta": nothing}]},
                before,
                b"\xbc" + after,
                {"choices": []},
                b"data: [DONE]\r\n\r\n",
            ]
        )
    )
    chunks = await chat_chunks(client)
    assert [chunk.choices[0].delta.content for chunk in chunks if chunk.choices] == [None, "ü"]


async def test_chat_faults_look_as_they_do_in_the_sdk(server: StrictModelServer, client: AsyncOpenAI) -> None:
    server.reply(text("abc"), stream_error("server_error", "broken"))
    server.reply(text("abc"), cut())
    server.reply(text("abc"), end_early())
    server.reply(error(429, "slow down", code="insufficient_quota", retry_after="2"))
    with pytest.raises(openai.APIError, match="broken"):
        await chat_chunks(client)
    with pytest.raises(openai.APIConnectionError):
        await chat_chunks(client)
    assert all(chunk.choices[0].finish_reason is None for chunk in await chat_chunks(client))
    with pytest.raises(openai.RateLimitError) as limited:
        await chat_chunks(client)
    assert limited.value.code == "insufficient_quota"
    assert limited.value.response.headers["retry-after"] == "2"


async def test_a_chat_tool_loop_is_accepted_and_broken_pairs_are_refused(
    server: StrictModelServer, client: AsyncOpenAI
) -> None:
    server.reply(call("Read", {"file_path": "a"}), call("Read", {"file_path": "b"}))
    server.reply(text("done"))
    whole = await client.chat.completions.create(model="gpt-test", messages=[USER], tools=CHAT_TOOLS)
    turn: Any = whole.choices[0].message.model_dump(exclude_none=True)
    results: list[Any] = [{"role": "tool", "tool_call_id": made["id"], "content": "x"} for made in turn["tool_calls"]]
    for answers in (results[:1], [*results, results[0]], [results[0], USER, results[1]], []):
        with pytest.raises(openai.BadRequestError) as refused:
            await chat_chunks(client, USER, turn, *answers)
        assert refused.value.type == "invalid_request_error"
    await chat_chunks(client, USER, turn, *reversed(results))


# -- Responses -------------------------------------------------------------------------------------


async def test_responses_events_agree_with_the_completed_response(
    server: StrictModelServer, client: AsyncOpenAI
) -> None:
    server.reply(
        thinking("hm hm", chunks=2),
        text("Grüße 🙂", chunks=3),
        call("Read", {"file_path": "a"}, split=2),
        usage=usage(10, 7, cache_read=5, reasoning=3),
    )
    events = await response_events(client)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    final = events[-1]
    assert final.type == "response.completed"
    assert [item.type for item in final.response.output] == ["reasoning", "message", "function_call"]
    done = [event.item for event in events if event.type == "response.output_item.done"]
    assert [item.model_dump() for item in done] == [item.model_dump() for item in final.response.output]
    streamed = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert streamed == final.response.output_text == "Grüße 🙂"
    assert done[0].summary[0].text == "hm hm"
    assert done[2].arguments == '{"file_path": "a"}'
    assert (final.response.usage.input_tokens, final.response.usage.output_tokens) == (15, 7)


async def test_responses_accumulate_in_the_sdk(server: StrictModelServer, client: AsyncOpenAI) -> None:
    server.reply(text("abc", chunks=3), call("Read", {"file_path": "a"}))
    async with client.responses.stream(model="gpt-test", input="hi", tools=RESPONSES_TOOLS) as stream:
        response = await stream.get_final_response()
    assert response.output_text == "abc"
    item: Any = response.output[1]
    assert item.arguments == '{"file_path": "a"}'


async def test_a_stateless_responses_loop_needs_its_reasoning_item_as_issued(
    server: StrictModelServer, client: AsyncOpenAI
) -> None:
    server.reply(thinking("hm"), call("Read", {"file_path": "a"}))
    server.reply(text("done"))
    options: dict[str, Any] = {"store": False, "include": ["reasoning.encrypted_content"]}
    first = await client.responses.create(model="gpt-test", input="hi", tools=RESPONSES_TOOLS, **options)
    reasoning, made = [item.model_dump(exclude_none=True) for item in first.output]
    answer = {"type": "function_call_output", "call_id": made["call_id"], "output": "x"}
    user = {"role": "user", "content": "hi"}
    bad = {
        "required following item": [user, reasoning, user],
        "without its required 'reasoning'": [user, made, answer],
        "could not be verified": [user, {**reasoning, "encrypted_content": "zzz"}, made, answer],
        "not found": [user, {**reasoning, "encrypted_content": None}, made, answer],
        "No tool output found": [user, reasoning, made],
        "No tool call found": [user, {**answer, "call_id": "call_other"}],
    }
    for message, items in bad.items():
        with pytest.raises(openai.BadRequestError, match=message):
            await response_events(client, items, **options)
    events = await response_events(client, [user, reasoning, made, answer], **options)
    assert events[-1].type == "response.completed"


async def test_a_stored_response_is_continued_with_the_outputs_of_its_calls(
    server: StrictModelServer, client: AsyncOpenAI
) -> None:
    server.reply(call("Read", {"file_path": "a"}))
    server.reply(text("done"))
    first = (await response_events(client))[-1].response
    answer = {"type": "function_call_output", "call_id": first.output[0].call_id, "output": "x"}
    with pytest.raises(openai.BadRequestError, match="No tool output found"):
        await response_events(client, "go on", previous_response_id=first.id)
    with pytest.raises(openai.BadRequestError, match="not found"):
        await response_events(client, [answer], previous_response_id="resp_other")
    await response_events(client, [answer], previous_response_id=first.id)


async def test_responses_faults_arrive_as_events_or_as_silence(server: StrictModelServer, client: AsyncOpenAI) -> None:
    server.reply(text("abc"), stream_error("server_error", "broken"))
    server.reply(text("abc"), cut())
    server.reply(text("abc"), end_early())
    server.reply(text("abc"), finish_reason="length")
    server.reply(text("abc"), finish_reason="failed")
    events = await response_events(client)
    assert (events[-1].type, events[-1].message) == ("error", "broken")
    with pytest.raises(openai.APIConnectionError):
        await response_events(client)
    assert (await response_events(client))[-1].type == "response.output_text.delta"
    incomplete = (await response_events(client))[-1]
    assert incomplete.type == "response.incomplete"
    assert incomplete.response.incomplete_details.reason == "max_output_tokens"
    assert (await response_events(client))[-1].type == "response.failed"


async def test_whole_answers_show_faults_as_statuses_or_broken_bodies(
    server: StrictModelServer, client: AsyncOpenAI
) -> None:
    server.reply(text("abc"), stream_error("overloaded_error", "busy"))
    server.reply(text("abc"), cut())
    server.reply(raw_sse([{"id": "x", "object": "response", "output": []}]))
    with pytest.raises(openai.InternalServerError) as busy:
        await client.responses.create(model="gpt-test", input="hi")
    assert busy.value.status_code == 529
    with pytest.raises(openai.APIConnectionError):
        await client.responses.create(model="gpt-test", input="hi")
    assert (await client.responses.create(model="gpt-test", input="hi")).id == "x"


async def test_a_responder_answers_what_the_queue_does_not() -> None:
    def respond(request: Any) -> Any:
        rounds = sum(message["role"] == "tool" for message in request.body["messages"])
        return [call("Read", {"file_path": str(rounds)})] if rounds < 2 else reply(text("done"))

    async with (
        StrictModelServer(respond) as server,
        AsyncOpenAI(base_url=server.openai_url, api_key="test", max_retries=0) as client,
    ):
        messages: list[Any] = [USER]
        for _ in range(3):
            completion = await client.chat.completions.create(model="gpt-test", messages=messages, tools=CHAT_TOOLS)
            turn: Any = completion.choices[0].message.model_dump(exclude_none=True)
            messages.append(turn)
            messages += [
                {"role": "tool", "tool_call_id": made["id"], "content": "x"} for made in turn.get("tool_calls", ())
            ]
        assert messages[-1]["content"] == "done"


async def test_models_are_listed(server: StrictModelServer, client: AsyncOpenAI) -> None:
    assert [model.id for model in (await client.models.list()).data] == ["strict-model"]
