"""Last resort before a hurried exit: end every process that descends from this one.

All but the watchdogs of running programs: what has left our descent is ended by them, once we are gone.
"""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

from agentframework.sandbox import watchdog


def kill_descendants() -> None:
    """Send SIGKILL to all descendants, youngest first. Needs ``/proc`` (Linux); elsewhere does nothing."""
    spared = watchdog.running()
    for pid in reversed([pid for pid in _descendants(os.getpid()) if pid not in spared]):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            continue


def _descendants(pid: int) -> Iterator[int]:
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in listing.read_text().split()]
        except OSError:
            continue
        for child in children:
            yield child
            yield from _descendants(child)
