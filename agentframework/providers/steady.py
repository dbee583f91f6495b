"""Requests that are repeated while it is safe: until the first piece of a reply has been handed out.

Shared by all adapters, and free of any API: an attempt prepares an async generator of chunks. Each wait is announced
by a `RetryChunk` before it begins.
"""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from agentframework.errors import ProviderError
from agentframework.providers.protocol import Chunk, RawChunk, RetryChunk, RetryPolicy

DEFAULT_RETRY = RetryPolicy(max_attempts=3)


async def steady(attempt: Callable[[], Awaitable[AsyncGenerator[Chunk]]], policy: RetryPolicy) -> AsyncGenerator[Chunk]:
    """Chunks of the first attempt that says anything; the error of the last one that did not.

    An error that is not ``retryable``, and any error after the first text, thinking or tool call, is raised at
    once. So is one whose ``retry_after_s`` exceeds ``policy.max_delay_s``: its message then names the time.
    """
    for number in range(1, policy.max_attempts + 1):
        shown = False
        try:
            async with aclosing(await attempt()) as chunks:
                async for chunk in chunks:
                    shown = shown or type(chunk) is not RawChunk
                    yield chunk
            return
        except ProviderError as error:
            if shown or not error.retryable or number >= policy.max_attempts:
                raise
            delay_s, reason = _delay_s(error, policy, number), error.message
        yield RetryChunk(number + 1, delay_s, reason)
        await asyncio.sleep(delay_s)


def _delay_s(error: ProviderError, policy: RetryPolicy, number: int) -> float:
    """Seconds before the attempt after attempt ``number``. Raises ``error`` if that is too long."""
    wanted = error.retry_after_s
    if wanted is not None:
        if wanted > policy.max_delay_s:
            raise _with_the_time(error, wanted, policy.max_delay_s)
        return wanted
    delay_s = min(policy.max_delay_s, policy.initial_delay_s * 2.0 ** (number - 1))
    return max(0.0, delay_s * (1 + policy.jitter_ratio * random.uniform(-1, 1)))


def _with_the_time(error: ProviderError, wanted: float, limit: float) -> ProviderError:
    text = (
        f"{error.message} It asks to wait {wanted:.0f} s before the next request; "
        f"max_delay_s of the retry policy allows {limit:g} s."
    )
    return type(error)(
        text,
        code=error.code,
        details=error.details,
        status=error.status,
        retry_after_s=wanted,
        retryable=error.retryable,
    )
