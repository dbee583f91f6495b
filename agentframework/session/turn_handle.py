"""Handles of submitted prompts: settled exactly once, awaited by anybody, by nobody, or by many."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from typing import Any

from agentframework.errors import WouldDeadlockError
from agentframework.messages import ExecutionResult


class _Completed(Awaitable[ExecutionResult]):
    """Awaiting it never ties the turn to the waiter: cancelling the wait leaves the turn running."""

    __slots__ = ("_future", "_would_deadlock")

    def __init__(self, future: asyncio.Future[ExecutionResult], would_deadlock: Callable[[], bool]) -> None:
        self._future = future
        self._would_deadlock = would_deadlock

    def __await__(self) -> Generator[Any, None, ExecutionResult]:
        if not self._future.done() and self._would_deadlock():
            raise WouldDeadlockError(
                "the running turn cannot wait for this turn, which only ends after it; await it outside the turn"
            )
        return asyncio.shield(self._future).__await__()


class TurnHandle:
    """A submitted prompt. ``await handle.completed`` gives the `ExecutionResult` or raises the turn's error; so does
    ``await handle``.

    Raises `TurnNotRunError` there if the prompt never ran, and `WouldDeadlockError` when awaited from inside
    a turn that has to end first.
    """

    __slots__ = ("_future", "_would_deadlock", "turn_id")

    def __init__(self, turn_id: str, would_deadlock: Callable[["TurnHandle"], bool]) -> None:
        self.turn_id = turn_id
        self._would_deadlock = would_deadlock
        self._future: asyncio.Future[ExecutionResult] = asyncio.get_running_loop().create_future()

    def __repr__(self) -> str:
        return f"<TurnHandle {self.turn_id} {'settled' if self.settled else 'open'}>"

    def __await__(self) -> Generator[Any, None, ExecutionResult]:
        return self.completed.__await__()

    @property
    def completed(self) -> Awaitable[ExecutionResult]:
        """Awaitable as often as wanted."""
        return _Completed(self._future, lambda: self._would_deadlock(self))

    @property
    def settled(self) -> bool:
        """True once the turn has ended or is known never to run."""
        return self._future.done()

    def resolve(self, result: ExecutionResult) -> None:
        """Settle with a result. A second settlement is a fault of ours and raises ``InvalidStateError``."""
        self._future.set_result(result)

    def reject(self, error: BaseException) -> None:
        """Settle with an error; nobody is obliged to look at it."""
        self._future.set_exception(error)
        self._future.exception()  # marks it as seen, or asyncio would complain when nobody awaits it

    async def wait_settled(self) -> None:
        """Return when settled, whatever the outcome."""
        if not self._future.done():  # one that is may belong to an event loop that is gone
            await asyncio.wait([self._future])
