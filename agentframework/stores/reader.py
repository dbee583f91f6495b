"""Records on their way out: awaited they are a list, iterated they come one by one."""

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterable
from itertools import islice
from typing import Any

_BLOCK = 500


class Records:
    """What ``read`` of a store returns. ``source`` runs in a thread, a block of records at a time."""

    def __init__(self, source: Callable[[], Iterable[dict[str, Any]]]) -> None:
        self._source = source

    def __await__(self) -> Generator[Any, None, list[dict[str, Any]]]:
        return asyncio.to_thread(lambda: list(self._source())).__await__()

    async def __aiter__(self) -> AsyncIterator[dict[str, Any]]:
        records = await asyncio.to_thread(lambda: iter(self._source()))
        while block := await asyncio.to_thread(lambda: list(islice(records, _BLOCK))):
            for record in block:
                yield record
