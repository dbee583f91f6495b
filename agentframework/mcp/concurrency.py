"""Many things at once, but not all of them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from agentframework.errors import ConfigurationError
from agentframework.mcp.options import DEFAULT_MCP_STARTUP_CONCURRENCY

T = TypeVar("T")
R = TypeVar("R")


async def map_with_concurrency(
    items: Iterable[T], work: Callable[[T], Awaitable[R]], limit: int = DEFAULT_MCP_STARTUP_CONCURRENCY
) -> list[R]:
    """``work`` on each item, at most ``limit`` at a time; results in the order of the items.

    The first failure cancels the rest and is raised. Raises `ConfigurationError` for a limit below 1.
    """
    if limit < 1:
        raise ConfigurationError(f"the concurrency must be at least 1, not {limit}", details={"field": "concurrency"})
    waiting = list(enumerate(items))
    results: dict[int, R] = {}
    remaining = iter(waiting)

    async def worker() -> None:
        for position, item in remaining:
            results[position] = await work(item)

    workers = [asyncio.ensure_future(worker()) for _ in range(min(limit, len(waiting)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for one in workers:
            one.cancel()
        if workers:
            await asyncio.wait(workers)
    return [results[position] for position, _ in waiting]
