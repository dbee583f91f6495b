"""The transcript of a session: what stays on the screen, printed once and in order.

Listens to the session, prints what is finished and keeps the rest in `Live`. Above: the terminal and the plain mode.
Below: the screen and the views that all commands share.
"""

import re
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentframework.cli.repl.live import Live, RunningCall, elapsed
from agentframework.cli.repl.markdown import rendered_lines
from agentframework.cli.view import Screen, SessionView
from agentframework.cli.view_text import one_line, visible
from agentframework.events import (
    BackgroundTaskEvent,
    ErrorEvent,
    Interrupted,
    LoopDetected,
    ModelCompleted,
    PermissionRequest,
    PlanEvent,
    TextDelta,
    ThinkingDelta,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnStarted,
)

if TYPE_CHECKING:
    from agentframework.session import InteractiveSession

RESULT_LINES = 8
SLOW_S = 10.0
# What they ask or plan stands in the transcript already.
_SHOWN_ELSEWHERE = frozenset({"AskUserQuestion", "TodoWrite"})
_READERS = frozenset({"Read", "Glob", "Grep", "WebFetch", "WebSearch"})
_TWO_COLUMNS = re.compile(r"\s*\S.*?\s{2,}(?=\S)")


class Transcript(SessionView):
    """Prints on ``screen``. ``changed`` is called after each event, ``now`` telling whether it is worth a redraw
    at once. ``streams`` prints text as it comes instead of whole Markdown blocks, for terminals that cannot redraw.
    """

    def __init__(
        self, screen: Screen, live: Live, changed: Callable[[bool], None], *, streams: bool = False
    ) -> None:
        super().__init__(screen)
        self._live = live
        self._changed = changed
        self._streams = streams
        self._gap = False

    def attach(self, session: "InteractiveSession") -> None:
        """Listen to everything but permission requests and questions."""
        super().attach(session)
        session.on(TurnStarted, self._turn_started)
        session.on(ThinkingDelta, self._thinking)
        session.on(ToolProgress, self._progress)
        session.on(LoopDetected, self._loop_detected)
        session.on(BackgroundTaskEvent, self._background)

    @property
    def gap(self) -> bool:
        """True if the next thing wants a blank line above it."""
        return self._gap

    def welcome(self, text: str) -> None:
        """The first lines of all."""
        self._screen.line(text, "dim", cut=True)
        self._changed(True)

    # --- what the driver says ---------------------------------------------------------------------------

    def prompt(self, text: str, *, typed: bool) -> None:
        """A line of the person's. Where text streams, the terminal has echoed what was typed."""
        if not (self._streams and typed):
            self._screen.line()
            self._screen.line(text, "bold cyan", lead="> ")
        self._screen.line()
        self._gap = False
        self._changed(True)

    def message(self, text: str, style: str = "") -> None:
        """Something said by us, such as a command's result. Lines in two columns are wrapped within the second."""
        for line in visible(text).split("\n"):
            columns = _TWO_COLUMNS.match(line)
            lead = columns[0] if columns and 3 * len(columns[0]) < 2 * self._screen.console.width else ""
            self._screen.line(line[len(lead) :], style, lead=lead)
        self._changed(True)

    # --- what the session says --------------------------------------------------------------------------

    def _turn_started(self, _event: TurnStarted) -> None:
        self._live.begin_turn()
        self._changed(True)

    def _thinking(self, event: ThinkingDelta) -> None:
        self._live.think(event.text)
        self._changed(False)

    def _fold_thought(self) -> None:
        thought = self._live.end_thought()
        if thought is not None and thought.text.strip():
            self._paragraph()
            self._screen.line(f"~ thought for {elapsed(thought.seconds)}", "dim italic")
            self._gap = True

    def _paragraph(self) -> None:
        """A blank line, if something stands above that needs one."""
        if self._gap:
            self._screen.line()
            self._gap = False

    def _text(self, event: TextDelta) -> None:
        self._fold_thought()
        if self._streams:
            self._paragraph()
            self._screen.text(event.text)
            return
        self._live.reply.feed(event.text)
        self._changed(False)

    def settle_text(self) -> None:
        """Print the blocks that are finished."""
        self._block(self._live.reply.take_finished())

    def _block(self, source: str) -> None:
        lines = rendered_lines(source, self._screen.console)
        if lines:
            self._paragraph()
            self._screen.ready_lines(lines)
            self._gap = True

    def _end_text(self) -> None:
        self._fold_thought()
        if self._streams:
            self._screen.end_text()
            self._gap = True
            return
        self._block(self._live.reply.end())

    def _completed(self, _event: ModelCompleted) -> None:
        self._end_text()
        self._changed(True)

    def tool_start(self, event: ToolStart) -> None:
        """A call begins: it moves until it has ended."""
        if event.tool_name in _SHOWN_ELSEWHERE:
            return
        title = f"{event.tool_name}({one_line(event.first_arg)})"
        self._live.calls[event.tool_use_id] = RunningCall(title, time.monotonic())
        self._changed(True)

    def _progress(self, event: ToolProgress) -> None:
        call = self._live.calls.get(event.tool_use_id)
        if call is not None and event.text.strip():
            call.said = one_line(event.text.rstrip().rpartition("\n")[2])
            self._changed(False)

    def tool_end(self, event: ToolEnd) -> None:
        """A call has its result. What a call has only read is counted, not shown."""
        self._live.calls.pop(event.tool_use_id, None)
        if event.tool_name in _SHOWN_ELSEWHERE and event.outcome == "success":
            return
        self._paragraph()
        self._screen.line(f"* {event.tool_name}({one_line(event.first_arg)})", "bold", cut=True)
        about = ""
        if event.diff is not None:
            self._screen.diff(event.diff)
        elif event.outcome == "success" and event.tool_name in _READERS:
            count = len(event.result.splitlines())
            about = f", {count} line{'' if count == 1 else 's'}"
        elif event.result.strip():
            self._screen.block(event.result, limit=RESULT_LINES)
        self.outcome(event, about)
        self._gap = True
        self._changed(True)

    def permission(self, event: PermissionRequest) -> None:
        """A call that waits for an answer, in full."""
        self._end_text()
        self._paragraph()
        super().permission(event)
        self._gap = True
        self._changed(True)

    def answered(self, said: str) -> None:
        """What the person answered."""
        self._gap = False
        self.message(said, "yellow")
        self._gap = True

    def _loop_detected(self, event: LoopDetected) -> None:
        self.message(f"! {event.tool_name} was called {event.count} times with the same result", "yellow")

    def plan(self, event: PlanEvent) -> None:
        """A list of steps, in a paragraph of its own."""
        self._end_text()
        self._paragraph()
        super().plan(event)
        self._gap = True
        self._changed(True)

    def _background(self, event: BackgroundTaskEvent) -> None:
        """A task beside the turns: the status line counts those that run, the transcript tells of their end."""
        if event.kind in ("completed", "failed", "cancelled"):
            task = event.data
            self.message(f"[{task['id']} ({one_line(task['label'])[:80]}) {event.kind}: {task['message']}]", "dim")
        elif event.kind == "started":
            self._changed(True)

    def _interrupted(self, event: Interrupted) -> None:
        self._end_text()
        self._paragraph()
        super()._interrupted(event)

    def _error(self, event: ErrorEvent) -> None:
        self._end_text()
        self._paragraph()
        super()._error(event)
        self._changed(True)

    def turn_over(self) -> None:
        """The turn has ended, in whatever way."""
        self._end_text()
        seconds = self._live.end_turn()
        if self._streams or seconds >= SLOW_S:
            self._paragraph()
            self._screen.line(f"({elapsed(seconds)})", "dim")
        self._changed(True)
