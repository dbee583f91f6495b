"""When a request is repeated, and when not."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

import pytest

from agentframework.errors import InvalidRequestError, OverloadedError, ProviderError, RateLimitError
from agentframework.messages import AssistantMessage
from agentframework.providers.protocol import (
    Chunk,
    ModelReply,
    RawChunk,
    RetryChunk,
    RetryPolicy,
    TextChunk,
    ThinkingChunk,
    ToolCallChunk,
)
from agentframework.providers.steady import steady

REPLY = ModelReply(AssistantMessage(()))
OVERLOADED = OverloadedError("overloaded")


class Attempts:
    """Plays one script after the other; an exception in a script is raised."""

    def __init__(self, *scripts: Sequence[Chunk | ProviderError]) -> None:
        self.scripts = list(scripts)
        self.made = 0
        self.closed = 0

    async def __call__(self) -> AsyncGenerator[Chunk]:
        return self._play()

    async def _play(self) -> AsyncGenerator[Chunk]:
        script = self.scripts[self.made]
        self.made += 1
        try:
            for step in script:
                if isinstance(step, ProviderError):
                    raise step
                yield step
        finally:
            self.closed += 1


async def collect(attempts: Callable[[], Awaitable[AsyncGenerator[Chunk]]], policy: RetryPolicy) -> list[Chunk]:
    return [chunk async for chunk in steady(attempts, policy)]


def policy(attempts: int = 3, **fields: float) -> RetryPolicy:
    return RetryPolicy(max_attempts=attempts, **{"initial_delay_s": 0.0, **fields})  # type: ignore[arg-type]


async def test_an_attempt_that_succeeds_is_the_only_one() -> None:
    attempts = Attempts([TextChunk("a"), REPLY])
    assert await collect(attempts, policy()) == [TextChunk("a"), REPLY]
    assert (attempts.made, attempts.closed) == (1, 1)


async def test_raw_events_do_not_count_as_shown() -> None:
    attempts = Attempts([RawChunk({}), OVERLOADED], [REPLY])
    chunks = await collect(attempts, policy())
    assert [type(chunk) for chunk in chunks] == [RawChunk, RetryChunk, ModelReply]


@pytest.mark.parametrize("piece", [TextChunk("a"), ThinkingChunk("a"), ToolCallChunk("c", "Read", "")])
async def test_nothing_is_repeated_once_something_was_shown(piece: Chunk) -> None:
    attempts = Attempts([piece, OVERLOADED])
    with pytest.raises(OverloadedError):
        await collect(attempts, policy())
    assert (attempts.made, attempts.closed) == (1, 1)


@pytest.mark.parametrize("error", [InvalidRequestError("no"), OverloadedError("no", retryable=False)])
async def test_an_error_that_stays_is_not_repeated(error: ProviderError) -> None:
    attempts = Attempts([error])
    with pytest.raises(type(error)):
        await collect(attempts, policy())


async def test_the_last_error_is_raised_when_attempts_are_used_up() -> None:
    attempts = Attempts([OVERLOADED], [RateLimitError("second")])
    with pytest.raises(RateLimitError, match="second"):
        await collect(attempts, policy(2))
    assert attempts.made == 2


async def test_delays_grow_vary_and_are_bounded() -> None:
    attempts = Attempts(*[[OVERLOADED]] * 8, [REPLY])
    rule = policy(9, initial_delay_s=0.001, max_delay_s=0.008, jitter_ratio=0.5)
    delays = [chunk.delay_s for chunk in await collect(attempts, rule) if isinstance(chunk, RetryChunk)]
    wanted = [0.001, 0.002, 0.004, 0.008, 0.008, 0.008, 0.008, 0.008]
    assert all(0.5 * want <= delay <= 1.5 * want for delay, want in zip(delays, wanted, strict=True))
    assert len(set(delays)) == len(delays)


async def test_the_announcement_comes_before_the_wait_and_closing_ends_it() -> None:
    attempts = Attempts([RateLimitError("slow down", retry_after_s=500)], [REPLY])
    async with aclosing(steady(attempts, policy(2, max_delay_s=900))) as chunks:
        assert await anext(chunks) == RetryChunk(2, 500, "slow down")
        waiting = asyncio.ensure_future(anext(chunks))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(waiting, 10)
    assert attempts.made == 1


async def test_a_wait_beyond_the_limit_is_an_error_of_the_same_kind() -> None:
    error = RateLimitError("slow down.", status=429, retry_after_s=86400, details={"request_id": "r"})
    with pytest.raises(RateLimitError, match=r"slow down\. It asks to wait 86400 s.*allows 10 s") as raised:
        await collect(Attempts([error]), policy(3, max_delay_s=10))
    assert (raised.value.status, raised.value.retry_after_s) == (429, 86400)
    assert raised.value.details["request_id"] == "r"


async def test_closing_early_closes_the_attempt() -> None:
    attempts = Attempts([TextChunk("a"), TextChunk("b"), REPLY])
    async with aclosing(steady(attempts, policy())) as chunks:
        await anext(chunks)
    assert attempts.closed == 1
