"""The chunks of an OpenAI Chat Completions stream, folded into ours and one reply.

Source: https://platform.openai.com/docs/api-reference/chat-streaming, and what compatible servers make of it:
missing, null and repeated ids and indexes, whole calls in one delta, arguments as objects, reasoning under two
names, usage on any chunk or none, ``finish_reason`` "stop" for tool calls.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentframework.errors import StreamInterruptedError
from agentframework.messages import AssistantMessage, Usage
from agentframework.providers.accumulate import CallSlot, OpaqueSlot, ReplyBuilder, TextSlot, estimated_usage
from agentframework.providers.failures import Source, from_event
from agentframework.providers.openai_chat import BESIDE, ORIGIN
from agentframework.providers.protocol import Chunk, TextChunk, ThinkingChunk, ToolCallChunk
from agentframework.providers.wire_json import encode, parse_arguments

_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}
_REASONING_FIELDS = ("reasoning_content", "reasoning")
_GROWING = {"text", "summary", "data"}
_CALL_FIELDS = {"index", "id", "type", "function"}

Event = Mapping[str, Any]


class ChatReply:
    """One reply under way."""

    __slots__ = (
        "_builder",
        "_calls",
        "_extra_content",
        "_last_call",
        "_request_bytes",
        "_source",
        "_stop_reason",
        "_text",
        "_usage",
        "ended",
    )

    def __init__(self, source: Source, request_bytes: int, taken: Callable[[], set[str]]) -> None:
        self.ended = False
        self._builder = ReplyBuilder(taken)
        self._extra_content: object = None
        self._calls: dict[Any, CallSlot] = {}
        self._last_call: CallSlot | None = None
        self._request_bytes = request_bytes
        self._source = source
        self._stop_reason: str | None = None
        self._text: TextSlot | None = None
        self._usage: Event | None = None

    @property
    def finished(self) -> bool:
        """Whether the server said that the reply is complete."""
        return self._stop_reason is not None

    def feed(self, event: Event) -> Sequence[Chunk]:
        """Our chunks of one of theirs. Raises a `ProviderError` for an error object."""
        if event.get("error"):
            raise from_event(self._source, event)
        if usage := event.get("usage"):
            self._usage = usage
        choices = event.get("choices")
        if not choices:
            return ()
        choice = choices[0]
        delta = choice.get("delta") or {}
        content = delta.get("content")
        if reason := choice.get("finish_reason"):
            self._finish(reason)
        if type(content) is str and content and len(delta) == 1:
            return self._shown_text(content)
        return self._mixed(delta, content)

    def end_marker(self) -> None:
        """``[DONE]``: nothing follows."""
        self.ended = True

    def message(self) -> AssistantMessage:
        """The whole reply. Raises `StreamInterruptedError` unless the server said that it is complete."""
        if self._stop_reason is None:
            raise StreamInterruptedError(f"{self._source.host} ended the stream before the reply was complete")
        if self._extra_content is not None:
            self._builder.open("beside", OpaqueSlot({"type": BESIDE, "fields": {"extra_content": self._extra_content}}))
        return self._builder.message(ORIGIN, self._source.model, self._stop_reason, self._total_usage())

    # -- deltas ---------------------------------------------------------------------------------------------

    def _finish(self, reason: str) -> None:
        if reason == "error":
            raise from_event(self._source, {"message": "the reply ended with finish_reason error"})
        if self._stop_reason != "refusal":
            self._stop_reason = _STOP_REASONS.get(reason, "end_turn")

    def _shown_text(self, piece: str) -> Sequence[Chunk]:
        slot = self._text
        if slot is None:
            slot = self._text = self._builder.text("text")
        shown = slot.add(piece)
        return (TextChunk(shown),) if shown else ()

    def _mixed(self, delta: Event, content: object) -> list[Chunk]:
        chunks: list[Chunk] = []
        for name in _REASONING_FIELDS:
            piece = delta.get(name)
            if isinstance(piece, str) and piece:
                slot = self._builder.thinking("thinking")
                slot.data = slot.data or {"field": name}
                if slot.data["field"] == name and (shown := slot.add(piece)):
                    chunks.append(ThinkingChunk(shown))
        if delta.get("reasoning_details"):
            self._reasoning_details(delta["reasoning_details"])
        if delta.get("extra_content") is not None:
            self._extra_content = delta["extra_content"]
        for piece in (_text_of(content), delta.get("refusal")):
            if isinstance(piece, str) and piece:
                chunks += self._shown_text(piece)
        if delta.get("refusal"):
            self._stop_reason = "refusal"
        for call in delta.get("tool_calls") or ():
            chunks += self._call_piece(call)
        return chunks

    def _reasoning_details(self, details: object) -> None:
        """OpenRouter's reasoning items: pieces of one item grow by text, the whole list goes back as it came."""
        slot = self._builder.thinking("thinking")
        slot.data = slot.data or {"field": "reasoning"}
        kept: list[dict[str, Any]] = slot.data.setdefault("reasoning_details", [])
        for item in details if isinstance(details, list) else ():
            last = kept[-1] if kept else {}
            if not isinstance(item, dict):
                continue
            if _identity(item) != _identity(last):
                kept.append(item)
                continue
            for name, value in item.items():
                grows = name in _GROWING and isinstance(value, str) and isinstance(last.get(name), str)
                if value is not None or name not in last:
                    last[name] = last[name] + value if grows else value

    def _call_piece(self, call: Event) -> Sequence[Chunk]:
        function = call.get("function") or {}
        identity, name, arguments = call.get("id"), function.get("name"), function.get("arguments")
        if arguments is None:
            arguments = ""
        elif not isinstance(arguments, str):
            arguments = encode(arguments).decode()
        slot = self._slot_of(call.get("index"), identity, name, arguments)
        if name and not slot.name:
            slot.name = name
        slot.extra.update((key, value) for key, value in call.items() if key not in _CALL_FIELDS and value is not None)
        if arguments:
            slot.pieces.append(arguments)
        elif not name:
            return ()
        return (ToolCallChunk(slot.id, slot.name, arguments),)

    def _slot_of(self, index: object, identity: object, name: object, arguments: str) -> CallSlot:
        """The call that a delta belongs to.

        By index, else by id, else the last one. Whatever that gives, another id or another name begins a new
        call, and so does a name with arguments after a call whose arguments are complete: some servers give
        every parallel call the same index.
        """
        identity = None if identity in (None, "") else str(identity)
        found = self._last_call
        if index is not None:
            found = self._calls.get(index)
        elif identity is not None:
            found = next((slot for slot in self._calls.values() if slot.vendor_id == identity), None)
        if found is None or _is_another(found, identity, name, arguments):
            key = object() if index is None else index
            found = self._calls[key] = self._builder.call(("call", key), identity, "")
        elif found.vendor_id is None:
            found.vendor_id = identity
        self._last_call = found
        return found

    # -- usage ----------------------------------------------------------------------------------------------

    def _total_usage(self) -> Usage:
        counts = self._usage
        if counts is None:
            return estimated_usage(self._request_bytes, self._builder.characters)
        prompt = counts.get("prompt_tokens_details") or {}
        completion = counts.get("completion_tokens_details") or {}
        return Usage(
            counts.get("prompt_tokens") or 0,
            counts.get("completion_tokens") or 0,
            prompt.get("cached_tokens") or 0,
            prompt.get("cache_write_tokens") or 0,
            completion.get("reasoning_tokens") or 0,
        )


def _identity(item: Event) -> tuple[object, ...]:
    return item.get("type"), item.get("index"), item.get("format")


def _is_another(slot: CallSlot, identity: str | None, name: object, arguments: str) -> bool:
    if identity is not None and slot.vendor_id is not None and identity != slot.vendor_id:
        return True
    if not name or not slot.name:
        return False
    if name != slot.name:
        return True
    text = slot.arguments
    return bool(arguments.strip() and text) and parse_arguments(text)[1] is None


def _text_of(content: object) -> object:
    """Text of a content that comes as a list of parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content if isinstance(part, Mapping))
    return content
