"""Renders a script as Anthropic Messages: SSE events and the whole message.

Event order as published at https://platform.claude.com/docs/en/build-with-claude/streaming.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from .issued import ThinkingTurn
from .json_text import quoted
from .script import Call, StreamError, Text, Thinking
from .wire import Exchange, OpenText, Wire, chosen_index, named_event

__all__ = ["AnthropicWire"]

_STOP_REASONS = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


class AnthropicWire(Wire):
    call_prefix = "toolu_"

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(exchange)
        self._blocks: list[dict[str, Any]] = []
        self._open: OpenText | None = None
        self._turn = ThinkingTurn(exchange.model)

    # -- envelope ----------------------------------------------------------------------------------

    def start(self) -> Iterator[bytes]:
        usage = self._usage(output_tokens=1)
        yield named_event({"type": "message_start", "message": self._message([], None, usage)})
        yield named_event({"type": "ping"})

    def finish(self) -> Iterator[bytes]:
        yield from self._close_text()
        delta = {"stop_reason": self._stop_reason(), "stop_sequence": None}
        yield named_event({"type": "message_delta", "delta": delta, "usage": self._usage()})
        yield named_event({"type": "message_stop"})

    def stream_error(self, part: StreamError) -> bytes:
        return named_event({"type": "error", "error": {"type": part.type, "message": part.message}})

    def frame(self, value: Mapping[str, Any]) -> bytes:
        return named_event(value)

    def whole(self) -> dict[str, Any]:
        for _ in self._close_text():
            pass
        return self._message(self._blocks, self._stop_reason(), self._usage())

    def _message(self, content: list[dict[str, Any]], stop_reason: str | None, usage: Any) -> dict[str, Any]:
        return {
            "id": f"msg_{self.exchange.key}",
            "type": "message",
            "role": "assistant",
            "model": self.exchange.model,
            "content": content,
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": usage,
        }

    def _stop_reason(self) -> str:
        reason = self.exchange.reply.finish_reason or ("tool_calls" if self.calls else "stop")
        return _STOP_REASONS.get(reason, reason)

    def _usage(self, output_tokens: int | None = None) -> Mapping[str, Any]:
        override = self.usage_override()
        if override is not None:
            return override
        usage = self.usage()
        return {
            "input_tokens": usage.input_tokens,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": usage.output_tokens if output_tokens is None else output_tokens,
            "output_tokens_details": {"thinking_tokens": usage.reasoning},
        }

    # -- blocks ------------------------------------------------------------------------------------

    def _start_block(self, index: int | None, block: dict[str, Any]) -> bytes:
        return named_event({"type": "content_block_start", **_at(index), "content_block": block})

    def _delta(self, index: int | None, delta: dict[str, Any]) -> bytes:
        return named_event({"type": "content_block_delta", **_at(index), "delta": delta})

    def _stop_block(self, index: int | None) -> bytes:
        return named_event({"type": "content_block_stop", **_at(index)})

    def _text(self, part: Text) -> Iterator[bytes]:
        block = self._open
        if block is None:
            block = self._open = OpenText(len(self._blocks))
            self._blocks.append({"type": "text", "text": ""})
            yield self._start_block(block.position, {"type": "text", "text": ""})
        head = (
            b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,'
            b'"delta":{"type":"text_delta","text":' % block.position
        )
        for piece in part.pieces:
            block.pieces.append(self.count(piece))
            yield head + quoted(piece) + b"}}\n\n"

    def _close_text(self) -> Iterator[bytes]:
        block, self._open = self._open, None
        if block is not None:
            self._blocks[block.position]["text"] = "".join(block.pieces)
            yield self._stop_block(block.position)

    def _thinking(self, part: Thinking) -> Iterator[bytes]:
        yield from self._close_text()
        index = len(self._blocks)
        signature = part.signature or f"sig{self.exchange.key}{index:03d}="
        if part.redacted:
            block = {"type": "redacted_thinking", "data": signature}
            self._blocks.append(block)
            self.issued.redacted.add(signature)
            self._turn.blocks.append(("redacted_thinking", signature))
            yield self._start_block(index, block)
            yield self._stop_block(index)
            return
        whole = "".join(part.pieces)
        self._blocks.append({"type": "thinking", "thinking": whole, "signature": signature if part.done else ""})
        yield self._start_block(index, {"type": "thinking", "thinking": "", "signature": ""})
        for piece in part.pieces:
            yield self._delta(index, {"type": "thinking_delta", "thinking": self.count(piece)})
        if part.done:
            self.issued.thinking[signature] = whole
            self._turn.blocks.append(("thinking", signature))
            yield self._delta(index, {"type": "signature_delta", "signature": signature})
            yield self._stop_block(index)

    def _call(self, part: Call, call_id: str | None) -> Iterator[bytes]:
        yield from self._close_text()
        index = chosen_index(part, len(self._blocks))
        block: dict[str, Any] = {"type": "tool_use"}
        if call_id is not None:
            block["id"] = call_id
            self.issued.turns[call_id] = self._turn
        block["name"] = part.name
        whole = _lenient_object(self.count(part.arguments))
        self._blocks.append({**block, "input": whole})
        yield self._start_block(index, {**block, "input": {} if part.pieces else whole})
        if part.pieces:
            for piece in ("", *part.pieces):
                yield self._delta(index, {"type": "input_json_delta", "partial_json": piece})
        if part.done:
            yield self._stop_block(index)


def _at(index: int | None) -> dict[str, Any]:
    return {} if index is None else {"index": index}


def _lenient_object(arguments: str) -> Any:
    """Broken scripted arguments stay text where the API would have an object."""
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
