"""The seam between the loop and whoever answers: one verb, `Provider.stream`.

A provider turns a `ModelRequest` into an async iterator of chunks that ends with exactly one `ModelReply`, or
raises a `agentframework.errors.ProviderError`. It knows nothing of sessions, tools that run, or permissions.
Cancelling the iteration closes the connection.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from agentframework.messages import AssistantMessage, Message, ToolSpec

DEFAULT_CONTEXT_WINDOW = 200_000


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request. ``effort`` is ``none|minimal|low|medium|high|xhigh|max``; ``response_format`` a JSON schema.

    ``session_id`` is a cache key for providers that route by one; ``raw_events`` asks for `RawChunk`;
    ``no_think`` ends the user's messages in ``/no_think``, by which some open models answer directly.
    """

    model: str
    messages: Sequence[Message]
    system: str = ""
    tools: Sequence[ToolSpec] = ()
    max_output_tokens: int | None = None
    effort: str | None = None
    temperature: float | None = None
    response_schema: Mapping[str, Any] | None = None
    session_id: str | None = None
    raw_events: bool = False
    no_think: bool = False


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of the reply's text."""

    text: str


@dataclass(frozen=True, slots=True)
class ThinkingChunk:
    """A piece of the reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCallChunk:
    """A piece of a tool call's arguments; the call itself arrives whole in the `ModelReply`."""

    tool_use_id: str
    name: str
    partial_json: str


@dataclass(frozen=True, slots=True)
class RawChunk:
    """A vendor event as it came."""

    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class RetryChunk:
    """The request failed before anything was shown and is about to be made again."""

    attempt: int
    delay_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The whole reply; always the last chunk. Stop reasons are Anthropic's words for every provider:
    ``end_turn``, ``tool_use``, ``max_tokens``, ``stop_sequence``, ``refusal``, ``pause_turn``."""

    message: AssistantMessage


Chunk = TextChunk | ThinkingChunk | ToolCallChunk | RawChunk | RetryChunk | ModelReply


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What a model can hold: tokens of context, tokens of output."""

    context_window: int = DEFAULT_CONTEXT_WINDOW
    max_output_tokens: int | None = None


@runtime_checkable
class Provider(Protocol):
    """Who answers. One provider object serves any number of sessions at once."""

    @property
    def name(self) -> str:
        """``anthropic``, ``openai``, …: for messages and for `AssistantMessage.origin`."""
        ...

    @property
    def default_model(self) -> str:
        """The model used when none is asked for."""
        ...

    def resolve_model(self, model: str) -> str:
        """Expand an alias (``opus``, ``sonnet``, ``haiku``, ``inherit``); any other name is returned as it is."""
        ...

    def limits(self, model: str) -> ModelLimits:
        """Window and output limit of a model; defaults for unknown ones."""
        ...

    async def start(self) -> None:
        """Do slow set-up (imports, a local server) ahead of the first request. May be called many times."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Answer. Raises `agentframework.errors.ProviderError` while iterating."""
        ...

    async def aclose(self) -> None:
        """Give up connections. The provider may be started again."""
        ...


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How failed requests are repeated: ``max_attempts`` in all, delays in seconds.

    The delay doubles from ``initial_delay_s`` to ``max_delay_s`` and varies by ``jitter_ratio``. A server's
    ``retry-after`` replaces it; one above ``max_delay_s`` fails at once. ``retryable_operations`` and
    ``retry_non_idempotent`` apply to MCP operations only.
    """

    max_attempts: int = 1
    initial_delay_s: float = 0.25
    max_delay_s: float = 10.0
    jitter_ratio: float = 0.2
    retryable_operations: frozenset[str] | None = None
    retry_non_idempotent: bool = False
