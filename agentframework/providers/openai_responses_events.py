"""The events of an OpenAI Responses stream, folded into chunks and one reply.

Source: https://platform.openai.com/docs/api-reference/responses-streaming. A finished item is taken from its
``done`` event, or from the final response where a server sends none; deltas are for showing.
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
from agentframework.providers.failures import Source, from_event
from agentframework.providers.openai_responses import HEADER, ORIGIN
from agentframework.providers.protocol import Chunk, TextChunk, ThinkingChunk, ToolCallChunk
from agentframework.providers.wire_json import encode

_CALL_FIELDS = {"type", "call_id", "name", "arguments"}
_MESSAGE_FIELDS = {"type", "id", "role", "status", "content"}
_TEXT_DELTAS = {"response.output_text.delta", "response.refusal.delta"}
_REASONING_DELTAS = {"response.reasoning_summary_text.delta", "response.reasoning_text.delta"}

Event = Mapping[str, Any]
Chunks = Sequence[Chunk]


class ResponsesReply:
    """One reply under way. Slots are keyed by output index and, inside messages and reasoning, by part index."""

    __slots__ = ("_builder", "_done", "_final", "_refused", "_request_bytes", "_slots", "_source", "ended")

    def __init__(self, source: Source, request_bytes: int, taken: Callable[[], set[str]]) -> None:
        self.ended = False
        self._builder = ReplyBuilder(taken)
        self._slots = self._builder.slots
        self._done: set[object] = set()
        self._final: Event = {}
        self._refused = False
        self._request_bytes = request_bytes
        self._source = source

    @property
    def finished(self) -> bool:
        """Whether the API said that the reply is complete."""
        return self.ended

    def feed(self, event: Event) -> Chunks:
        """Chunks of one event. Raises a `ProviderError` for ``error`` and ``response.failed``."""
        kind = event.get("type")
        if kind in _TEXT_DELTAS:
            self._refused = self._refused or kind == "response.refusal.delta"
            return self._text(_key(event), event.get("content_index") or 0, event["delta"])
        if kind in _REASONING_DELTAS:
            return self._reasoning(event)
        if kind == "response.function_call_arguments.delta":
            return self._arguments(event)
        if kind == "response.output_item.added":
            return self._added(_key(event), event["item"])
        if kind == "response.output_item.done":
            return self._item_done(_key(event), event["item"])
        if kind in ("response.completed", "response.incomplete"):
            return self._end(event["response"])
        if kind == "response.failed":
            raise from_event(self._source, event["response"].get("error"))
        if kind == "error" or (kind is None and event.get("error")):
            raise from_event(self._source, event)
        return ()

    def end_marker(self) -> None:
        """``[DONE]`` means nothing here."""

    def message(self) -> AssistantMessage:
        """The whole reply. Raises `StreamInterruptedError` unless the API said that it is complete."""
        if not self.ended:
            raise StreamInterruptedError(f"{self._source.host} ended the stream before the reply was complete")
        return self._builder.message(ORIGIN, self._source.model, self._stop_reason(), self._total_usage())

    # -- pieces ---------------------------------------------------------------------------------------------

    def _text(self, key: object, part: object, piece: str) -> Chunks:
        slot = self._slots.get((key, part))
        if type(slot) is not TextSlot:
            if ("header", key) not in self._slots:
                self._builder.open(("header", key), OpaqueSlot({}))
            slot = self._builder.open((key, part), TextSlot())
        shown = slot.add(piece)
        return (TextChunk(shown),) if shown else ()

    def _reasoning(self, event: Event) -> Chunks:
        slot = self._builder.thinking(_key(event))
        section = ("section", _key(event)), event.get("summary_index", event.get("content_index"))
        piece = event["delta"]
        if slot.pieces and section not in self._done:
            piece = "\n\n" + piece
        self._done.add(section)
        shown = slot.add(piece)
        return (ThinkingChunk(shown),) if shown else ()

    def _arguments(self, event: Event) -> Chunks:
        slot = self._slots.get(_key(event))
        piece = event["delta"]
        if type(slot) is not CallSlot or not piece:
            return ()
        slot.pieces.append(piece)
        return (ToolCallChunk(slot.id, slot.name, piece),)

    # -- items ----------------------------------------------------------------------------------------------

    def _added(self, key: object, item: Event) -> Chunks:
        kind = item.get("type")
        if kind == "function_call":
            slot = self._builder.call(key, item.get("call_id"), item.get("name") or "")
            text = item.get("arguments") or ""
            slot.pieces += [text] if text else []
            return (ToolCallChunk(slot.id, slot.name, text),)
        if kind == "reasoning":
            self._builder.open(key, ThinkingSlot())
        elif kind == "message":
            self._builder.open(("header", key), OpaqueSlot({}))
        else:
            self._builder.open(key, OpaqueSlot({}))
        return ()

    def _item_done(self, key: object, item: dict[str, Any]) -> Chunks:
        self._done |= {key, item.get("id", key)}
        kind = item.get("type")
        if kind == "message":
            return self._message_done(key, item)
        chunks: Chunks = ()
        if key not in self._slots:
            chunks = self._added(key, {**item, "arguments": ""} if kind == "function_call" else item)
        slot = self._slots[key]
        if type(slot) is CallSlot:
            arguments = item.get("arguments")
            slot.name = item.get("name") or slot.name
            slot.pieces = [arguments if isinstance(arguments, str) else encode(arguments or {}).decode()]
            slot.extra = {name: item[name] for name in item if name not in _CALL_FIELDS and item[name] is not None}
        elif type(slot) is ThinkingSlot:
            if not slot.pieces:
                slot.add(_joined(item.get("summary")) or _joined(item.get("content")))
            slot.data = {name: value for name, value in item.items() if value is not None}
        elif type(slot) is OpaqueSlot:
            slot.data = item
        return chunks

    def _message_done(self, key: object, item: Event) -> Chunks:
        chunks: list[Chunk] = []
        for number, part in enumerate(item.get("content") or ()):
            text = part.get("text") or part.get("refusal") or ""
            self._refused = self._refused or part.get("type") == "refusal"
            shown = self._slots.get((key, number))
            if type(shown) is not TextSlot or not shown.pieces:
                chunks += self._text(key, number, text)
        beside = {name: item[name] for name in item if name not in _MESSAGE_FIELDS and item[name] is not None}
        header = self._slots.get(("header", key))
        if beside and type(header) is OpaqueSlot:
            header.data = {"type": HEADER, **beside}
        return chunks

    def _end(self, response: Event) -> Chunks:
        self.ended = True
        self._final = response
        chunks: list[Chunk] = []
        for index, item in enumerate(response.get("output") or ()):
            identity = item.get("id", index)
            if not self._done & {index, identity}:
                begun_by_id = identity in self._slots or ("header", identity) in self._slots
                chunks += self._item_done(identity if begun_by_id else index, item)
        return chunks

    # -- the end --------------------------------------------------------------------------------------------

    def _stop_reason(self) -> str:
        if self._final.get("status") == "incomplete":
            reason = (self._final.get("incomplete_details") or {}).get("reason")
            return "refusal" if reason == "content_filter" else "max_tokens"
        return "refusal" if self._refused else "end_turn"

    def _total_usage(self) -> Usage:
        counts = self._final.get("usage")
        if not counts:
            return estimated_usage(self._request_bytes, self._builder.characters)
        read = counts.get("input_tokens_details") or {}
        written = counts.get("output_tokens_details") or {}
        return Usage(
            counts.get("input_tokens") or 0,
            counts.get("output_tokens") or 0,
            read.get("cached_tokens") or 0,
            read.get("cache_write_tokens") or 0,
            written.get("reasoning_tokens") or 0,
        )


def _key(event: Event) -> object:
    """Output index, or the item's id for servers that leave the index out."""
    index = event.get("output_index")
    if index is not None:
        return index
    return event.get("item_id") or (event.get("item") or {}).get("id")


def _joined(parts: Any) -> str:
    return "\n\n".join(part.get("text") or "" for part in parts or () if isinstance(part, Mapping))
