"""The strict server below the SDKs: HTTP, its own life, what it records."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agentframework.testing.strict_server import Issued, StrictModelServer, call, error, hold, raw_sse, stall, text

CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"
KEY = {"authorization": "Bearer test"}
ANTHROPIC = {"x-api-key": "test", "anthropic-version": "2026-10-21"}
HELLO = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}


@pytest.fixture
async def server() -> AsyncIterator[StrictModelServer]:
    async with StrictModelServer() as started:
        yield started


class Wire:
    """A client that sends exactly the bytes it is told to."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def to(cls, server: StrictModelServer) -> "Wire":
        return cls(*await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2])))

    def post(self, path: str, body: bytes, headers: dict[str, str]) -> None:
        lines = [f"POST {path} HTTP/1.1", "host: x", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    async def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the next response."""
        async with asyncio.timeout(10):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:-2])}
            if "content-length" in headers:
                return int(head[0].split()[1]), headers, await self.reader.readexactly(int(headers["content-length"]))
            return int(head[0].split()[1]), headers, b"".join([chunk async for chunk in self.chunks()])

    async def chunks(self) -> AsyncIterator[bytes]:
        while size := int(await self.reader.readuntil(b"\r\n"), 16):
            yield (await self.reader.readexactly(size + 2))[:-2]
        await self.reader.readexactly(2)

    async def close(self) -> None:
        self.writer.close()
        await self.writer.wait_closed()


@pytest.fixture
async def wire(server: StrictModelServer) -> AsyncIterator[Wire]:
    made = await Wire.to(server)
    yield made
    await made.close()


async def post(wire: Wire, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
    wire.post(path, body if isinstance(body, bytes) else json.dumps(body).encode(), headers)
    status, _, answered = await wire.answer()
    return status, json.loads(answered)


async def test_every_event_is_one_chunk(server: StrictModelServer, wire: Wire) -> None:
    server.reply(text("abc", chunks=3))
    wire.post(CHAT, json.dumps({**HELLO, "stream": True}).encode(), KEY)
    await wire.reader.readuntil(b"\r\n\r\n")
    chunks = [chunk async for chunk in wire.chunks()]
    assert all(chunk.startswith(b"data: ") and chunk.endswith(b"\n\n") for chunk in chunks)
    assert len(chunks) == 6
    assert chunks[-1] == b"data: [DONE]\n\n"


async def test_a_request_is_recorded_as_it_came(server: StrictModelServer, wire: Wire) -> None:
    server.reply(text("a"))
    raw = json.dumps(HELLO, indent=1).encode()
    wire.post(f"{CHAT}?beta=true", raw, {**KEY, "X-Mine": "yes"})
    await wire.answer()
    request = server.requests[0]
    await request.wait_finished()
    assert (request.number, request.api, request.path, request.status) == (1, "chat", CHAT, 200)
    assert request.raw == raw
    assert request.body == HELLO
    assert request.headers["x-mine"] == "yes"


async def test_one_connection_serves_requests_in_order(server: StrictModelServer, wire: Wire) -> None:
    for answer in "abc":
        server.reply(text(answer))
    for _ in range(3):
        wire.post(CHAT, json.dumps(HELLO).encode(), KEY)
    answers = [json.loads((await wire.answer())[2]) for _ in range(3)]
    assert [answer["choices"][0]["message"]["content"] for answer in answers] == ["a", "b", "c"]


async def test_a_chunked_body_in_small_pieces_is_read(server: StrictModelServer, wire: Wire) -> None:
    server.reply(text("a"))
    body = json.dumps(HELLO).encode()
    chunks = [body[at : at + 7] for at in range(0, len(body), 7)]
    head = f"POST {CHAT} HTTP/1.1\r\nauthorization: Bearer x\r\ntransfer-encoding: chunked\r\n\r\n".encode()
    stream = head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    for at in range(0, len(stream), 5):
        wire.writer.write(stream[at : at + 5])
        await wire.writer.drain()
        await asyncio.sleep(0)
    assert (await wire.answer())[0] == 200
    assert server.requests[0].body == HELLO


async def test_a_request_for_close_closes(server: StrictModelServer, wire: Wire) -> None:
    server.reply(text("a"))
    wire.post(CHAT, json.dumps(HELLO).encode(), {**KEY, "connection": "close"})
    await wire.answer()
    assert await asyncio.wait_for(wire.reader.read(), 5) == b""


async def test_bytes_that_are_not_http_get_400(server: StrictModelServer, wire: Wire) -> None:
    wire.writer.write(b"nonsense\r\n\r\n")
    assert (await wire.answer())[0] == 400
    assert await asyncio.wait_for(wire.reader.read(), 5) == b""


async def test_a_missing_key_is_401_in_the_words_of_the_api(server: StrictModelServer, wire: Wire) -> None:
    status, body = await post(wire, MESSAGES, {}, {"anthropic-version": "x"})
    assert (status, body["type"], body["error"]["type"]) == (401, "error", "authentication_error")
    status, body = await post(wire, CHAT, HELLO, {"authorization": "Basic x"})
    assert (status, body["error"]["code"]) == (401, "invalid_api_key")
    assert [rejection.status for rejection in server.rejections] == [401, 401]


async def test_the_anthropic_version_is_required(server: StrictModelServer, wire: Wire) -> None:
    status, body = await post(wire, MESSAGES, HELLO, {"x-api-key": "x"})
    assert status == 400
    assert "anthropic-version" in body["error"]["message"]


async def test_an_unknown_path_is_404(server: StrictModelServer, wire: Wire) -> None:
    assert (await post(wire, "/v2/messages", HELLO, ANTHROPIC))[1]["error"]["type"] == "not_found_error"
    assert (await post(wire, "/v1/embeddings", HELLO, KEY))[0] == 404
    assert (await post(wire, "/v1/models", HELLO, KEY))[0] == 404
    assert [rejection.status for rejection in server.rejections] == [404, 404, 404]


async def test_a_body_over_32_mb_is_413(server: StrictModelServer, wire: Wire) -> None:
    server.reply(text("a"))
    huge = b" " * (32 * 1024 * 1024 + 1)
    status, body = await post(wire, MESSAGES, huge, ANTHROPIC)
    assert (status, body["error"]["type"]) == (413, "request_too_large")
    assert (await post(wire, CHAT, HELLO, KEY))[0] == 200


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{",
        b'{"model": NaN}',
        b'{"model": "\xff"}',
        b'{"model": "\xed\xa0\xbd"}',
        b'{"a":' * 5000,
        json.dumps({"model": "m", "messages": [{"role": "user", "content": "\ud83d"}]}).encode(),
    ],
)
async def test_a_body_that_is_no_clean_json_is_400(server: StrictModelServer, wire: Wire, raw: bytes) -> None:
    status, body = await post(wire, CHAT, raw, KEY)
    assert (status, body["error"]["type"]) == (400, "invalid_request_error")
    assert "not valid" in server.rejections[0].message
    assert server.rejections[0].request is server.requests[0]


async def test_a_refused_request_leaves_its_reply_in_the_queue(server: StrictModelServer, wire: Wire) -> None:
    server.reply(text("a"))
    status, body = await post(wire, CHAT, {**HELLO, "foo": 1}, KEY)
    assert (status, body["error"]["param"], body["error"]["code"]) == (400, "foo", "unknown_parameter")
    assert server.replies_left == 1
    assert (await post(wire, CHAT, HELLO, KEY))[0] == 200


async def test_a_scripted_lone_surrogate_goes_out_as_an_escape(server: StrictModelServer, wire: Wire) -> None:
    server.reply(text("a\ud83db"))
    wire.post(CHAT, json.dumps({**HELLO, "stream": True}).encode(), KEY)
    assert rb'"a\ud83db"' in (await wire.answer())[2]


async def test_a_hold_in_front_keeps_even_the_head_back(server: StrictModelServer, wire: Wire) -> None:
    gate = asyncio.Event()
    part = hold(gate)
    server.reply(part, error(503))
    wire.post(CHAT, json.dumps(HELLO).encode(), KEY)
    await asyncio.wait_for(part.reached.wait(), 5)
    assert server.requests[0].status == 0
    gate.set()
    assert (await wire.answer())[0] == 503


async def test_an_empty_raw_part_sends_the_head_alone(server: StrictModelServer, wire: Wire) -> None:
    server.reply(raw_sse(), stall())
    wire.post(CHAT, json.dumps({**HELLO, "stream": True}).encode(), KEY)
    head = await asyncio.wait_for(wire.reader.readuntil(b"\r\n\r\n"), 5)
    assert b"text/event-stream" in head


async def test_a_client_that_reads_late_gets_everything(server: StrictModelServer, wire: Wire) -> None:
    server.reply(text("~" * 8_000_000, chunks=800))
    wire.post(CHAT, json.dumps({**HELLO, "stream": True}).encode(), KEY)
    request = await server.wait_for_request(1)
    await wire.reader.readuntil(b"\r\n\r\n")
    assert sum([chunk.count(b"~") async for chunk in wire.chunks()]) == 8_000_000
    await request.wait_finished()


async def test_waiting_for_a_request_that_does_not_come_times_out(server: StrictModelServer) -> None:
    with pytest.raises(TimeoutError, match="0 requests"):
        await server.wait_for_request(1, timeout=0.01)


async def test_an_error_stands_alone(server: StrictModelServer) -> None:
    with pytest.raises(ValueError, match="whole request"):
        server.reply(text("a"), error(500))


async def ask_once(server: StrictModelServer, **changes: Any) -> bytes:
    """All that a client gets from a server of its own, whose block ends after the answer."""
    async with server:
        wire = await Wire.to(server)
        wire.post(CHAT, json.dumps({**HELLO, **changes}).encode(), {**KEY, "connection": "close"})
        answered = await asyncio.wait_for(wire.reader.read(), 5)
        await wire.close()
    return answered


async def leave(server: StrictModelServer, error: Exception | None = None) -> None:
    async with server:
        server.reply(text("a"))
        if error is not None:
            raise error


async def test_a_request_without_a_reply_gets_500_and_fails_the_block() -> None:
    server = StrictModelServer()
    with pytest.raises(AssertionError, match="no reply queued for request 1"):
        await ask_once(server)
    assert server.requests[0].status == 500


async def test_replies_left_over_fail_the_block_unless_allowed() -> None:
    await leave(StrictModelServer(allow_leftovers=True))
    with pytest.raises(AssertionError, match="never asked for"):
        await leave(StrictModelServer())


async def test_an_error_in_the_block_is_not_hidden_by_left_over_replies() -> None:
    with pytest.raises(KeyError):
        await leave(StrictModelServer(), KeyError("mine"))


async def test_a_failing_responder_is_reported() -> None:
    def respond(request: Any) -> Any:
        raise RuntimeError("oops")

    server = StrictModelServer(respond)
    with pytest.raises(AssertionError, match="oops"):
        await ask_once(server)
    assert server.requests[0].status == 500


async def test_a_reply_that_cannot_be_rendered_is_reported() -> None:
    server = StrictModelServer()
    server.reply(raw_sse([{"x": {1, 2}}]))
    with pytest.raises(AssertionError, match="answering request 1 failed"):
        await ask_once(server, stream=True)


async def test_leaving_the_block_ends_every_answer_and_connection() -> None:
    before = asyncio.all_tasks()
    async with StrictModelServer() as server:
        server.reply(text("a"), stall())
        wires = [await Wire.to(server) for _ in range(3)]
        wires[0].post(CHAT, json.dumps({**HELLO, "stream": True}).encode(), KEY)
        request = await server.wait_for_request(1)
    assert request.finished.is_set()
    assert asyncio.all_tasks() == before
    for wire in wires:
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await asyncio.wait_for(wire.reader.readuntil(b"never"), 5)
        with contextlib.suppress(ConnectionError):
            await wire.close()


async def test_ids_of_two_servers_do_not_collide_and_memory_can_be_shared() -> None:
    issued = Issued()
    ids: list[str] = []
    for _ in range(2):
        async with StrictModelServer(issued=issued) as server:
            server.reply(call("Read", {}))
            wire = await Wire.to(server)
            _, body = await post(wire, MESSAGES, {**HELLO, "max_tokens": 9}, ANTHROPIC)
            ids.append(body["content"][0]["id"])
            await wire.close()
    assert len(set(ids)) == 2
    assert set(issued.turns) == set(ids)


async def test_many_clients_at_once_get_whole_answers() -> None:
    async def one(server: StrictModelServer) -> bytes:
        wire = await Wire.to(server)
        wire.post(CHAT, json.dumps({**HELLO, "stream": True}).encode(), KEY)
        answer = await wire.answer()
        await wire.close()
        return answer[2]

    async with StrictModelServer(lambda request: [text("x" * 20, chunks=20)]) as server:
        answers = await asyncio.gather(*(one(server) for _ in range(50)))
        assert all(answer.count(b'"content":"x"') == 20 and answer.endswith(b"[DONE]\n\n") for answer in answers)
