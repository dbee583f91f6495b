"""Lines of stdin as they come, without a thread and without changing the descriptor that others share with us."""

import asyncio
import os
import select
from collections.abc import AsyncIterator

PIECE = 65_536


async def input_lines(descriptor: int, longest: int) -> AsyncIterator[bytes]:
    """Each line without its end, the last one also without a newline.

    Of a line that is longer than ``longest`` come ``longest`` + 1 bytes, so that its reader can tell. Raises
    ``OSError``.
    """
    kept = bytearray()
    while piece := await _read(descriptor):
        *ended, rest = piece.split(b"\n")
        for end in ended:
            kept += end[: longest + 1 - len(kept)]
            yield bytes(kept)
            kept.clear()
        kept += rest[: longest + 1 - len(kept)]
    if kept:
        yield bytes(kept)


async def _read(descriptor: int) -> bytes:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    if poll.poll(0):
        await asyncio.sleep(0)  # a file is always ready, and others want to run too
    else:
        await _something_to_read(descriptor)
    return os.read(descriptor, PIECE)


async def _something_to_read(descriptor: int) -> None:
    loop = asyncio.get_running_loop()
    waiter: asyncio.Future[None] = loop.create_future()
    loop.add_reader(descriptor, lambda: waiter.done() or waiter.set_result(None))
    try:
        await waiter
    finally:
        loop.remove_reader(descriptor)
