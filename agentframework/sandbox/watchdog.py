"""What ends a program when this process cannot any more, because it was killed itself.

A program's group hears nothing of the death of whoever started it. Beside each program a small shell therefore waits at
a pipe whose other end only this process holds; if that is closed without its being ended, it kills the group, and on
Linux everything that carries the program's mark in its environment, which also finds what has left the group.

Above is the runner. Costs one ``posix_spawn`` of ``/bin/sh`` a program; where that fails there is no watchdog.
Sources: POSIX ``pipe`` (end of file at the last close), Linux ``proc_pid_environ(5)``.
"""

import contextlib
import os
import signal

MARK = "AGENTFRAMEWORK_RUN"
_SHELL = "/bin/sh"
# The group arrives in the first line; nothing follows it, so that the second `read` returns when the pipe is closed.
_SCRIPT = f"""cd /; trap '' HUP INT TERM
read -r group || exit
read -r nothing
kill -KILL -- "-$group"
[ -n "$1" ] || exit
for place in $(grep -lszxF "{MARK}=$1" /proc/[0-9]*/environ); do
  pid=${{place#/proc/}}
  kill -KILL "${{pid%/environ}}"
done
"""

_running: set[int] = set()


def running() -> frozenset[int]:
    """Process ids of all watchdogs of this process."""
    return frozenset(_running)


class Watchdog:
    """Watches over one program, from `watch` to `dismiss`. ``mark`` is the value of `MARK` in its environment."""

    __slots__ = ("_pid", "_writer")

    def __init__(self, mark: str) -> None:
        reader, self._writer = os.pipe()
        try:
            self._pid: int | None = os.posix_spawn(
                _SHELL,
                [_SHELL, "-c", _SCRIPT, "watchdog", mark],
                {"PATH": "/usr/bin:/bin"},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, reader, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_DUP2, 1, 2),
                ],
                setpgroup=0,
                setsigmask=[],
            )
            _running.add(self._pid)
        except OSError:
            self._pid = None
        finally:
            os.close(reader)

    def watch(self, group: int) -> None:
        """From now on the process group ``group`` ends with this process."""
        with contextlib.suppress(OSError):  # nobody reads if it could not be started
            os.write(self._writer, b"%d\n" % group)

    def dismiss(self) -> None:
        """The program is over."""
        pid, self._pid = self._pid, None
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os.close(self._writer)
        if pid is not None:
            # It cannot hold on to anything: this takes as long as the kernel needs to end it.
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
            _running.discard(pid)
