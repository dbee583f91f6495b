"""What can go wrong on the way to a reply, over all three APIs: statuses, cuts, silence, aborts."""

import asyncio
import json
import socket
import time
from contextlib import aclosing, suppress
from email.utils import formatdate

import pytest
from apikit import APIS, QUICK, WAIT_S, provider_for, shown, talk

from agentframework.errors import (
    AuthenticationError,
    ContextOverflowError,
    InvalidRequestError,
    ModelNotFoundError,
    ModelResponseInvalidError,
    OverloadedError,
    ProviderConnectionError,
    ProviderError,
    ProviderTimeoutError,
    RateLimitError,
    StreamInterruptedError,
)
from agentframework.messages import user_text
from agentframework.providers.protocol import (
    ModelReply,
    ModelRequest,
    RetryChunk,
    RetryPolicy,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from agentframework.testing.strict_server import (
    call,
    cut,
    end_early,
    error,
    hold,
    raw_sse,
    stall,
    stream_error,
    text,
    thinking,
)
from agentframework.testing.strict_server.script import Part

pytestmark = pytest.mark.parametrize("api", APIS)

STATUSES = [
    (400, InvalidRequestError, False),
    (401, AuthenticationError, False),
    (403, AuthenticationError, False),
    (413, InvalidRequestError, False),
    (422, InvalidRequestError, False),
    (408, ProviderTimeoutError, True),
    (409, ProviderError, True),
    (429, RateLimitError, True),
    (500, OverloadedError, True),
    (502, OverloadedError, True),
    (503, OverloadedError, True),
    (504, ProviderTimeoutError, True),
    (529, OverloadedError, True),
]


@pytest.mark.parametrize(("status", "kind", "retryable"), STATUSES)
async def test_a_status_becomes_a_typed_error_in_the_words_of_the_api(
    api: str, status: int, kind: type[ProviderError], retryable: bool
) -> None:
    async with talk(api) as it:
        it.server.reply(error(status, "those were the words"))
        with pytest.raises(kind) as raised:
            await it.ask("hi")
    assert type(raised.value) is kind
    assert "those were the words" in raised.value.message
    assert raised.value.status == status
    assert raised.value.retryable is retryable
    assert raised.value.details["request_id"].startswith("req_")
    json.dumps(raised.value.details)


@pytest.mark.parametrize(
    "words",
    [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
        "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        "the request exceeds the available context size",
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ],
)
async def test_a_conversation_that_is_too_long_is_told_apart(api: str, words: str) -> None:
    async with talk(api) as it:
        it.server.reply(error(400, words))
        with pytest.raises(ContextOverflowError, match="model-a"):
            await it.ask("hi")


async def test_an_unknown_model_and_a_wrong_address_are_told_apart(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(error(404, "model: model-a not found", code="model_not_found"))
        with pytest.raises(ModelNotFoundError, match="model-a"):
            await it.ask("hi")
        wrong = provider_for(api, f"{it.server.url}/elsewhere")
        with pytest.raises(InvalidRequestError, match="base_url") as raised:
            async for _ in wrong.stream(it.request("hi")):
                pass
        await wrong.aclose()
    assert not isinstance(raised.value, ModelNotFoundError)


async def test_a_used_up_budget_is_not_tried_again(api: str) -> None:
    async with talk(api, retry=QUICK) as it:
        kind = "billing_error" if api == "anthropic" else "insufficient_quota"
        it.server.reply(error(429, "You exceeded your current quota", type=kind, code=kind))
        with pytest.raises(ProviderError, match="billing") as raised:
            await it.ask("hi")
    assert raised.value.retryable is False
    assert len(it.server.requests) == 1


async def test_a_page_instead_of_json_is_quoted(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(error(502, raw_body=b"<html><h1>Bad   Gateway</h1></html>"))
        with pytest.raises(OverloadedError, match="Bad Gateway"):
            await it.ask("hi")


async def test_no_message_shows_the_key(api: str) -> None:
    key = "sk-0123456789-not-a-real-one"
    async with talk(api, api_key=key) as it:
        it.server.reply(error(401, f"Incorrect API key provided: {key}"))
        with pytest.raises(AuthenticationError, match="hidden") as raised:
            await it.ask("hi")
    assert key not in str(raised.value)
    assert key not in repr(raised.value.details)
    assert key not in repr(it.provider)


async def test_an_unreachable_server_is_named(api: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    provider = provider_for(api, url)
    with pytest.raises(ProviderConnectionError, match=url) as raised:
        async for _ in provider.stream(ModelRequest("model-a", [user_text("hi")])):
            pass
    await provider.aclose()
    assert "base_url" in raised.value.message


async def test_a_server_that_never_answers_times_out(api: str) -> None:
    async with talk(api, timeout_s=0.2) as it:
        it.server.reply(stall())
        with pytest.raises(ProviderTimeoutError, match="to answer"):
            await it.ask("hi")


async def test_silence_inside_a_stream_times_out_but_slow_beginnings_do_not(api: str) -> None:
    go_on = asyncio.Event()
    async with talk(api, timeout_s=WAIT_S, idle_timeout_s=0.3) as it:
        it.server.reply(hold(go_on), text("slow"))
        asyncio.get_running_loop().call_later(0.6, go_on.set)
        assert (await it.ask("hi")).text == "slow"
        it.server.reply(text("some text"), stall())
        with pytest.raises(ProviderTimeoutError, match="silent for more than 0.3 s"):
            await it.ask("hi")


ENDINGS = [
    (cut(), StreamInterruptedError),
    (end_early(), StreamInterruptedError),
    (stream_error("overloaded_error", "Overloaded"), OverloadedError),
    (stream_error("server_error", "it broke"), OverloadedError),
    (stream_error("rate_limit_error", "slow down"), RateLimitError),
    (stream_error("authentication_error", "who are you"), AuthenticationError),
    (stream_error("invalid_request_error", "prompt is too long"), ContextOverflowError),
]


@pytest.mark.parametrize(("ending", "kind"), ENDINGS)
async def test_a_stream_that_ends_badly_shows_its_text_and_raises(
    api: str, ending: Part, kind: type[ProviderError]
) -> None:
    async with talk(api, retry=QUICK) as it:
        it.server.reply(text("some text", chunks=3), ending)
        seen, raised = await it.failure("hi")
    assert type(raised) is kind
    assert shown(seen) == "some text"
    assert not [chunk for chunk in seen if isinstance(chunk, ModelReply | RetryChunk)]
    assert len(it.server.requests) == 1


@pytest.mark.parametrize("ending", [cut(), end_early(), stream_error()])
@pytest.mark.parametrize("done", [True, False])
async def test_a_half_received_call_is_in_no_reply(api: str, ending: Part, done: bool) -> None:
    async with talk(api) as it:
        it.server.reply(call("Read", {"path": "a"}, done=done), ending)
        seen, _ = await it.failure("hi")
    assert not [chunk for chunk in seen if isinstance(chunk, ModelReply)]


async def test_failures_before_the_first_piece_are_repeated_and_announced(api: str) -> None:
    async with talk(api, retry=QUICK) as it:
        it.server.reply(error(529, "Overloaded"))
        it.server.reply(cut())
        it.server.reply(text("there"))
        chunks = await it.chunks("hi")
    retries = [chunk for chunk in chunks if isinstance(chunk, RetryChunk)]
    assert [retry.attempt for retry in retries] == [2, 3]
    assert "Overloaded" in retries[0].reason
    assert [type(chunk) for chunk in chunks[:2]] == [RetryChunk, RetryChunk]
    assert shown(chunks) == "there"


@pytest.mark.parametrize("beginning", [end_early(), stream_error(), raw_sse([b"data: {broken\n\n"])])
async def test_a_stream_that_fails_before_it_says_anything_is_repeated(api: str, beginning: Part) -> None:
    async with talk(api, retry=QUICK) as it:
        it.server.reply(beginning)
        it.server.reply(text("there"))
        assert (await it.ask("hi")).text == "there"


async def test_attempts_are_bounded(api: str) -> None:
    async with talk(api, retry=QUICK) as it:
        for _ in range(3):
            it.server.reply(error(503, "still down"))
        with pytest.raises(OverloadedError, match="still down"):
            await it.ask("hi")
    assert len(it.server.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 404])
async def test_what_will_not_change_is_not_tried_again(api: str, status: int) -> None:
    async with talk(api, retry=QUICK) as it:
        it.server.reply(error(status))
        with pytest.raises(ProviderError):
            await it.ask("hi")
    assert len(it.server.requests) == 1


async def test_the_server_decides_about_another_try_if_it_says_so(api: str) -> None:
    async with talk(api, retry=QUICK) as it:
        it.server.reply(error(500, headers={"x-should-retry": "false"}))
        with pytest.raises(OverloadedError):
            await it.ask("hi")
        it.server.reply(error(400, headers={"x-should-retry": "true"}))
        it.server.reply(text("there"))
        assert (await it.ask("hi")).text == "there"


@pytest.mark.parametrize("status", [429, 503, 529])
async def test_the_wait_that_the_server_asks_for_is_kept(api: str, status: int) -> None:
    policy = RetryPolicy(max_attempts=2, initial_delay_s=0.0, max_delay_s=10)
    async with talk(api, retry=policy) as it:
        it.server.reply(error(status, retry_after=0.3))
        it.server.reply(text("there"))
        before = time.monotonic()
        chunks = await it.chunks("hi")
        assert time.monotonic() - before >= 0.3
    assert isinstance(chunks[0], RetryChunk)
    assert chunks[0].delay_s == 0.3


async def test_a_date_may_say_when_to_come_back(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(error(429, retry_after=formatdate(time.time() + 3600, usegmt=True)))
        with pytest.raises(RateLimitError) as raised:
            await it.ask("hi")
    assert 3500 < (raised.value.retry_after_s or 0) <= 3600


async def test_a_wait_of_a_day_is_an_error_that_names_the_time(api: str) -> None:
    async with talk(api, retry=QUICK) as it:
        it.server.reply(error(429, retry_after=86400))
        with pytest.raises(RateLimitError, match="86400 s"):
            await it.ask("hi")


async def test_closing_the_stream_closes_the_connection(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(thinking("hm"), text("some text"), stall())
        async with aclosing(it.provider.stream(it.request("hi"))) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, TextChunk):
                    break
        await it.server.requests[0].wait_disconnected()


@pytest.mark.parametrize("before", [(), (text("some text"),), (raw_sse(),)])
async def test_cancelling_closes_the_connection_at_once(api: str, before: tuple[Part, ...]) -> None:
    async with talk(api) as it:
        it.server.reply(*before, stall())
        task = asyncio.create_task(it.ask("hi"))
        request = await it.server.wait_for_request(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await request.wait_disconnected()


async def test_cancelling_ends_a_wait_between_attempts(api: str) -> None:
    async with talk(api, retry=RetryPolicy(max_attempts=2, max_delay_s=900)) as it:
        it.server.reply(error(429, retry_after=600))
        stream = it.provider.stream(it.request("hi"))
        assert isinstance(await anext(stream), RetryChunk)
        rest = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        rest.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(rest, WAIT_S)
    assert len(it.server.requests) == 1


async def test_an_answer_that_is_no_event_stream_is_explained(api: str) -> None:
    page = (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 15\r\nconnection: close\r\n\r\n<html>hi</html>"
    )

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(page)
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        provider = provider_for(api, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        with pytest.raises(ModelResponseInvalidError, match="text/html instead of an event stream"):
            async for _ in provider.stream(ModelRequest("model-a", [user_text("hi")])):
                pass
        await provider.aclose()


async def test_a_connection_is_used_again_after_a_reply_and_after_an_error(api: str) -> None:
    connections = 0

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                writer.write(data)
        writer.close()

    async with talk(api) as it:

        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal connections
            connections += 1
            host, port = it.server.url.removeprefix("http://").split(":")
            there, back = await asyncio.open_connection(host, int(port))
            await asyncio.gather(copy(reader, back), copy(there, writer))

        async with await asyncio.start_server(relay, "127.0.0.1", 0) as counter:
            provider = provider_for(api, f"http://127.0.0.1:{counter.sockets[0].getsockname()[1]}")
            for part in (text("x", chunks=3), error(500), text("x"), text("x"), stream_error(), text("x")):
                it.server.reply(part)
                with suppress(OverloadedError):
                    async for _ in provider.stream(it.request("hi")):
                        pass
            await provider.aclose()
    assert len(it.server.requests) == 6
    assert connections == 1


async def test_a_provider_can_be_used_again_after_it_was_closed(api: str) -> None:
    async with talk(api, http_client=None) as it:
        for _ in range(2):
            it.server.reply(text("x"))
            assert (await it.ask("hi")).text == "x"
            await it.provider.aclose()
            await it.provider.aclose()


async def test_starting_twice_at_once_builds_one_client(api: str) -> None:
    async with talk(api, http_client=None) as it:
        await asyncio.gather(*(it.provider.start() for _ in range(5)))
        it.server.reply(text("x"))
        await it.ask("hi")


async def test_pieces_of_every_kind_count_as_shown(api: str) -> None:
    for part, kind in ((thinking("hm"), ThinkingChunk), (call("Read", {"path": "a"}), ToolCallChunk)):
        async with talk(api, retry=QUICK) as it:
            it.server.reply(part, cut())
            seen, raised = await it.failure("hi")
        assert type(raised) is StreamInterruptedError
        assert {type(chunk) for chunk in seen} == {kind}
