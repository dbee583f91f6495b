"""Fairness between sessions that share an event loop.

A stream with data always ready never really awaits, and a hundred sessions that each do two milliseconds of work
in one pass of the loop stop everything else for a fifth of a second. So all of them draw on one small budget of
time per pass: when it is used up, everybody lets the loop turn before going on.
"""

import asyncio
from time import perf_counter
from weakref import WeakKeyDictionary

BUDGET_S = 0.005


class Pacer:
    """The budget of one event loop. `due` is cheap enough to be asked for every delta."""

    __slots__ = ("_armed", "_deadline")

    def __init__(self) -> None:
        self._armed = False
        self._deadline = 0.0

    @property
    def due(self) -> bool:
        """True if this pass of the loop has lasted long enough: then ``await breathe()``."""
        if not self._armed:
            self._armed = True
            self._deadline = perf_counter() + BUDGET_S
            asyncio.get_running_loop().call_soon(self._turned)
            return False
        return perf_counter() > self._deadline

    def _turned(self) -> None:
        self._armed = False

    async def breathe(self) -> None:
        """Let the loop turn if the budget of this pass is used up."""
        while self.due:  # noqa: ASYNC110 - not waiting for a condition, but giving way
            await asyncio.sleep(0)


_pacers: WeakKeyDictionary[asyncio.AbstractEventLoop, Pacer] = WeakKeyDictionary()


def pacer() -> Pacer:
    """The pacer of the running loop."""
    loop = asyncio.get_running_loop()
    found = _pacers.get(loop)
    if found is None:
        found = _pacers[loop] = Pacer()
    return found
