"""One model request: chunks become events, and what was said survives however the stream ends."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agentframework._base.abort import AbortedError, WorkCancelledError, run_abortable
from agentframework._base.pacing import pacer
from agentframework.errors import StreamInterruptedError
from agentframework.events import (
    ModelCompleted,
    RawModelEvent,
    Retry,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
)
from agentframework.events.sink import EventSink
from agentframework.loop.turn import Turn
from agentframework.messages import AssistantMessage, ModelPrice, TextPart, Usage
from agentframework.providers.protocol import (
    ModelReply,
    ModelRequest,
    Provider,
    RawChunk,
    RetryChunk,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)


@dataclass(frozen=True, slots=True)
class ModelCaller:
    """Makes the requests of one turn loop."""

    sink: EventSink
    abandon: Callable[[asyncio.Task[Any]], object]
    prices: Mapping[str, ModelPrice]

    def has_price(self, model: str) -> bool:
        """Whether it is known what the model costs."""
        return model in self.prices

    async def __call__(self, provider: Provider, request: ModelRequest, turn: Turn) -> AssistantMessage:
        """The whole reply. Raises `AbortedError` on abort and the provider's error on failure.

        Text that was shown before either is recorded as an interrupted reply.
        """
        turn.live_text = []
        try:
            reply = await run_abortable(
                self._consume(provider, request, turn), turn.abort, abandon=self.abandon
            )
        except WorkCancelledError as error:
            self._keep_partial(provider, request, turn)
            raise StreamInterruptedError(f"{provider.name} broke off its answer by itself") from error
        except BaseException:
            self._keep_partial(provider, request, turn)
            raise
        price = self.prices.get(reply.model) or self.prices.get(request.model)
        if price is not None and reply.usage is not None:
            reply = replace(reply, usage=price.applied(reply.usage))
        usage = reply.usage or Usage()
        turn.usage = turn.usage + usage
        self.sink.emit(ModelCompleted, reply, reply.stop_reason, usage)
        return reply

    async def _consume(self, provider: Provider, request: ModelRequest, turn: Turn) -> AssistantMessage:
        emit, live, abort = self.sink.emit, turn.live_text, turn.abort
        pace = pacer()
        chunks: Any = provider.stream(request)  # told apart by identity of class, which no checker follows
        try:
            async for chunk in chunks:
                kind = type(chunk)
                if kind is TextChunk:
                    live.append(chunk.text)
                    emit(TextDelta, chunk.text)
                elif kind is ThinkingChunk:
                    emit(ThinkingDelta, chunk.text)
                elif kind is ToolCallChunk:
                    emit(ToolCallDelta, chunk.tool_use_id, chunk.name, chunk.partial_json)
                elif kind is ModelReply:
                    return chunk.message
                elif kind is RawChunk:
                    emit(RawModelEvent, chunk.data)
                elif kind is RetryChunk:
                    emit(Retry, chunk.attempt, chunk.delay_s, chunk.reason)
                if abort.aborted:
                    raise AbortedError(abort.reason or "aborted")
                if pace.due:
                    await pace.breathe()
        finally:
            # Generators have one, other async iterators need not.
            if (close := getattr(chunks, "aclose", None)) is not None:
                await close()
        raise StreamInterruptedError(f"{provider.name} ended its answer without a reply")

    @staticmethod
    def _keep_partial(provider: Provider, request: ModelRequest, turn: Turn) -> None:
        text = "".join(turn.live_text)
        if text.strip():
            turn.replies.append(text)
            turn.record(
                AssistantMessage(
                    (TextPart(text),), request.model, provider.name, "interrupted", state="interrupted"
                )
            )
