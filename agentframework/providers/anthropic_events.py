"""The events of an Anthropic Messages stream, folded into chunks and one reply.

Source: https://platform.claude.com/docs/en/build-with-claude/streaming. Unknown blocks and deltas are kept, blocks
without an index (compatible servers) belong to the one that is open.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentframework.errors import StreamInterruptedError
from agentframework.messages import AssistantMessage, Usage
from agentframework.providers.accumulate import (
    CallSlot,
    OpaqueSlot,
    ReplyBuilder,
    TextSlot,
    ThinkingSlot,
    estimated_usage,
)
from agentframework.providers.anthropic_wire import BESIDE_TEXT, ORIGIN
from agentframework.providers.failures import Source, from_event
from agentframework.providers.protocol import Chunk, TextChunk, ThinkingChunk, ToolCallChunk
from agentframework.providers.wire_json import encode

_STOP_REASONS = {"model_context_window_exceeded": "max_tokens"}
_CALL_FIELDS = {"type", "id", "name", "input"}
_TEXT_FIELDS = {"type", "text"}
_THINKING_FIELDS = {"type", "thinking", "signature"}

Event = Mapping[str, Any]
Chunks = Sequence[Chunk]


class AnthropicReply:
    """One reply under way."""

    __slots__ = ("_blocks", "_builder", "_current", "_request_bytes", "_source", "_stop_reason", "_usage", "ended")

    def __init__(self, source: Source, request_bytes: int, taken: Callable[[], set[str]]) -> None:
        self.ended = False
        self._builder = ReplyBuilder(taken)
        self._blocks = self._builder.slots
        self._current: object = None
        self._request_bytes = request_bytes
        self._source = source
        self._stop_reason: str | None = None
        self._usage: dict[str, Any] = {}

    @property
    def finished(self) -> bool:
        """Whether the API said that the reply is complete."""
        return self.ended

    def feed(self, event: Event) -> Chunks:
        """Chunks of one event. Raises a `ProviderError` for an error event."""
        kind = event.get("type")
        if kind == "content_block_delta":
            return self._delta(event.get("index", self._current), event["delta"])
        if kind == "content_block_start":
            return self._start(event)
        if kind == "content_block_stop":
            self._stop(event.get("index", self._current))
        elif kind == "message_start":
            self._count(event["message"].get("usage"))
        elif kind == "message_delta":
            self._stop_reason = event["delta"].get("stop_reason") or self._stop_reason
            self._count(event.get("usage"))
        elif kind == "message_stop":
            self.ended = True
        elif kind == "error" or "error" in event:
            raise from_event(self._source, event)
        return ()

    def end_marker(self) -> None:
        """``[DONE]`` means nothing here."""

    def message(self) -> AssistantMessage:
        """The whole reply. Raises `StreamInterruptedError` unless the stream said that it is complete."""
        if not self.ended:
            raise StreamInterruptedError(f"{self._source.host} ended the stream before the reply was complete")
        reason = self._stop_reason or "end_turn"
        reason = _STOP_REASONS.get(reason, reason)
        return self._builder.message(ORIGIN, self._source.model, reason, self._total_usage())

    # -- blocks ---------------------------------------------------------------------------------------------

    def _start(self, event: Event) -> Chunks:
        block: dict[str, Any] = event["content_block"]
        key = self._current = event.get("index", len(self._blocks))
        kind = block.get("type")
        if kind == "text":
            slot = self._builder.open(key, TextSlot())
            beside = {name: value for name, value in block.items() if name not in _TEXT_FIELDS and value}
            if beside:
                self._beside(key).update(beside)
            return self._shown_text(slot, block.get("text") or "")
        if kind == "thinking":
            slot = self._builder.open(key, ThinkingSlot(signature=block.get("signature") or None))
            if not _THINKING_FIELDS.issuperset(block):
                slot.data = block
            return self._shown_thinking(slot, block.get("thinking") or "")
        if kind == "redacted_thinking":
            self._builder.open(key, ThinkingSlot(data=block))
        elif kind == "tool_use":
            return self._start_call(key, block)
        else:
            self._builder.open(key, OpaqueSlot(block))
        return ()

    def _start_call(self, key: object, block: dict[str, Any]) -> Chunks:
        slot = self._builder.call(key, block.get("id"), block.get("name") or "")
        slot.extra = {name: value for name, value in block.items() if name not in _CALL_FIELDS}
        whole = block.get("input")
        text = encode(whole).decode() if whole else ""
        if text:
            slot.pieces.append(text)
        return (ToolCallChunk(slot.id, slot.name, text),)

    def _delta(self, key: object, delta: Event) -> Chunks:
        slot = self._blocks.get(key)
        kind = delta["type"]
        if kind == "text_delta" and (slot is None or type(slot) is TextSlot):
            shown = (slot or self._builder.text(key)).add(delta["text"])
            return (TextChunk(shown),) if shown else ()
        if kind == "input_json_delta" and type(slot) is CallSlot:
            piece = delta["partial_json"]
            if not piece:
                return ()
            slot.pieces.append(piece)
            return (ToolCallChunk(slot.id, slot.name, piece),)
        if type(slot) is ThinkingSlot:
            if kind == "thinking_delta":
                return self._shown_thinking(slot, delta["thinking"])
            if kind == "signature_delta":
                slot.signature = (slot.signature or "") + delta["signature"]
        elif type(slot) is OpaqueSlot:
            slot.merge(delta)
        elif kind == "citations_delta" and type(slot) is TextSlot and delta.get("citation"):
            self._beside(key).setdefault("citations", []).append(delta["citation"])
        return ()

    def _beside(self, key: object) -> dict[str, Any]:
        """What the text block ``key`` holds beside its text; it has a part of its own, right after the text."""
        slot = self._blocks.get(("beside", key))
        if type(slot) is not OpaqueSlot:
            slot = self._builder.open(("beside", key), OpaqueSlot({"type": BESIDE_TEXT, "fields": {}}))
        fields: dict[str, Any] = slot.data["fields"]
        return fields

    def _stop(self, key: object) -> None:
        slot = self._blocks.get(key)
        if type(slot) is ThinkingSlot and slot.data is not None and slot.data.get("type") == "thinking":
            slot.data = {**slot.data, "thinking": slot.text, "signature": slot.signature or ""}

    @staticmethod
    def _shown_text(slot: TextSlot, piece: str) -> Chunks:
        shown = slot.add(piece)
        return (TextChunk(shown),) if shown else ()

    @staticmethod
    def _shown_thinking(slot: ThinkingSlot, piece: str) -> Chunks:
        shown = slot.add(piece)
        return (ThinkingChunk(shown),) if shown else ()

    # -- usage ----------------------------------------------------------------------------------------------

    def _count(self, usage: Event | None) -> None:
        """Later counts replace earlier ones; null means no news."""
        self._usage.update((name, value) for name, value in (usage or {}).items() if value is not None)

    def _total_usage(self) -> Usage:
        counts = self._usage
        if not counts:
            return estimated_usage(self._request_bytes, self._builder.characters)
        written, read = counts.get("cache_creation_input_tokens", 0), counts.get("cache_read_input_tokens", 0)
        return Usage(
            counts.get("input_tokens", 0) + written + read,
            counts.get("output_tokens", 0),
            read,
            written,
            (counts.get("output_tokens_details") or {}).get("thinking_tokens", 0),
        )
