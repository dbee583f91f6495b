"""A provider over HTTP: what Anthropic's and OpenAI's have in common.

Puts together an API's pure functions (encode a request, fold a reply), the vendor's client, and the repetition
of failed requests.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from agentframework.providers.acceptable import has_pictures
from agentframework.providers.api_client import ApiClient, ClientSettings, ReplyDecoder, ReplyFold
from agentframework.providers.definitions import INHERIT, ModelFamily, limits_of
from agentframework.providers.failures import Source
from agentframework.providers.pairing import call_ids
from agentframework.providers.protocol import Chunk, ModelLimits, ModelRequest, RetryPolicy
from agentframework.providers.steady import steady

FoldFactory = Callable[[Source, int, Callable[[], set[str]]], ReplyFold]


@dataclass(frozen=True, slots=True)
class WireApi:
    """One API. ``name`` marks the replies it gave; ``fold`` gets the source, the body's size, the ids in use."""

    name: str
    path: str
    encode: Callable[[ModelRequest], bytes]
    fold: FoldFactory
    families: Sequence[ModelFamily]
    aliases: Mapping[str, str]
    build_client: Callable[[ClientSettings, Any], Any]


class ApiProvider:
    """Implements `agentframework.providers.protocol.Provider` for a `WireApi`."""

    def __init__(
        self, api: WireApi, settings: ClientSettings, retry: RetryPolicy, default_model: str, *, no_think: bool = False
    ) -> None:
        self._api = api
        self._endpoint = settings.endpoint
        self._no_think = no_think
        self._client = ApiClient(settings, api.build_client)
        self._retry = retry
        self._default_model = default_model

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._endpoint.base_url!r}, default_model={self._default_model!r})"

    @property
    def name(self) -> str:
        """The API that answers; also the ``origin`` of its replies."""
        return self._api.name

    @property
    def default_model(self) -> str:
        """The model used when none is asked for."""
        return self._default_model

    def resolve_model(self, model: str) -> str:
        """Expand ``opus``, ``sonnet``, ``haiku`` or ``inherit``; any other name is returned as it is."""
        return self._default_model if model == INHERIT else self._api.aliases.get(model, model)

    def limits(self, model: str) -> ModelLimits:
        """Window and output limit of a model; defaults for unknown ones."""
        return limits_of(self._api.families, self.resolve_model(model))

    async def start(self) -> None:
        """Import the SDK and build its client in a thread. Raises `ConfigurationError` if that fails."""
        await self._client.start()

    def stream(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        """Answer, as `agentframework.providers.protocol.Provider.stream`."""
        model, no_think = self.resolve_model(request.model), self._no_think or request.no_think
        if model != request.model or no_think != request.no_think:
            request = replace(request, model=model, no_think=no_think)
        return steady(partial(self._attempt, request), self._retry)

    async def aclose(self) -> None:
        """Close the connections of the running event loop. The provider may be used again."""
        await self._client.aclose()

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[Chunk]:
        return self._exchange(request, await self._encoded(request), self._api.fold)

    async def _encoded(self, request: ModelRequest) -> bytes:
        """The body. New images are decoded and scaled in a thread."""
        for message in reversed(request.messages):
            if message.has_wire(self._api.name):
                break
            if has_pictures(message):
                return await asyncio.to_thread(self._api.encode, request)
        return self._api.encode(request)

    def _exchange(self, request: ModelRequest, body: bytes, make_fold: FoldFactory) -> AsyncGenerator[Chunk]:
        source = self._endpoint.source(self._api.path, request.model)
        fold = make_fold(source, len(body), partial(call_ids, request.messages))
        decoder = ReplyDecoder(fold, source, raw_events=request.raw_events)
        return self._client.exchange(source, self._api.path, body, decoder)
