"""The interactive mode on a full terminal.

The transcript is printed, once, and scrolls away like any program's output. Below it prompt_toolkit draws what moves:
the open block of the reply, running calls, the question that waits, the input line, the status. Both go through one
place, so that they cannot garble each other: what is to be printed is kept until the next redraw, which takes the
drawn part away, prints, and draws it again below. Above: ``start``. Below: the wired conversation.
"""

import asyncio
import time
from collections.abc import Callable

from prompt_toolkit.application.current import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import ANSI, AnyFormattedText
from prompt_toolkit.history import History
from prompt_toolkit.layout import BufferControl, ConditionalContainer, FormattedTextControl, HSplit, Layout, Window
from prompt_toolkit.layout.containers import VerticalAlign
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu

from agentframework._base.bounded import printable
from agentframework.cli.output import write_stdout
from agentframework.cli.repl.application import BelowTranscript
from agentframework.cli.repl.completion import LineCompleter
from agentframework.cli.repl.driver import AGAIN_S, EXIT_DONE
from agentframework.cli.repl.keys import KEYS, line_keys, panel_keys
from agentframework.cli.repl.picture import Picture, painted
from agentframework.cli.repl.questions import Panel
from agentframework.cli.repl.strays import strays_shown
from agentframework.cli.repl.wiring import welcome, wire
from agentframework.cli.view import Screen
from agentframework.session import InteractiveSession

# A question takes keys only after so many seconds without typing: what was meant for the line is no answer.
QUIET_S = 0.4
LEAST_TICK_S = 0.1
MOST_TICK_S = 1.0
MENU_ROWS = 8
# The line, the status, blank rows, and some of the transcript.
ROWS_BELOW = 5


class Terminal:
    """Shows one session until the person leaves."""

    def __init__(self, session: InteractiveSession, history: History) -> None:
        self._unprinted: list[bytes] = []
        self._moving = asyncio.Event()
        self._notice, self._notice_until = "", 0.0
        self._ready: Panel | None = None
        self._answering: Panel | None = None
        self._draft = Document()
        self._typed_at = 0.0
        self._wired = wire(
            session, Screen(write=self._collect), keys=KEYS, changed=self._changed, leave=self._leave
        )
        self._picture = Picture(self._wired)
        self._buffer = Buffer(
            name="line",
            multiline=True,
            history=history,
            completer=LineCompleter(session.cwd, session.list_commands, lambda: self._answering is None),
            complete_while_typing=True,
            on_text_changed=self._typed,
        )
        self._app = self._application()

    # --- layout -----------------------------------------------------------------------------------------

    def _application(self) -> BelowTranscript:
        self._line = Window(
            BufferControl(self._buffer),
            wrap_lines=True,
            dont_extend_height=True,
            height=self._line_height,
            get_line_prefix=self._line_prefix,
        )
        self._choices = Window(
            FormattedTextControl(self._panel_text, focusable=True, show_cursor=False, key_bindings=panel_keys(self)),
            dont_extend_height=True,
        )
        moving = Window(FormattedTextControl(self._moving_text), dont_extend_height=True)
        gap = Window(height=Dimension(min=0, max=1, preferred=1))
        status = Window(FormattedTextControl(lambda: ANSI(self._picture.status())), height=1)
        some = Condition(lambda: bool(self._moving_lines()))
        asked = Condition(lambda: self._wired.questions.current is not None)
        app = BelowTranscript(
            print_above=self._print,
            layout=Layout(
                HSplit(
                    [
                        ConditionalContainer(moving, some),
                        ConditionalContainer(gap, some & asked),
                        ConditionalContainer(self._choices, asked),
                        Window(height=Dimension(min=0, max=1, preferred=1)),
                        self._line,
                        CompletionsMenu(max_height=MENU_ROWS, scroll_offset=1),
                        status,
                    ],
                    align=VerticalAlign.TOP,
                ),
                focused_element=self._line,
            ),
            key_bindings=line_keys(self, self._buffer, Condition(lambda: self._answering is not None)),
        )
        app.ttimeoutlen = 0.05
        return app

    def _size(self) -> Size:
        return self._app.output.get_size()

    def _line_height(self) -> Dimension:
        return Dimension(min=1, max=max(1, get_app().output.get_size().rows // 2))

    def _line_prefix(self, number: int, wrapped: int) -> AnyFormattedText:
        if number or wrapped:
            return "  "
        return ANSI(painted(self._wired.screen.console, "? " if self._answering else "> ", "bold cyan"))

    def _moving_lines(self) -> str:
        notice = self._notice if time.monotonic() < self._notice_until else ""
        return self._picture.moving(self._size().rows - ROWS_BELOW - len(self._panel_lines()), notice)

    def _moving_text(self) -> AnyFormattedText:
        return ANSI(self._moving_lines())

    def _panel_lines(self) -> list[str]:
        panel = self._wired.questions.current
        return [] if panel is None else self._picture.panel(panel, self._ready is panel)

    def _panel_text(self) -> AnyFormattedText:
        return ANSI("\n".join(self._panel_lines()))

    # --- printing ---------------------------------------------------------------------------------------

    def _collect(self, data: bytes) -> None:
        if self._app_runs:
            self._unprinted.append(data)
            self._app.invalidate()
        else:
            write_stdout(data)

    @property
    def _app_runs(self) -> bool:
        return self._app.is_running and not self._app.is_done

    def _print(self) -> None:
        if not self._unprinted:
            return
        text = b"".join(self._unprinted).decode(self._wired.screen.console.encoding, "replace")
        self._unprinted.clear()
        self._app.renderer.erase()
        self._app.output.write_raw(text.replace("\n", "\r\n"))

    def _changed(self, now: bool) -> None:
        self._moving.set()
        if now:
            self._arrange()
            self._app.invalidate()

    async def _tick(self) -> None:
        """Redraw while something moves, the slower the more a redraw costs."""
        while True:
            await self._moving.wait()
            self._wired.transcript.settle_text()
            self._app.invalidate()
            await asyncio.sleep(min(MOST_TICK_S, max(LEAST_TICK_S, 10 * self._picture.render_s)))
            if self._wired.live.turn_began is None and time.monotonic() >= self._notice_until:
                self._moving.clear()
                self._app.invalidate()

    # --- questions --------------------------------------------------------------------------------------

    def _typed(self, _buffer: Buffer) -> None:
        self._typed_at = time.monotonic()

    def _arrange(self) -> None:
        """Give the keys to whoever needs them: the line, or the question."""
        panel = self._wired.questions.current
        if panel is not None and panel is not self._ready:
            left = self._typed_at + QUIET_S - time.monotonic()
            if left > 0:
                asyncio.get_running_loop().call_later(left, self._changed, True)
                panel = None
        self._ready = panel
        line_panel = panel if panel is not None and panel.wants_line else None
        if line_panel is not self._answering:
            self._lend_line(line_panel)
        choosing = panel is not None and line_panel is None
        self._app.layout.focus(self._choices if choosing else self._line)

    def _lend_line(self, panel: Panel | None) -> None:
        if self._answering is None:
            self._draft = self._buffer.document
        self._answering = panel
        self._buffer.cancel_completion()
        self._buffer.document = self._draft if panel is None else Document(panel.prefill)

    # --- what keys do -----------------------------------------------------------------------------------

    def entered(self, buffer: Buffer) -> None:
        """Enter in the line."""
        text = printable(buffer.text)
        if self._answering is not None:
            if self._answering.line(text):
                buffer.reset()
            self._changed(True)
        elif text.endswith("\\") and buffer.document.is_cursor_at_the_end:
            buffer.delete_before_cursor()
            buffer.newline(copy_margin=False)
        else:
            buffer.reset(append_to_history=bool(text.strip()))
            self._typed_at = time.monotonic()
            self._wired.driver.enter(text)

    def interrupted(self, buffer: Buffer) -> None:
        """Ctrl-C. What waited in the queue goes back into the line, if that is free."""
        was_busy = self._wired.live.turn_began is not None
        waiting = self._wired.driver.interrupt()
        if self._answering is None and not was_busy:
            buffer.reset()
        elif waiting and self._answering is None and not buffer.text.strip():
            buffer.document = Document(waiting)
        self._tell("Ctrl-C again leaves.", AGAIN_S)

    def ended(self) -> None:
        """Ctrl-D."""
        self._wired.driver.leave(EXIT_DONE)

    def cancelled(self) -> None:
        """Esc at a question."""
        if self._ready is not None:
            self._ready.cancel()
            self._changed(True)

    def unfold(self) -> None:
        """Ctrl-O."""
        thought = self._wired.live.last_thought
        self._wired.transcript.message(thought or "No thoughts were shown by the model yet.", "dim italic")

    def pressed(self, name: str) -> None:
        """A key at a question."""
        if self._ready is not None:
            self._ready.key(name)
            self._changed(True)

    def _tell(self, notice: str, seconds: float) -> None:
        self._notice, self._notice_until = notice, time.monotonic() + seconds
        self._changed(True)

    # --- life -------------------------------------------------------------------------------------------

    def _leave(self, code: int) -> None:
        if self._app_runs:
            self._app.exit(result=code)

    @property
    def leave(self) -> Callable[[int], None]:
        """Ends `run` with an exit code."""
        return self._wired.driver.leave

    async def run(self, first_prompt: str) -> int:
        """Until the person leaves; returns the exit code. An end of the input is a leave-taking too."""
        loop = asyncio.get_running_loop()
        before = loop.get_exception_handler()
        loop.set_exception_handler(self._fault)
        self._wired.owner.start(self._tick(), "screen")
        try:
            with strays_shown(lambda line: self._wired.transcript.message(line, "dim")):
                return await self._app.run_async(
                    pre_run=lambda: self._begin(first_prompt), set_exception_handler=False
                )
        except EOFError:
            return EXIT_DONE
        finally:
            loop.set_exception_handler(before)
            self._print_rest()

    def _begin(self, first_prompt: str) -> None:
        self._wired.transcript.welcome(welcome(self._wired.session.cwd))
        self._wired.driver.enter(first_prompt, typed=False)

    def _print_rest(self) -> None:
        rest = b"".join(self._unprinted)
        self._unprinted.clear()
        write_stdout(rest)

    async def aclose(self) -> None:
        """End what is left of our own work; the session is the caller's."""
        await self._wired.owner.close()

    def _fault(self, loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
        """A fault in drawing or in a key would come again at once: leave. Any other is told."""
        error = context.get("exception")
        if "handle" in context and isinstance(error, Exception) and self._app_runs:
            self._app.exit(exception=error)
        else:
            self._wired.transcript.message(f"! {context.get('message')}: {error!r}", "red")
