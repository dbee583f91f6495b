"""Pages that were fetched a moment ago, so that a second question about one costs no second request.

Above is ``web_fetch``. Redirects to other hosts and failures are not kept.
"""

import time
from collections.abc import Awaitable, Callable

from ._page import Moved, Page

KEPT_S = 900.0
MAX_BYTES = 20_000_000


class PageCache:
    """Keeps pages for `KEPT_S` seconds and `MAX_BYTES` together, the newest longest."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, Page]] = {}

    async def get(self, address: str, fetch: Callable[[str], Awaitable[Page | Moved]]) -> Page | Moved:
        """The page of ``address``, kept or from ``fetch``, which may raise."""
        self._forget_old()
        if (kept := self._kept.get(address)) is not None:
            return kept[1]
        found = await fetch(address)
        if isinstance(found, Page):
            self._kept.pop(address, None)
            self._kept[address] = (self._clock(), found)
            self._make_room()
        return found

    def _forget_old(self) -> None:
        oldest = self._clock() - KEPT_S
        for address in [address for address, (since, _) in self._kept.items() if since <= oldest]:
            del self._kept[address]

    def _make_room(self) -> None:
        size = sum(len(page.body) for _, page in self._kept.values())
        while size > MAX_BYTES:
            size -= len(self._kept.pop(next(iter(self._kept)))[1].body)
