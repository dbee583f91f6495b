"""The interactive mode on a terminal that cannot move its cursor: lines in, text out.

The terminal itself edits and echoes the line. Text streams as it comes, questions are answered by a line. Above:
``start``. Below: the wired conversation.
"""

import asyncio
import os
import signal
import termios
from collections.abc import Callable

from agentframework._base.bounded import printable
from agentframework.cli.repl.driver import EXIT_DONE
from agentframework.cli.repl.questions import Panel
from agentframework.cli.repl.wiring import welcome, wire
from agentframework.cli.view import Screen
from agentframework.session import InteractiveSession

KEYS = """\
Keys:
  Enter    send; while a turn runs, queue
  \\ Enter  new line
  Ctrl-C   stop the turn; twice leaves
  Ctrl-D   leave"""

_MOST = 65_536
_LETTERS = {"y": "y", "yes": "y", "n": "n", "no": "n", "a": "a", "p": "p", "e": "e"}


class Plain:
    """Shows one session until the person leaves."""

    def __init__(self, session: InteractiveSession) -> None:
        self._code: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._screen = Screen(plain=True)
        self._unread = b""
        self._above: list[str] = []
        self._shown: object = None
        self._wired = wire(
            session, self._screen, keys=KEYS, changed=self._changed, leave=self._leave, streams=True
        )

    @property
    def leave(self) -> Callable[[int], None]:
        """Ends `run` with an exit code."""
        return self._wired.driver.leave

    def _leave(self, code: int) -> None:
        if not self._code.done():
            self._code.set_result(code)

    async def run(self, first_prompt: str) -> int:
        """Until the person leaves; returns the exit code."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupted)
        loop.add_reader(0, self._readable)
        self._screen.on_fault = lambda: self._leave(EXIT_DONE)
        try:
            self._wired.transcript.welcome(welcome(self._wired.session.cwd))
            self._wired.driver.enter(first_prompt, typed=False)
            self._changed(True)
            return await self._code
        finally:
            loop.remove_reader(0)
            loop.remove_signal_handler(signal.SIGINT)
            if self._screen.fault is not None:
                raise self._screen.fault

    async def aclose(self) -> None:
        """End what is left of our own work."""
        await self._wired.owner.close()

    def _interrupted(self) -> None:
        self._above.clear()
        self._screen.line()
        if self._wired.driver.interrupt():
            self._screen.line("The queued prompts will not run.")
        self._screen.line("Ctrl-C again leaves.")
        self._shown = None
        self._changed(True)

    def _readable(self) -> None:
        try:
            data = os.read(0, _MOST)
        except OSError:
            data = b""
        if not data:
            self._screen.line()
            self._wired.driver.leave(EXIT_DONE)
            return
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._line(printable(line.decode("utf-8", "surrogateescape")))

    def _line(self, text: str) -> None:
        self._shown = None
        panel = self._wired.questions.current
        if panel is not None:
            self._answer(panel, text)
        elif text.endswith("\\"):
            self._above.append(text[:-1])
            self._screen.prompt("  ")
            return
        else:
            whole = "\n".join([*self._above, text])
            self._above.clear()
            self._wired.driver.enter(whole)
        self._changed(True)

    def _answer(self, panel: Panel, text: str) -> None:
        if not text.strip() and panel.wants_line:
            panel.cancel()
        elif panel.wants_line:
            panel.line(text)
        elif not panel.key(_LETTERS.get(text.strip().lower(), "")):
            self._screen.line("Please answer with one of the letters.")

    def _changed(self, now: bool) -> None:
        """Show the question, or that a prompt may be typed, once each."""
        if not now or self._code.done():
            return
        panel = self._wired.questions.current
        state = (panel, panel.wants_line) if panel is not None else self._wired.driver.busy
        if state == self._shown or state is True:
            return
        self._shown = state
        if panel is not None:
            _forget_typed_ahead()
            for text, _style in panel.lines(marked=False):
                self._screen.line(text)
            self._screen.prompt("? ")
            return
        session = self._wired.session
        share = session.get_context_state().used_percentage
        running = len(session.list_background_tasks(status="running"))
        tasks = f" | {running} in background" if running else ""
        self._screen.line(f"[{session.model} | {session.permission_mode} | context {share:.0f}%{tasks}]")
        self._screen.prompt("> ")


def _forget_typed_ahead() -> None:
    """What was typed before a question was shown is no answer to it."""
    try:
        termios.tcflush(0, termios.TCIFLUSH)
    except termios.error:
        return
