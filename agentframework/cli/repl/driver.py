"""What becomes of a line, an interrupt and the end: the part of the interactive mode that needs no terminal.

A line is a prompt or a slash command. Prompts that are entered while a turn runs wait here, each for a turn of its
own: in the session's queue a newer one of the same driver would take the older one's place. Above: the terminal and
the plain mode. Below: the session, and what they show.
"""

import time
from collections.abc import Callable
from typing import Protocol

from agentframework._base.owner import TaskOwner
from agentframework.errors import SessionClosedError
from agentframework.session import InteractiveSession
from agentframework.slash import CommandResult, looks_like_command, split_line

EXIT_DONE = 0
EXIT_INTERRUPTED = 130
# A second Ctrl-C within this many seconds leaves.
AGAIN_S = 3.0


class Show(Protocol):
    """Where the driver's words go."""

    def prompt(self, text: str, *, typed: bool) -> None:
        """A prompt or command, when its turn has come; ``typed`` if it was entered just now."""
        ...

    def message(self, text: str, style: str = "") -> None:
        """Something to tell."""
        ...

    def turn_over(self) -> None:
        """A turn has ended."""
        ...


class Driver:
    """Feeds one session. ``leave`` is called once, with the exit code; ``changed`` when the queue has changed."""

    def __init__(
        self,
        session: InteractiveSession,
        show: Show,
        owner: TaskOwner,
        *,
        leave: Callable[[int], None],
        changed: Callable[[], None],
        keys: str,
    ) -> None:
        self._session = session
        self._show = show
        self._owner = owner
        self._leave = leave
        self._changed = changed
        self._keys = keys
        self._working = False
        self._commands = 0
        self._leaving = False
        self._last_interrupt = -AGAIN_S
        self.queue: list[str] = []

    @property
    def busy(self) -> bool:
        """True while a turn or a command runs or is about to."""
        return self._working or self._commands > 0

    def enter(self, text: str, *, typed: bool = True) -> None:
        """A line, or several as one prompt. Blank ones are ignored; ``typed`` is False if nobody typed it here."""
        if not text.strip() or self._leaving:
            return
        if looks_like_command(text):
            self._commands += 1
            self._owner.start(self._command(text, typed), "slash command")
            return
        self.queue.append(text.strip("\n"))
        begins, self._working = not self._working, True
        self._changed()
        if begins:
            self._owner.start(self._work(typed), "turns")

    async def _work(self, typed: bool) -> None:
        try:
            while self.queue and not self._leaving:
                text = self.queue.pop(0)
                self._show.prompt(text, typed=typed)
                typed = False
                await self._turn(text)
        finally:
            self._working = False
            self._changed()

    async def _turn(self, text: str) -> None:
        try:
            await self._session.submit_nowait(text).completed
        except SessionClosedError:
            self.leave(EXIT_DONE)
        except Exception:
            # Whatever a turn fails with, its error event has been shown already.
            pass
        finally:
            self._show.turn_over()

    async def _command(self, text: str, typed: bool) -> None:
        try:
            self._show.prompt(text.strip(), typed=typed)
            name, args = split_line(text) or ("", "")
            result = await self._session.execute_command(name, args)
            if result is None:
                self._show.message(self._unknown(name), "yellow")
                return
            if result.message:
                self._show.message(result.message, "" if result.success else "yellow")
            self._follow(result)
        finally:
            self._commands -= 1
            self._changed()

    def _unknown(self, name: str) -> str:
        close = [info.name for info in self._session.list_commands() if info.name.startswith(name.lower()[:2])]
        hint = f" Did you mean {' or '.join(f'/{found}' for found in close)}?" if close else ""
        return f"There is no command /{name}.{hint} /help lists them all."

    def _follow(self, result: CommandResult) -> None:
        for intent in result.ui_intents:
            if intent == "exit":
                self.leave(EXIT_DONE)
            elif intent == "show_keys":
                self._show.message(self._keys)
            else:
                self._show.message(f"! this terminal cannot show {intent!r}", "yellow")

    def interrupt(self) -> str:
        """Ctrl-C: stop the turn; a second one leaves. Gives the queued prompts back, which will not run now."""
        now = time.monotonic()
        again = now - self._last_interrupt < AGAIN_S
        self._last_interrupt = now
        if again:
            self.leave(EXIT_INTERRUPTED)
            return ""
        waiting, self.queue = self.queue, []
        if self._working:
            self._session.abort()
        self._changed()
        return "\n".join(waiting)

    def leave(self, code: int) -> None:
        """Nothing further is begun."""
        if not self._leaving:
            self._leaving = True
            self._leave(code)
