"""Renders a script as OpenAI Chat Completions: chunks and the whole completion.

Chunk order as published at https://platform.openai.com/docs/api-reference/chat-streaming. Thinking goes out
as `reasoning_content`, the field that compatible servers use; OpenAI's own endpoint has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .json_text import dump, quoted
from .script import Call, StreamError, Text, Thinking
from .wire import Exchange, Wire, chosen_index, optional

__all__ = ["ChatWire"]

_CREATED = 1_760_000_000
_FINISH_REASONS = {"end_turn": "stop", "tool_use": "tool_calls", "max_tokens": "length", "failed": "stop"}


class ChatWire(Wire):
    def __init__(self, exchange: Exchange) -> None:
        super().__init__(exchange)
        self._texts: list[str] | None = None
        self._thoughts: list[str] = []
        self._tool_calls: list[dict[str, Any]] = []
        options = exchange.body.get("stream_options") or {}
        self._wants_usage = bool(options.get("include_usage"))
        head = dump(self._envelope("chat.completion.chunk"))[:-1]
        self._before = b"data: " + head + b',"choices":[{"index":0,"delta":'
        self._usage_field = b',"usage":null' if self._wants_usage else b""
        self._after = b',"logprobs":null,"finish_reason":null}]' + self._usage_field + b"}\n\n"

    # -- envelope ----------------------------------------------------------------------------------

    def start(self) -> Iterator[bytes]:
        starts_with_text = any(isinstance(part, Text) for part in self.exchange.reply.parts)
        yield self._chunk({"role": "assistant", "content": "" if starts_with_text else None, "refusal": None})

    def finish(self) -> Iterator[bytes]:
        finish = b',"logprobs":null,"finish_reason":' + quoted(self._finish_reason()) + b"}]"
        yield self._before + b"{}" + finish + self._usage_field + b"}\n\n"
        usage = self._usage()
        if self._wants_usage and usage:
            yield self.frame({**self._envelope("chat.completion.chunk"), "choices": [], "usage": usage})
        yield b"data: [DONE]\n\n"

    def stream_error(self, part: StreamError) -> bytes:
        detail = {"message": part.message, "type": part.type, "param": None, "code": None}
        return self.frame({"error": detail})

    def frame(self, value: Mapping[str, Any]) -> bytes:
        return b"data: " + dump(value) + b"\n\n"

    def whole(self) -> dict[str, Any]:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": None if self._texts is None else "".join(self._texts),
            "refusal": None,
        }
        if self._thoughts:
            message["reasoning_content"] = "".join(self._thoughts)
        if self._tool_calls:
            message["tool_calls"] = self._tool_calls
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._finish_reason()}
        usage = self._usage()
        return {
            **self._envelope("chat.completion"),
            "choices": [choice],
            **({"usage": usage} if usage else {}),
        }

    def _envelope(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self.exchange.key}",
            "object": kind,
            "created": _CREATED,
            "model": self.exchange.model,
            "service_tier": "default",
            "system_fingerprint": None,
        }

    def _chunk(self, delta: Mapping[str, Any]) -> bytes:
        return self._before + dump(delta) + self._after

    def _finish_reason(self) -> str:
        reason = self.exchange.reply.finish_reason or ("tool_calls" if self.calls else "stop")
        return _FINISH_REASONS.get(reason, reason)

    def _usage(self) -> Mapping[str, Any]:
        override = self.usage_override()
        if override is not None:
            return override
        usage = self.usage()
        prompt = usage.input_tokens + usage.cache_read + usage.cache_write
        return {
            "prompt_tokens": prompt,
            "completion_tokens": usage.output_tokens,
            "total_tokens": prompt + usage.output_tokens,
            "prompt_tokens_details": {"cached_tokens": usage.cache_read, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": usage.reasoning, "audio_tokens": 0},
        }

    # -- deltas ------------------------------------------------------------------------------------

    def _text(self, part: Text) -> Iterator[bytes]:
        texts = self._texts = [] if self._texts is None else self._texts
        before, after = self._before + b'{"content":', b"}" + self._after
        for piece in part.pieces:
            texts.append(self.count(piece))
            yield before + quoted(piece) + after

    def _thinking(self, part: Thinking) -> Iterator[bytes]:
        for piece in part.pieces:
            self._thoughts.append(self.count(piece))
            yield self._chunk({"reasoning_content": piece})
        if self._thoughts:
            self.issued.reasoning_texts.add("".join(self._thoughts))

    def _call(self, part: Call, call_id: str | None) -> Iterator[bytes]:
        index = optional("index", chosen_index(part, len(self._tool_calls)))
        identity = optional("id", call_id)
        function = {"name": part.name, "arguments": self.count(part.arguments)}
        self._tool_calls.append({**identity, "type": "function", "function": function})
        opening = {"name": part.name, "arguments": "" if part.pieces else part.arguments}
        yield self._chunk({"tool_calls": [{**index, **identity, "type": "function", "function": opening}]})
        for piece in part.pieces:
            yield self._chunk({"tool_calls": [{**index, "function": {"arguments": piece}}]})
