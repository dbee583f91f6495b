"""Having a part of a conversation summed up: by the host's function if it gave one, else by the model that answers."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from agentframework._base.abort import AbortSignal
from agentframework._base.ids import short_id
from agentframework.context import ContextOptions
from agentframework.context.compact import summary_problem, summary_prompt
from agentframework.context.host_summary import host_summary
from agentframework.errors import CompactionError, ContextOverflowError
from agentframework.events import Retry
from agentframework.events.base import BaseEvent
from agentframework.events.sink import EventSink
from agentframework.loop.model_call import ModelCaller
from agentframework.loop.turn import Turn
from agentframework.messages import Message, ModelPrice, Usage, user_text
from agentframework.providers.protocol import ModelRequest, Provider

# Characters of the conversation that are shown for each token of the window, and for a second attempt.
_CHARACTERS_PER_TOKEN = (2.0, 0.5)


class Answering(Protocol):
    """Who answers, how much it can hold, and what it is told beside the conversation."""

    system: str
    session_id: str

    def current(self) -> tuple[Provider, str]:
        """The provider and the model."""
        ...

    @property
    def context_window(self) -> int:
        """Tokens."""
        ...


class Summarizer:
    """Makes summaries, and keeps count of what they use."""

    def __init__(
        self,
        options: ContextOptions,
        model: Answering,
        sink: EventSink,
        abandon: Callable[[asyncio.Task[Any]], object],
        prices: Mapping[str, ModelPrice],
    ) -> None:
        self._host = options.summarize if options.strategy == "summarize" else None
        self._model = model
        self._call = ModelCaller(_OnlyRetries(sink), abandon, prices)
        self.spent = Usage()
        self._untold = Usage()

    @property
    def is_of_host(self) -> bool:
        """Whether the host's function makes them."""
        return self._host is not None

    def take_usage(self) -> Usage:
        """What was used since this was last asked."""
        untold, self._untold = self._untold, Usage()
        return untold

    async def __call__(self, messages: Sequence[Message], focus: Sequence[str], abort: AbortSignal) -> str:
        """What ``messages`` amount to. Raises `CompactionError` if it is of no use, `AbortedError`, provider errors."""
        if self._host is not None:
            try:
                summary = await host_summary(self._host, messages, abort)
            except ValueError as error:
                raise CompactionError(str(error)) from error
        else:
            summary = await self._ask(messages, focus, abort)
        abort.check()
        problem = summary_problem(summary, messages)
        if problem is not None:
            raise CompactionError(f"{problem}; the conversation is as it was")
        return summary.strip()

    async def _ask(self, messages: Sequence[Message], focus: Sequence[str], abort: AbortSignal) -> str:
        generous, scant = (round(self._model.context_window * share) for share in _CHARACTERS_PER_TOKEN)
        try:
            return await self._reply(summary_prompt(messages, focus, generous), abort)
        except ContextOverflowError:
            return await self._reply(summary_prompt(messages, focus, scant), abort)

    async def _reply(self, prompt: str, abort: AbortSignal) -> str:
        provider, model = self._model.current()
        turn = Turn(short_id("compact"), short_id("run"), "", abort, lambda _message: None)
        request = ModelRequest(model=model, messages=(user_text(prompt),), session_id=self._model.session_id)
        try:
            return (await self._call(provider, request, turn)).text
        finally:
            self.spent = self.spent + turn.usage
            self._untold = self._untold + turn.usage


class _OnlyRetries(EventSink):
    """What is said of a conversation is no part of it: nobody hears the summary arrive, but that it takes longer."""

    __slots__ = ("_sink",)

    def __init__(self, sink: EventSink) -> None:
        self._sink = sink

    def emit(self, event_class: type[BaseEvent], *fields: Any, **named: Any) -> None:
        """Pass on retries."""
        if event_class is Retry:
            self._sink.emit(event_class, *fields, **named)
