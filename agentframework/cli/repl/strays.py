"""What other code prints while the terminal is drawn on: it goes into the transcript instead of into the drawing.

Only Python's ``sys.stdout`` and ``sys.stderr`` are redirected (prints, warnings, logging); what a C library writes to
the descriptors themselves cannot be caught without a second terminal. Above: ``terminal``.
"""

import asyncio
import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Show = Callable[[str], None]


class _Stray(io.TextIOBase):
    """A text file that hands whole lines to the event loop, from whichever thread they come."""

    encoding = "utf-8"

    def __init__(self, loop: asyncio.AbstractEventLoop, show: Show) -> None:
        super().__init__()
        self._loop = loop
        self._show = show
        self._lock = threading.Lock()
        self._begun = ""

    def write(self, text: str, /) -> int:
        """Keep ``text`` until its line is whole."""
        with self._lock:
            *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            try:
                self._loop.call_soon_threadsafe(self._show, line)
            except RuntimeError:  # the loop is closed: a thread that outlives everything
                break
        return len(text)

    def writable(self) -> bool:
        """Nothing else can be done with it."""
        return True

    @property
    def rest(self) -> str:
        """A last line without its end."""
        return self._begun


@contextmanager
def strays_shown(show: Show) -> Iterator[None]:
    """Until the end of the block each printed line is given to ``show``, in the event loop."""
    loop = asyncio.get_running_loop()
    before = (sys.stdout, sys.stderr)
    strays = (_Stray(loop, show), _Stray(loop, show))
    sys.stdout, sys.stderr = strays
    try:
        yield
    finally:
        if (sys.stdout, sys.stderr) == strays:
            sys.stdout, sys.stderr = before
        for stray in strays:
            if stray.rest:
                show(stray.rest)
