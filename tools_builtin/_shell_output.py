"""Output of a shell command: kept while it streams, shown live, and put into one text for the model."""

import asyncio
import signal
from typing import Any

from agentframework.tools import ToolResult
from agentframework.tools.tool import Progress

from ._kept_text import KeptText
from ._process import Ended
from ._terminal_text import TerminalText

# Of one result, everything included.
MAX_CHARACTERS = 30_000
# Live output: not more often than this, and not more at once.
LIVE_INTERVAL_S = 0.1
LIVE_CHARACTERS = 2_000
_NOTHING = "(nothing on standard output)"
_STDERR = "\nstderr:\n"


class ShellOutput:
    """Both streams of one command. `add` takes bytes as they come; `result` is asked once, at the end."""

    def __init__(self, progress: Progress) -> None:
        self._terminals = (TerminalText(), TerminalText())
        self._kept = (KeptText(), KeptText())
        self._live = _Live(progress)

    def add(self, is_stderr: bool, data: bytes) -> None:
        """Take in a piece of standard output or standard error."""
        text = self._terminals[is_stderr].feed(data)
        self._kept[is_stderr].add(text)
        self._live.add(text)

    def close(self) -> None:
        """The command is over: no live output any more."""
        self._live.close()
        for terminal, kept in zip(self._terminals, self._kept, strict=True):
            kept.add(terminal.finish())

    def result(self, ended: Ended, timeout_ms: int, note: str | None) -> ToolResult:
        """Output, then what there is to say about it; never more than `MAX_CHARACTERS`."""
        before = [note] if note else []
        after: list[str] = []
        code, name = exit_code(ended)
        if ended.timed_out:
            before.append(f"Error: the command timed out after {timeout_ms} ms and was ended. Its output so far:")
        elif code:
            after.append(f"Exit code {code} ({name})" if name else f"Exit code {code}")
        if ended.leftover == "beyond reach":
            after.append("[a background process of this command could not be ended and may still run]")
        elif ended.leftover == "ended" and not ended.timed_out:
            after.append("[background processes of this command were ended with it]")
        room = MAX_CHARACTERS - sum(len(line) + 1 for line in (*before, *after))
        text = "\n".join([*before, self._body(room), *after])
        structured: dict[str, Any] = {
            "exit_code": None if ended.timed_out else code,
            "signal": name,
            "timed_out": ended.timed_out,
        }
        return ToolResult(text, is_error=ended.timed_out, structured=structured)

    def _body(self, room: int) -> str:
        out, err = self._kept
        if not err.total:
            return out.render(room).rstrip("\n") or "(no output)"
        # Standard error keeps a third at most, unless standard output leaves more.
        room -= len(_NOTHING) + len(_STDERR)
        err_room = min(err.total, max(room // 3, room - out.total))
        shown = out.render(room - err_room).rstrip("\n") or _NOTHING
        return shown + _STDERR + err.render(err_room).rstrip("\n")


def exit_code(ended: Ended) -> tuple[int | None, str | None]:
    """The code as a shell reports it (128 + signal), and the signal's name if there was one."""
    code = ended.returncode
    if code is None:
        return None, None
    if code < 0:
        return 128 - code, _signal_name(-code)
    return code, _signal_name(code - 128)


def _signal_name(number: int) -> str | None:
    try:
        return signal.Signals(number).name
    except ValueError:
        return None


class _Live:
    """Passes text on in pieces, at most one per interval; the first comes one interval after the first text."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._waiting = ""
        self._timer: asyncio.TimerHandle | None = None

    def add(self, text: str) -> None:
        if not text:
            return
        self._waiting = (self._waiting + text[-LIVE_CHARACTERS:])[-LIVE_CHARACTERS:]
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(LIVE_INTERVAL_S, self._pass_on)

    def _pass_on(self) -> None:
        text, self._waiting, self._timer = self._waiting, "", None
        self._progress(text)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
