"""A model server for benchmarks: cheap, so that what is measured is the client.

Speaks Anthropic Messages, OpenAI Chat Completions and OpenAI Responses as server-sent events, one write per
delta. What it answers is said by a tag in the last user message that has one::

    <text 5000>         5,000 text deltas of four characters
    <text 300 gap 2>    300 deltas, 2 ms apart
    <rounds 50>         50 rounds of one call of bench_add, then a short text
    <calls 8>           one reply with 8 calls of bench_sleep (100 ms each), then a short text

Run as ``python server.py PORT``; prints ``ready`` when it listens. ``GET /stats`` counts requests and bytes.
"""

import asyncio
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

TAG = re.compile(r"<(text|rounds|calls) (\d+)(?: gap (\d+))?>")
# Several words in turn: some clients take one chunk that repeats for a loop.
WORDS = [f" w{number:02d}" for number in range(32)]
PAUSE = object()
SSE_HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nrequest-id: bench\r\ntransfer-encoding: chunked\r\n\r\n"
)

Json = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """What to answer: so many deltas with so many milliseconds between them, or these calls."""

    deltas: int
    gap_ms: int
    calls: tuple[tuple[str, str], ...] = ()


def plan(api: str, request: Json) -> Plan:
    """The answer that the conversation asks for, by its last tag and the results that came after it."""
    items = request.get("input" if api == "responses" else "messages") or []
    done = 0
    for item in reversed(items):
        if item.get("role") == "tool" or item.get("type") == "function_call_output":
            done += 1
            continue
        if item.get("role") != "user":
            continue
        content = item.get("content")
        texts, results = read_content(content)
        found = TAG.findall(texts)
        if found:
            return answer(*found[-1], done=done)
        done += results
    return Plan(3, 0)


def read_content(content: Any) -> tuple[str, int]:
    """Text of a user message, and how many tool results it holds."""
    if isinstance(content, str):
        return content, 0
    texts = [part.get("text") or "" for part in content or []]
    return "".join(texts), sum(part.get("type") == "tool_result" for part in content or [])


def answer(kind: str, number: str, gap: str, *, done: int) -> Plan:
    count = int(number)
    if kind == "text":
        return Plan(count, int(gap or 0))
    if kind == "rounds":
        return Plan(0, 0, (("bench_add", f'{{"x": {done}}}'),)) if done < count else Plan(3, 0)
    return Plan(0, 0, (("bench_sleep", '{"ms": 100}'),) * count) if done == 0 else Plan(3, 0)


def event(name: str, body: Json) -> bytes:
    return f"event: {name}\ndata: {json.dumps(body)}\n\n".encode()


def data(body: Json) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()


def halves(text: str) -> tuple[str, str]:
    middle = (len(text) + 1) // 2
    return text[:middle], text[middle:]


def anthropic(number: int, wanted: Plan) -> Iterator[Any]:
    usage = {"input_tokens": 25, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1}
    message = {
        "id": f"msg_{number}", "type": "message", "role": "assistant", "model": "bench", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield event("message_start", {"type": "message_start", "message": message})
    for index, (name, arguments) in enumerate(wanted.calls):
        block = {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name, "input": {}}
        yield event("content_block_start", {"type": "content_block_start", "index": index, "content_block": block})
        for piece in halves(arguments):
            delta = {"type": "input_json_delta", "partial_json": piece}
            yield event("content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta})
        yield event("content_block_stop", {"type": "content_block_stop", "index": index})
    if not wanted.calls:
        block = {"type": "text", "text": ""}
        yield event("content_block_start", {"type": "content_block_start", "index": 0, "content_block": block})
        yield from deltas(wanted, ANTHROPIC_DELTAS)
        yield event("content_block_stop", {"type": "content_block_stop", "index": 0})
    end = {"stop_reason": "tool_use" if wanted.calls else "end_turn", "stop_sequence": None}
    yield event("message_delta", {"type": "message_delta", "delta": end, "usage": {**usage, "output_tokens": 10}})
    yield event("message_stop", {"type": "message_stop"})


def deltas(wanted: Plan, ready: list[bytes]) -> Iterator[Any]:
    for number in range(wanted.deltas):
        if wanted.gap_ms:
            yield wanted.gap_ms
        yield ready[number % 32]


def chat_chunk(delta: Json, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return data(
        {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "bench", "choices": [choice]}
    )


def chat(number: int, wanted: Plan) -> Iterator[Any]:
    yield chat_chunk({"role": "assistant", "content": ""})
    yield from deltas(wanted, CHAT_DELTAS)
    for index, (name, arguments) in enumerate(wanted.calls):
        head, tail = halves(arguments)
        function = {"name": name, "arguments": head}
        opening = {"index": index, "id": f"call_{number}_{index}", "type": "function", "function": function}
        yield chat_chunk({"tool_calls": [opening]})
        yield chat_chunk({"tool_calls": [{"index": index, "function": {"arguments": tail}}]})
    yield chat_chunk({}, "tool_calls" if wanted.calls else "stop")
    usage = {"prompt_tokens": 25, "completion_tokens": 10, "total_tokens": 35}
    yield data({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "bench",
                "choices": [], "usage": usage})  # fmt: skip
    yield b"data: [DONE]\n\n"


def responses(number: int, wanted: Plan) -> Iterator[Any]:
    def response(status: str, output: list[Json]) -> Json:
        usage = {
            "input_tokens": 25, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": 10, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 35,
        }  # fmt: skip
        return {
            "id": f"resp_{number}", "object": "response", "created_at": 1, "status": status, "model": "bench",
            "output": output, "error": None, "incomplete_details": None, "parallel_tool_calls": True,
            "tool_choice": "auto", "tools": [], "usage": usage if status == "completed" else None,
        }  # fmt: skip

    yield event("response.created", {"type": "response.created", "response": response("in_progress", [])})
    output: list[Json] = []
    for index, (name, arguments) in enumerate(wanted.calls):
        item = {
            "id": f"fc_{number}_{index}", "type": "function_call", "status": "completed",
            "call_id": f"call_{number}_{index}", "name": name, "arguments": arguments,
        }  # fmt: skip
        opening = {**item, "status": "in_progress", "arguments": ""}
        place = {"item_id": item["id"], "output_index": index}
        added = "response.output_item.added"
        yield event(added, {"type": added, "output_index": index, "item": opening})
        for piece in halves(arguments):
            kind = "response.function_call_arguments.delta"
            yield event(kind, {"type": kind, **place, "delta": piece})
        yield event("response.output_item.done", {"type": "response.output_item.done", **place, "item": item})
        output.append(item)
    if not wanted.calls:
        text = "".join(WORDS[number % 32] for number in range(wanted.deltas))
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
        item = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
        opening = {**item, "status": "in_progress", "content": []}
        place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        added, part_added = "response.output_item.added", "response.content_part.added"
        yield event(added, {"type": added, "output_index": 0, "item": opening})
        yield event(part_added, {"type": part_added, **place, "part": {**part, "text": ""}})
        yield from deltas(wanted, RESPONSES_DELTAS)
        kind = "response.output_text.done"
        yield event(kind, {"type": kind, **place, "text": text, "logprobs": []})
        yield event("response.output_item.done", {"type": "response.output_item.done", "output_index": 0, "item": item})
        output.append(item)
    yield event("response.completed", {"type": "response.completed", "response": response("completed", output)})


ANTHROPIC_DELTAS = [
    event(
        "content_block_delta",
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}},
    )
    for word in WORDS
]
CHAT_DELTAS = [chat_chunk({"content": word}) for word in WORDS]
RESPONSES_DELTAS = [
    event(
        "response.output_text.delta",
        {"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0,
         "delta": word, "logprobs": [], "sequence_number": 5},
    )
    for word in WORDS
]  # fmt: skip
APIS = {
    "/v1/messages": ("anthropic", anthropic),
    "/v1/chat/completions": ("chat", chat),
    "/v1/responses": ("responses", responses),
}


class Connection(asyncio.Protocol):
    """One keep-alive connection. Requests are answered one after the other."""

    counted: dict[str, int] = {"requests": 0, "bytes": 0}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.pending = bytearray()
        self.writing: asyncio.Task[None] | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self.writing is not None:
            self.writing.cancel()

    def data_received(self, data: bytes) -> None:
        self.pending += data
        if self.writing is None:
            self.next_request()

    def next_request(self) -> None:
        end = self.pending.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self.pending[:end]).decode("latin-1")
        length = re.search(r"\r\ncontent-length:\s*(\d+)", head, re.I)
        size = int(length.group(1)) if length else 0
        if len(self.pending) < end + 4 + size:
            return
        body = bytes(self.pending[end + 4 : end + 4 + size])
        del self.pending[: end + 4 + size]
        self.answer(head.split(" ", 2)[1].partition("?")[0], body)

    def answer(self, path: str, body: bytes) -> None:
        if path not in APIS:
            text = json.dumps(self.counted).encode()
            self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(text), text))
            return self.next_request()
        self.counted["requests"] += 1
        self.counted["bytes"] += len(body)
        api, render = APIS[path]
        self.transport.write(SSE_HEAD)
        wanted = plan(api, json.loads(body))
        self.writing = asyncio.ensure_future(self.stream(render(self.counted["requests"], wanted)))
        return None

    async def stream(self, events: Iterator[Any]) -> None:
        for item in events:
            if isinstance(item, int):
                await asyncio.sleep(item / 1000)
            else:
                self.transport.write(b"%x\r\n%b\r\n" % (len(item), item))
                await asyncio.sleep(0)
        self.transport.write(b"0\r\n\r\n")
        self.writing = None
        self.next_request()


async def main(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port, backlog=2048)
    print("ready", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
