"""Who answers the demonstration's permission requests: the person at the terminal, or the demonstration itself."""

import asyncio
import os

from agentframework.cli.view import Screen, SessionView
from agentframework.events import PermissionRequest
from agentframework.session import InteractiveSession

_CHOICES = "y = yes, n = no, a = yes, and again in this session"
_QUESTION = "Allow it? "
_ANSWERS: dict[str, tuple[bool | str, str]] = {
    "y": (True, "Allowed."),
    "n": (False, "Refused."),
    "a": ("allow-session", "Allowed, and the same call again in this session."),
}
_WORDS = {"yes": "y", "no": "n", "": "n", "always": "a"}


class Answers:
    """Shows each request and answers it. An end of input is a no; so is an empty line."""

    def __init__(self, screen: Screen, *, ask_person: bool) -> None:
        self._screen = screen
        self._ask_person = ask_person

    async def answer(self, session: InteractiveSession, view: SessionView, event: PermissionRequest) -> None:
        """Show ``event`` and resolve it."""
        view.permission(event)
        if self._ask_person:
            answer, said = await self._asked()
        else:
            answer, said = True, "Nobody can answer here (no terminal), so the demo itself says yes."
        self._screen.line(said, "bold yellow")
        session.resolve_permission(event.id, answer)

    async def _asked(self) -> tuple[bool | str, str]:
        self._screen.line(_CHOICES)
        _forget_typed_ahead()
        while True:
            self._screen.prompt(_QUESTION)
            line = await _read_line()
            if line is None:
                return False, "\nThe input has ended, so the answer is no."
            word = line.strip().lower()
            found = _ANSWERS.get(_WORDS.get(word, word))
            if found is not None:
                return found
            self._screen.line("Please answer y, n or a.")


def _forget_typed_ahead() -> None:
    """What was typed before the question was shown is no answer to it."""
    import termios  # noqa: PLC0415 - not on every system, and only needed where there is a terminal

    try:
        termios.tcflush(0, termios.TCIFLUSH)
    except termios.error:
        return


async def _read_line() -> str | None:
    """One line of the terminal, None at the end of input. May be cancelled."""
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_reader(0, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(0)
    try:
        data = os.read(0, 4_096)
    except OSError:
        return None
    return data.decode("utf-8", "replace") if data else None
