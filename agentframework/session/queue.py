"""Prompts that wait for the running turn to end.

At most one of a driver waits: a newer one takes its place in the line. Drivers are served in the order in
which they came. Messages that were meant for a turn and missed it wait in front, and nothing replaces them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agentframework.errors import TurnNotRunError
from agentframework.events import TurnSource
from agentframework.loop.turn import AS_THE_CONVERSATION, TurnSettings
from agentframework.messages import UserMessage
from agentframework.session.turn_handle import TurnHandle

QUEUE_CAPACITY = 32


@dataclass(frozen=True, slots=True)
class Prompt:
    """A submitted prompt: what the model gets, what is shown, what was typed, and by whom.

    ``settings`` holds for its turn alone; ``steer``: it is meant for the turn that runs.
    """

    handle: TurnHandle
    message: UserMessage
    display: str
    raw: str
    driver_id: str
    source: TurnSource = "user"
    settings: TurnSettings = AS_THE_CONVERSATION
    steer: bool = False


class PromptQueue:
    """The waiting line. Whoever leaves it without running has its handle rejected here."""

    __slots__ = ("_capacity", "_waiting")

    def __init__(self, capacity: int = QUEUE_CAPACITY) -> None:
        self._capacity = capacity
        self._waiting: list[Prompt] = []

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def head(self) -> Prompt | None:
        """The prompt that runs next."""
        return self._waiting[0] if self._waiting else None

    def offer(self, prompt: Prompt) -> bool:
        """Queue ``prompt``; replaces the waiting one of its driver. False (and rejected) if there is no room."""
        for place, waiting in enumerate(self._waiting):
            if waiting.driver_id == prompt.driver_id and not waiting.steer:
                self._waiting[place] = prompt
                waiting.handle.reject(TurnNotRunError(waiting.handle.turn_id, "coalesced"))
                return True
        if len(self._waiting) >= self._capacity:
            prompt.handle.reject(TurnNotRunError(prompt.handle.turn_id, "dropped"))
            return False
        self._waiting.append(prompt)
        return True

    def put_first(self, prompts: Sequence[Prompt]) -> Sequence[Prompt]:
        """Queue ``prompts`` ahead of all others. Those for which there is no room are rejected and returned."""
        room = max(0, self._capacity - len(self._waiting))
        self._waiting[:0] = prompts[:room]
        for prompt in prompts[room:]:
            prompt.handle.reject(TurnNotRunError(prompt.handle.turn_id, "dropped"))
        return prompts[room:]

    def take(self) -> Prompt | None:
        """Remove and return the head."""
        return self._waiting.pop(0) if self._waiting else None

    def clear(self) -> list[Prompt]:
        """Reject all as cancelled and return them."""
        cleared, self._waiting = self._waiting, []
        for prompt in cleared:
            prompt.handle.reject(TurnNotRunError(prompt.handle.turn_id, "cancelled"))
        return cleared
