"""The moving part of the screen as lines: what is not in the transcript yet, the open question, the status.

Text with terminal colours, cut to the window. Looks only; changes nothing. Above: ``terminal``. Below: `Live`.
"""

import time
from collections.abc import Iterator
from functools import lru_cache

from rich.console import Console
from rich.text import Text

from agentframework.cli.repl.live import elapsed
from agentframework.cli.repl.markdown import rendered_lines
from agentframework.cli.repl.questions import Panel
from agentframework.cli.repl.wiring import Wired
from agentframework.cli.view_text import one_line, visible
from agentframework.permissions import PermissionMode

MOST_CALLS = 4
MOST_QUEUED = 3
LEAST_MODEL = 12
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_SPINNER = "|/-\\"


def painted(console: Console, text: str, style: str = "", *, width: int | None = None) -> str:
    """One line, cut to the window with dots at the end."""
    line = Text(visible(text).replace("\n", " "), style, no_wrap=True, end="")
    line.truncate(max(1, console.width - 1 if width is None else width), overflow="ellipsis")
    with console.capture() as capture:
        console.print(line, end="", soft_wrap=True)
    return capture.get()


class Picture:
    """Draws one conversation. ``frame`` of the spinner follows the clock."""

    def __init__(self, wired: Wired) -> None:
        self._wired = wired
        self._console = wired.screen.console
        self._rendered = lru_cache(maxsize=1)(self._render)
        self._spinner = _SPINNER if self._console.encoding.startswith("utf") else _PLAIN_SPINNER
        self.render_s = 0.0

    def _render(self, source: str, _width: int) -> list[str]:
        began = time.perf_counter()
        lines = rendered_lines(source, self._console)
        self.render_s = time.perf_counter() - began
        return lines

    def moving(self, rows: int, notice: str) -> str:
        """What moves, in at most ``rows`` rows: of a long reply its end."""
        busy = [*self._thought(), *self._calls()]
        below = [*self._clock(), *self._queued()]
        if notice:
            below.append(self._line(notice, "yellow"))
        above = [*self._tail(max(1, rows - len(busy) - len(below) - 1)), *busy]
        gap = [""] if below and (above or self._wired.transcript.gap) else []
        return "\n".join([*above, *gap, *below][-rows:] if rows > 0 else [])

    def _line(self, text: str, style: str = "") -> str:
        return painted(self._console, text, style)

    def _tail(self, room: int) -> list[str]:
        reply = self._wired.live.reply
        if not reply:
            return []
        lines = self._rendered(reply.tail(), self._console.width)
        return ["", *lines][-room:] if self._wired.transcript.gap else lines[-room:]

    def _thought(self) -> Iterator[str]:
        thought = self._wired.live.thought
        if thought is not None:
            room = max(10, self._console.width - 14)
            yield self._line(f"~ thinking: {one_line(thought.text[-4 * room :])[-room:]}", "dim italic")

    def _calls(self) -> Iterator[str]:
        calls = list(self._wired.live.calls.values())
        for call in calls[:MOST_CALLS]:
            yield self._line(f"* {call.title}", "bold")
            if call.said:
                yield self._line(f"  | {call.said}", "dim")
        if len(calls) > MOST_CALLS:
            yield self._line(f"  and {len(calls) - MOST_CALLS} more", "dim")

    def _clock(self) -> Iterator[str]:
        live = self._wired.live
        if live.turn_began is None:
            return
        now = time.monotonic()
        frame = self._spinner[int(now * 8) % len(self._spinner)]
        doing = "asking you" if self._wired.questions.current else live.activity
        yield self._line(f"{frame} {doing} {elapsed(now - live.turn_began)}, Ctrl-C stops", "cyan")

    def _queued(self) -> Iterator[str]:
        queue = self._wired.driver.queue
        for text in queue[:MOST_QUEUED]:
            yield self._line(f"queued: {one_line(text)}", "dim")
        if len(queue) > MOST_QUEUED:
            yield self._line(f"queued: {len(queue) - MOST_QUEUED} more", "dim")

    def panel(self, panel: Panel, ready: bool) -> list[str]:
        """An open question; only its first line until ``ready``, when it takes keys."""
        width = max(1, self._console.width - 1)
        lines: list[str] = []
        for text, style in panel.lines() if ready else panel.lines()[:1]:
            lead = "     " if text[:1] in " >" else "  "
            whole = Text(visible(text))
            fits = whole.cell_len <= width and "\n" not in whole.plain
            wrapped = [whole] if fits else whole.wrap(self._console, max(1, width - len(lead)))
            for number, part in enumerate(wrapped):
                part.rstrip()
                lines.append(painted(self._console, (lead if number else "") + part.plain, style))
        return lines

    def status(self) -> str:
        """Model, mode, share of the window in use, tasks in the background; a long model name gives way."""
        session = self._wired.session
        mode = session.permission_mode
        share = f"context {session.get_context_state().used_percentage:.0f}%"
        running = len(session.list_background_tasks(status="running"))
        tasks = f" | {running} in background" if running else ""
        room = self._console.width - 1 - len(f" | {mode} | {share}{tasks}")
        if room < LEAST_MODEL:
            room += len("context ")
            share = share.removeprefix("context ")
        room = max(LEAST_MODEL, room)
        model = session.model if len(session.model) <= room else f"{session.model[: room - 3]}..."
        style = "bold red" if mode is PermissionMode.BYPASS_PERMISSIONS else "dim"
        return self._line(f"{model} | {mode} | {share}{tasks}", style)
