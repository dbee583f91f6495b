"""Blocking work in a thread that nobody has to wait for.

``asyncio.to_thread`` keeps the whole program from ending until its threads have; a name server that does not answer
would then hold up the exit.
"""

from collections.abc import Callable
from typing import TypeVar

from anyio import to_thread

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """The result of ``work()``. When cancelled, the thread is left to finish by itself and its result is dropped."""
    return await to_thread.run_sync(work, abandon_on_cancel=True)
