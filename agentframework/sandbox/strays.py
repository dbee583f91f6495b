"""What has left a program's group, found by the mark that its environment still carries.

Above is the runner. Linux only: elsewhere nothing is found, and what left the group stays out of reach.
Source: ``proc_pid_environ(5)``.
"""

import contextlib
import os

from agentframework.sandbox.watchdog import MARK


def strays(mark: str, leader: int) -> list[int]:
    """Processes that carry ``mark`` and were started after ``leader``, zombies not counted.

    After the process ids have wrapped around, those below the leader's are missed; the watchdog looks at all.
    """
    try:
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []
    entry = f"{MARK}={mark}".encode()
    return [pid for pid in pids if pid > leader and entry in _environment(pid)]


def _environment(pid: int) -> list[bytes]:
    # A zombie has none; of another user's process it is not ours to read.
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
        return file.read().split(b"\0")
    return []
