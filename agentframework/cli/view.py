"""What a session looks like on a terminal: streamed text, tool lines, diffs, permission requests.

`Screen` writes; `SessionView` is a set of listeners that tells it what. Neither asks nor decides anything, so every
command that shows a session can use them. Colour only repeats what the words and signs say. Above: the
commands. Below: events, and rich, which is imported when the first screen is made.
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TextIO, cast

from agentframework._base.bounded import cut_end
from agentframework.cli.output import OutputError, write_stdout
from agentframework.cli.view_text import WordFlow, one_line, visible
from agentframework.events import (
    Diff,
    DiffLine,
    ErrorEvent,
    Interrupted,
    ModelCompleted,
    PermissionRequest,
    PlanEvent,
    Retry,
    TextDelta,
    ToolEnd,
    ToolStart,
    WarningEvent,
)

if TYPE_CHECKING:
    from rich.console import Console

    from agentframework.session import InteractiveSession

RESULT_LINES = 20
ARGUMENT_CHARACTERS = 2_000
_MARKS = {"success": "done", "error": "failed", "denied": "not run", "blocked": "blocked", "interrupted": "stopped"}
_STYLES = {"success": "dim", "error": "red", "denied": "yellow", "blocked": "yellow", "interrupted": "yellow"}
_SIGNS: Mapping[str, tuple[str, str]] = {
    "hunk": (" ", "cyan"),
    "context": (" ", "dim"),
    "remove": ("-", "red"),
    "add": ("+", "green"),
}
_TODO_SIGNS: Mapping[str, tuple[str, str]] = {
    "completed": ("x", "dim"),
    "in_progress": (">", "bold"),
    "pending": (" ", ""),
}
# How an argument is shown before a call is allowed: what goes away, what comes.
_ARGUMENT_SIGNS = {"old_string": "remove", "new_string": "add"}


class Screen:
    """Writes lines, paragraphs and flowing text, as wide as the terminal.

    ``plain`` leaves out colour, as ``NO_COLOR`` and anything that is no terminal do. After a failed write ``fault``
    holds the reason, ``on_fault`` has been called once, and everything further is dropped: listeners must not
    raise, and who reads may leave at any time.
    """

    def __init__(self, *, plain: bool = False, write: Callable[[bytes], None] = write_stdout) -> None:
        from rich.cells import cell_len  # noqa: PLC0415 - heavy, only where something is shown
        from rich.console import Console  # noqa: PLC0415

        self.fault: OutputError | None = None
        self.on_fault: Callable[[], object] | None = None
        self._write = write
        # Of a dumb terminal rich believes that it is 80 columns wide.
        size = _size() if os.environ.get("TERM") in ("dumb", "unknown") else None
        self._console = Console(
            file=cast(TextIO, _Output(self._put)),
            color_system=None if plain else "auto",
            width=size.columns if size else None,
            height=size.lines if size else None,
            highlight=False,
            markup=False,
            emoji=False,
        )
        self._flow = WordFlow(lambda: self._console.width, cell_len)

    @property
    def console(self) -> "Console":
        """Width, colours and encoding of this screen, for whoever renders something for it."""
        return self._console

    def _put(self, text: str) -> None:
        if self.fault is not None or not text:
            return
        try:
            self._write(text.encode(self._console.encoding, "replace"))
        except OutputError as error:
            self.fault = error
            if self.on_fault is not None:
                self.on_fault()

    def line(
        self, text: str = "", style: str = "", *, lead: str = "", hang: str | None = None, cut: bool = False
    ) -> None:
        """A paragraph, wrapped between words; ``cut`` keeps it to one line, with dots at the end.

        ``lead`` stands before the first line and ``hang``, blanks by default, before each further one.
        """
        from rich.text import Text  # noqa: PLC0415

        self.end_text()
        hang = " " * len(lead) if hang is None else hang
        width = max(1, self._console.width - len(lead))
        lines = Text(visible(text)).wrap(self._console, width, overflow="ellipsis" if cut else "fold", no_wrap=cut)
        for number, line in enumerate(lines):
            shown = Text((hang if number else lead) + line.plain, style)
            shown.rstrip()
            self._console.print(shown, soft_wrap=True)

    def heading(self, text: str) -> None:
        """A title with a line below it."""
        self.line()
        self.line(text, "bold")
        self.line("-" * min(len(text), self._console.width), "dim")

    def text(self, text: str) -> None:
        """A piece of flowing text, at once but for the word that is not known to be whole."""
        self._put(self._flow.feed(visible(text)))

    def end_text(self) -> None:
        """End the flowing text and its line; nothing if there is none."""
        if self._flow.started:
            self._put(self._flow.finish() + "\n")

    def ready_lines(self, lines: Iterable[str]) -> None:
        """Lines that are wrapped and styled already, and harmless."""
        self.end_text()
        self._put("".join(f"{line}\n" for line in lines))

    def prompt(self, text: str) -> None:
        """A question, with the cursor left behind it."""
        self.end_text()
        self._put(visible(text))

    def block(self, text: str, style: str = "dim", *, limit: int = RESULT_LINES) -> None:
        """Text of somebody else behind a bar. Of more than ``limit`` lines the middle is left out."""
        lines = visible(text).rstrip("\n").split("\n")
        left_out = len(lines) - limit
        if left_out > 0:
            half = limit // 2
            lines = [*lines[:half], f"... {left_out} more lines ...", *lines[len(lines) - (limit - half) :]]
        for line in lines:
            self.line(line, style, lead="  | ", hang="  | ")

    def diff(self, diff: Diff) -> None:
        """The lines of a diff, each with its number and sign."""
        self.line(diff.path, "bold", lead="  ")
        for line in diff.lines:
            self.diff_line(line)

    def diff_line(self, line: DiffLine) -> None:
        """One line of a diff. Long ones are folded, never cut: somebody may have to judge them."""
        sign, style = _SIGNS[line.kind]
        number = "" if line.kind == "hunk" else str(line.line)
        self.line(line.text, style, lead=f"  {number:>4} {sign} ")


def _size() -> os.terminal_size | None:
    try:
        return os.get_terminal_size(1)
    except OSError:
        return None


class _Output:
    """The part of a text file that rich needs: where its text goes, and whether that is a terminal."""

    def __init__(self, put: Callable[[str], None]) -> None:
        self.write = put
        self.encoding = getattr(sys.stdout, "encoding", None) or "utf-8"

    def flush(self) -> None:
        """Every write goes out at once."""

    def isatty(self) -> bool:
        try:
            return os.isatty(1)
        except OSError:
            return False

    def fileno(self) -> int:
        return 1


class SessionView:
    """Shows the events of a session on a screen, from `attach` on until the session ends."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._shown_call = ""
        self._after_tools = False

    def attach(self, session: "InteractiveSession") -> None:
        """Listen. Permission requests are not among it: who shows one must also answer it."""
        session.on(TextDelta, self._text)
        session.on(ModelCompleted, self._completed)
        session.on(ToolStart, self.tool_start)
        session.on(ToolEnd, self.tool_end)
        session.on(PlanEvent, self.plan)
        session.on(Interrupted, self._interrupted)
        session.on(Retry, self._retry)
        session.on(ErrorEvent, self._error)
        session.on(WarningEvent, self._warning)

    def _text(self, event: TextDelta) -> None:
        if self._after_tools:
            self._screen.line()
            self._after_tools = False
        self._screen.text(event.text)

    def _completed(self, _event: ModelCompleted) -> None:
        self._screen.end_text()

    def tool_start(self, event: ToolStart) -> None:
        """A call begins."""
        self._call(event)

    def _call(self, event: ToolStart | ToolEnd) -> None:
        self._shown_call = event.tool_use_id
        self._screen.line(f"* {event.tool_name}({one_line(event.first_arg)})", "bold", cut=True)

    def tool_end(self, event: ToolEnd) -> None:
        """A call has its result: the diff of an edit, else the first lines of its text."""
        # Refused calls never start, and calls that run side by side end in any order: say whose result it is.
        if event.tool_use_id != self._shown_call:
            self._call(event)
        if event.diff is not None:
            self._screen.diff(event.diff)
        else:
            self._screen.block(event.result)
        self.outcome(event)
        self._after_tools = True

    def outcome(self, event: ToolEnd, about: str = "") -> None:
        """How a call ended and how long it took; ``about`` is added."""
        seconds = event.duration_ms / 1000
        self._screen.line(f"{_MARKS[event.outcome]}, {seconds:.2f} s{about}", _STYLES[event.outcome], lead="  ")

    def plan(self, event: PlanEvent) -> None:
        """The model's list of steps, as it is now."""
        for todo in event.data.get("todos", ()):
            sign, style = _TODO_SIGNS[todo["status"]]
            text = todo["activeForm"] if todo["status"] == "in_progress" else todo["content"]
            self._screen.line(one_line(text), style, lead=f"  [{sign}] ")

    def permission(self, event: PermissionRequest) -> None:
        """A permission request: which tool, why it is asked, and every argument."""
        screen = self._screen
        screen.line(f"? {event.tool_name} asks for permission: {event.reason}", "bold yellow")
        for name, value in event.tool_args.items():
            self._argument(name, value)

    def _argument(self, name: str, value: Any) -> None:
        text = cut_end(value if isinstance(value, str) else repr(value), ARGUMENT_CHARACTERS)
        kind = _ARGUMENT_SIGNS.get(name)
        if kind is None and "\n" not in text:
            self._screen.line(text, lead=f"    {one_line(name)}: ", hang="      ")
            return
        sign, style = _SIGNS[kind or "context"]
        self._screen.line(f"{name}:", lead="    ")
        for line in visible(text).removesuffix("\n").split("\n"):
            self._screen.line(line, style, lead=f"    {sign} ")

    def _interrupted(self, _event: Interrupted) -> None:
        self._screen.line("[interrupted]", "yellow")

    def _retry(self, event: Retry) -> None:
        self._screen.line(f"! attempt {event.attempt} in {event.delay_s:.1f} s: {event.reason}", "yellow")

    def _error(self, event: ErrorEvent) -> None:
        self._screen.line(f"! {event.error.message}", "red")

    def _warning(self, event: WarningEvent) -> None:
        self._screen.line(f"! {event.message}", "yellow")
