"""`FallbackProvider`: several providers in order of preference; the next one answers where the one before cannot.

A request moves on only while nothing of a reply has been shown, and only for faults that pass (overload, limits of
rate, connections): a refused key or a bad request is raised as it is, because another provider would hide it.
Nothing is remembered between requests: a new turn begins with the first provider again, and the rest of a turn
stays with whoever answered last, which the conversation itself says.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from agentframework.errors import ConfigurationError, ProviderError
from agentframework.messages import AssistantMessage, Message, UserMessage
from agentframework.providers.definitions import INHERIT
from agentframework.providers.protocol import (
    Chunk,
    ModelLimits,
    ModelRequest,
    Provider,
    RawChunk,
    RetryChunk,
)


class FallbackProvider:
    """Answers with the first of ``providers`` that can.

    An entry is a provider, or ``(provider, model)`` for one that is to be asked for a certain model. The model of a
    request is meant for the first provider; the others get their own default, unless it is an alias such as
    ``opus``, which each resolves itself, or another model of the same API. Each has its own retries first; going
    over is announced as a retry whose reason names the new provider and model. `aclose` closes them all.

    Raises `ConfigurationError` for fewer than two entries.
    """

    def __init__(self, providers: Sequence[Provider | tuple[Provider, str]]) -> None:
        entries: list[tuple[Provider, str | None]] = [
            entry if isinstance(entry, tuple) else (entry, None) for entry in providers
        ]
        if len(entries) < 2:
            raise ConfigurationError(
                "FallbackProvider needs two providers or more: one that answers and those that stand in for it",
                details={"field": "providers"},
            )
        self._entries = entries
        self._first = entries[0][0]

    def __repr__(self) -> str:
        return f"FallbackProvider({[provider.name for provider, _ in self._entries]})"

    @property
    def name(self) -> str:
        """The first provider's name. Replies bear the name of whoever gave them."""
        return self._first.name

    @property
    def default_model(self) -> str:
        """The first provider's model."""
        return self._entries[0][1] or self._first.default_model

    def resolve_model(self, model: str) -> str:
        """Aliases stay as they are, since each provider has its own meaning for them."""
        return self.default_model if model == INHERIT else model

    def limits(self, model: str) -> ModelLimits:
        """The smallest window of all: a conversation has to fit whoever answers."""
        all_limits = [provider.limits(self._model_of(at, model)) for at, (provider, _) in enumerate(self._entries)]
        outputs = [limits.max_output_tokens for limits in all_limits if limits.max_output_tokens is not None]
        return ModelLimits(min(limits.context_window for limits in all_limits), min(outputs, default=None))

    async def start(self) -> None:
        """Start the first provider; the others start when they are needed."""
        await self._first.start()

    async def aclose(self) -> None:
        """Close all of them, even if one fails to close."""
        failed: Exception | None = None
        for provider, _ in self._entries:
            try:
                await provider.aclose()
            except Exception as error:
                failed = failed or error
        if failed is not None:
            raise failed

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Answer. Raises the error of the last provider that was asked; its ``details`` list the others' in
        ``fallback_from``."""
        failures: list[ProviderError] = []
        attempt = 1
        order = self._order(request)
        for place, at in enumerate(order):
            provider, model = self._entries[at][0], self._model_of(at, request.model)
            shown = False
            try:
                async with aclosing(_generator(provider, replace(request, model=model))) as chunks:
                    async for chunk in chunks:
                        if type(chunk) is RetryChunk:
                            attempt += 1
                            chunk = replace(chunk, attempt=attempt)
                        else:
                            shown = shown or type(chunk) is not RawChunk
                        yield chunk
                return
            except ProviderError as error:
                if shown or not error.retryable or place == len(order) - 1:
                    if failures:
                        error.details["fallback_from"] = [failure.message for failure in failures]
                    raise
                failures.append(error)
            attempt += 1
            other = order[place + 1]
            who = f"{self._entries[other][0].name}, model {self._model_of(other, request.model)}"
            yield RetryChunk(attempt, 0.0, f"{failures[-1].message} Going over to {who}.")

    def _model_of(self, at: int, model: str) -> str:
        """What the provider at ``at`` is asked for when a request says ``model``."""
        provider, own = self._entries[at]
        if at == 0:
            return provider.resolve_model(model)
        if own is not None:
            return provider.resolve_model(own)
        resolved = provider.resolve_model(model)
        same_names = provider.name == self._first.name and model != self.default_model
        return resolved if resolved != model or same_names else provider.default_model

    def _order(self, request: ModelRequest) -> list[int]:
        """Whom to ask, in order. Inside a turn whoever gave the last reply comes first."""
        order = list(range(len(self._entries)))
        last = _last_reply_of_turn(request.messages)
        if last is None:
            return order
        for at in order:
            if (last.origin, last.model) == (self._entries[at][0].name, self._model_of(at, request.model)):
                return [at, *(other for other in order if other != at)]
        return order


def _generator(provider: Provider, request: ModelRequest) -> Any:
    """The provider's answer; iterators that are no generators are made ones, so that they can be closed."""
    chunks = provider.stream(request)
    return chunks if hasattr(chunks, "aclose") else _iterated(chunks)


async def _iterated(chunks: Any) -> AsyncGenerator[Chunk]:
    async for chunk in chunks:
        yield chunk


def _last_reply_of_turn(messages: Sequence[Message]) -> AssistantMessage | None:
    """The newest reply, unless the user has spoken since."""
    for message in reversed(messages):
        if isinstance(message, UserMessage):
            return None
        if isinstance(message, AssistantMessage):
            return message
    return None
