"""The end of a server whose owner was killed.

A program that we start closes down when its input ends, if it is well made. For one that is not, a small shell waits
beside it for the end of a pipe that only this process holds: when we are gone, however that came, it ends the
server's whole process group. Told in time that the server is over, it just leaves.
"""

import asyncio
import contextlib

_SHELL = "/bin/sh"
# Two seconds to leave of its own accord, as the protocol grants it; then asked, then made to.
_SCRIPT = """trap '' HUP INT TERM
read -r word
[ "$word" = over ] && exit 0
sleep 2; kill -TERM "-$1" 2>/dev/null
sleep 1; kill -KILL "-$1" 2>/dev/null
exit 0"""
_LEAVE_S = 2.0


class Lifeline:
    """Watches over one process group."""

    def __init__(self) -> None:
        self._shell: asyncio.subprocess.Process | None = None

    async def tie(self, group: int) -> None:
        """Begin. Without a POSIX shell the server has to do without."""
        with contextlib.suppress(OSError):
            self._shell = await asyncio.create_subprocess_exec(
                _SHELL,
                "-c",
                _SCRIPT,
                "lifeline",
                str(group),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                cwd="/",
                env={"PATH": "/usr/bin:/bin"},
            )

    async def cut(self) -> None:
        """The group is over; nobody is to be ended."""
        shell, self._shell = self._shell, None
        if shell is None or shell.stdin is None:
            return
        with contextlib.suppress(OSError):
            shell.stdin.write(b"over\n")
            shell.stdin.close()
        try:
            async with asyncio.timeout(_LEAVE_S):
                await shell.wait()
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                shell.kill()
            await shell.wait()
