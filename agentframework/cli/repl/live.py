"""What moves on the screen while a turn runs: the open block of the reply, thoughts, running calls, the time.

State only; `transcript` keeps it, the terminal draws it. Above: both. Below: ``markdown``.
"""

import time
from dataclasses import dataclass, field

from agentframework.cli.repl.markdown import ReplyText


@dataclass(slots=True)
class RunningCall:
    """A call that runs. ``said`` is the last line of its live output."""

    title: str
    began: float
    said: str = ""


@dataclass(slots=True)
class Thought:
    """A piece of reasoning, folded."""

    began: float
    text: str = ""
    seconds: float = 0.0


@dataclass(slots=True)
class Live:
    """Everything that is not in the transcript yet. Times are those of ``time.monotonic``."""

    reply: ReplyText = field(default_factory=ReplyText)
    thought: Thought | None = None
    last_thought: str = ""
    calls: dict[str, RunningCall] = field(default_factory=dict[str, RunningCall])
    turn_began: float | None = None

    def begin_turn(self) -> None:
        """The clock starts."""
        self.turn_began = time.monotonic()

    def end_turn(self) -> float:
        """The clock stops; seconds since it started."""
        began, self.turn_began = self.turn_began, None
        self.calls.clear()
        return 0.0 if began is None else time.monotonic() - began

    def think(self, text: str) -> None:
        """A further piece of reasoning."""
        if self.thought is None:
            self.thought = Thought(time.monotonic())
        self.thought.text += text

    def end_thought(self) -> Thought | None:
        """The reasoning, if there was any since the last time, with how long it took."""
        thought, self.thought = self.thought, None
        if thought is not None:
            thought.seconds = time.monotonic() - thought.began
            self.last_thought = thought.text
        return thought

    @property
    def activity(self) -> str:
        """What is going on, in a word."""
        if self.calls:
            return "running"
        if self.thought is not None:
            return "thinking"
        return "answering" if self.reply else "waiting"


def elapsed(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``3 min 05 s``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"
