"""Renders a script as OpenAI Responses: numbered events and the whole response.

Event order as published at https://platform.openai.com/docs/api-reference/responses-streaming.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .issued import IssuedReasoning
from .json_text import quoted
from .script import Call, StreamError, Text, Thinking
from .wire import Exchange, OpenText, Wire, chosen_index, named_event

__all__ = ["ResponsesWire"]

_CREATED = 1_760_000_000
_INCOMPLETE = {
    "length": "max_output_tokens",
    "max_tokens": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
    "content_filter": "content_filter",
}
_TEXT_DELTA = b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":'


class ResponsesWire(Wire):
    def __init__(self, exchange: Exchange) -> None:
        super().__init__(exchange)
        self._sequence = -1
        self._items: list[dict[str, Any]] = []
        self._open: OpenText | None = None
        self._reasoning_id: str | None = None
        self._stored = exchange.body.get("store") is not False

    def _event(self, kind: str, **fields: Any) -> bytes:
        self._sequence += 1
        return named_event({"type": kind, "sequence_number": self._sequence, **fields})

    # -- envelope ----------------------------------------------------------------------------------

    def start(self) -> Iterator[bytes]:
        for kind in ("response.created", "response.in_progress"):
            yield self._event(kind, response=self._response("in_progress"))

    def finish(self) -> Iterator[bytes]:
        yield from self._close_text()
        status = self._status()
        yield self._event(f"response.{status}", response=self._final(status))

    def stream_error(self, part: StreamError) -> bytes:
        return self._event("error", code=part.type, message=part.message, param=None)

    def frame(self, value: Mapping[str, Any]) -> bytes:
        return named_event(value)

    def whole(self) -> dict[str, Any]:
        for _ in self._close_text():
            pass
        return self._final(self._status())

    def _status(self) -> str:
        reason = self.exchange.reply.finish_reason
        return "failed" if reason == "failed" else "incomplete" if reason in _INCOMPLETE else "completed"

    def _final(self, status: str) -> dict[str, Any]:
        response = self._response(status)
        response["output"] = self._items
        response["usage"] = self._usage()
        if status == "incomplete":
            response["incomplete_details"] = {"reason": _INCOMPLETE[self.exchange.reply.finish_reason or ""]}
        if status == "failed":
            response["error"] = {"code": "server_error", "message": "The model failed to answer."}
        if self._stored:
            calls = (item["call_id"] for item in self._items if item.get("call_id"))
            self.issued.open_calls[response["id"]] = frozenset(calls)
        return response

    def _response(self, status: str) -> dict[str, Any]:
        body = self.exchange.body
        return {
            "id": f"resp_{self.exchange.key}",
            "object": "response",
            "created_at": _CREATED,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "max_output_tokens": body.get("max_output_tokens"),
            "model": self.exchange.model,
            "output": [],
            "parallel_tool_calls": body.get("parallel_tool_calls", True),
            "previous_response_id": body.get("previous_response_id"),
            "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
            "store": self._stored,
            "temperature": body.get("temperature", 1.0),
            "text": body.get("text") or {"format": {"type": "text"}},
            "tool_choice": body.get("tool_choice", "auto"),
            "tools": [],
            "top_p": body.get("top_p", 1.0),
            "truncation": body.get("truncation", "disabled"),
            "usage": None,
            "user": None,
            "metadata": {},
        }

    def _usage(self) -> Mapping[str, Any]:
        override = self.usage_override()
        if override is not None:
            return override
        usage = self.usage()
        total = usage.input_tokens + usage.cache_read + usage.cache_write
        return {
            "input_tokens": total,
            "input_tokens_details": {
                "cached_tokens": usage.cache_read,
                "cache_write_tokens": usage.cache_write,
            },
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.reasoning},
            "total_tokens": total + usage.output_tokens,
        }

    # -- items -------------------------------------------------------------------------------------

    def _add(self, item: dict[str, Any]) -> int:
        """Keep a finished item; returns its position and ties it to the reasoning before it."""
        if self._reasoning_id is not None and item["type"] != "reasoning":
            self.issued.needs_reasoning[item["id"]] = self._reasoning_id
            self._reasoning_id = None
        self._items.append(item)
        return len(self._items) - 1

    def _item_id(self, prefix: str) -> str:
        return f"{prefix}_{self.exchange.key}{len(self._items):03d}"

    def _text(self, part: Text) -> Iterator[bytes]:
        block = self._open
        if block is None:
            item: dict[str, Any] = {
                "id": self._item_id("msg"),
                "type": "message",
                "status": "in_progress",
                "content": [],
                "role": "assistant",
            }
            block = self._open = OpenText(self._add(item))
            yield self._event("response.output_item.added", output_index=block.position, item=item)
            yield self._event("response.content_part.added", **self._place(block), part=_output_text(""))
        place = self._place(block)
        ids = b',"item_id":%b,"output_index":%d,"content_index":0,"delta":' % (
            quoted(place["item_id"]),
            block.position,
        )
        for piece in part.pieces:
            block.pieces.append(self.count(piece))
            self._sequence += 1
            yield _TEXT_DELTA + b"%d" % self._sequence + ids + quoted(piece) + b',"logprobs":[]}\n\n'

    def _place(self, block: OpenText) -> dict[str, Any]:
        return {
            "item_id": self._items[block.position]["id"],
            "output_index": block.position,
            "content_index": 0,
        }

    def _close_text(self) -> Iterator[bytes]:
        block, self._open = self._open, None
        if block is None:
            return
        text = "".join(block.pieces)
        item = self._items[block.position]
        item.update(status="completed", content=[_output_text(text)])
        place = self._place(block)
        yield self._event("response.output_text.done", **place, text=text, logprobs=[])
        yield self._event("response.content_part.done", **place, part=_output_text(text))
        yield self._event("response.output_item.done", output_index=block.position, item=item)

    def _thinking(self, part: Thinking) -> Iterator[bytes]:
        yield from self._close_text()
        item_id, position = self._item_id("rs"), len(self._items)
        encrypted = part.signature or f"enc{self.exchange.key}{position:03d}="
        text = "".join(part.pieces)
        item = {
            "id": item_id,
            "type": "reasoning",
            "encrypted_content": encrypted,
            "summary": [] if part.redacted else [_summary_text(text)],
        }
        self._add(item)
        at = {"item_id": item_id, "output_index": position, "summary_index": 0}
        opening = {"id": item_id, "type": "reasoning", "summary": []}
        yield self._event("response.output_item.added", output_index=position, item=opening)
        if not part.redacted:
            yield self._event("response.reasoning_summary_part.added", **at, part=_summary_text(""))
            for piece in part.pieces:
                yield self._event("response.reasoning_summary_text.delta", **at, delta=self.count(piece))
        if not part.done:
            return
        if not part.redacted:
            yield self._event("response.reasoning_summary_text.done", **at, text=text)
            yield self._event("response.reasoning_summary_part.done", **at, part=_summary_text(text))
        self._reasoning_id = item_id
        self.issued.reasoning[item_id] = IssuedReasoning(encrypted, self._stored)
        yield self._event("response.output_item.done", output_index=position, item=item)

    def _call(self, part: Call, call_id: str | None) -> Iterator[bytes]:
        yield from self._close_text()
        item_id = self._item_id("fc")
        item: dict[str, Any] = {"id": item_id, "type": "function_call", "status": "completed"}
        item.update(name=part.name, arguments=self.count(part.arguments))
        if call_id is not None:
            item["call_id"] = call_id
        index = chosen_index(part, self._add(item))
        place = {} if index is None else {"output_index": index}
        opening = {**item, "status": "in_progress", "arguments": "" if part.pieces else part.arguments}
        yield self._event("response.output_item.added", **place, item=opening)
        for piece in part.pieces:
            yield self._event("response.function_call_arguments.delta", item_id=item_id, **place, delta=piece)
        if part.done:
            final = {"name": part.name, "arguments": part.arguments}
            yield self._event("response.function_call_arguments.done", item_id=item_id, **place, **final)
            yield self._event("response.output_item.done", **place, item=item)


def _output_text(text: str) -> dict[str, Any]:
    return {"type": "output_text", "annotations": [], "logprobs": [], "text": text}


def _summary_text(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}
