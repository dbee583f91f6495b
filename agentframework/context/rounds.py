"""Where a conversation may be cut so that what is left is one that a model can be sent.

A turn begins with what the user said; a round is one reply of the model with the results of its calls. A cut falls
between two turns or between two rounds of a turn, never between calls and their results. Cut within a turn, what the
user asked for at its beginning stays.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agentframework.messages import AssistantMessage, Message, ToolMessage, UserMessage


@dataclass(frozen=True, slots=True)
class Cut:
    """Leaves the messages from ``start`` on, and ahead of them those of ``opening`` (from, to): the words that began
    the turn which is cut through. Between two turns the opening is empty."""

    start: int
    opening: tuple[int, int] = (0, 0)

    def kept(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """What is left of ``messages``."""
        return (*messages[slice(*self.opening)], *messages[self.start :])

    def left_out(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """What is not."""
        first, last = self.opening
        return (*messages[:first], *messages[last : self.start])


WHOLE = Cut(0)


def turn_starts(messages: Sequence[Message]) -> list[int]:
    """The places where turns begin: user messages that follow none."""
    return [
        place
        for place, message in enumerate(messages)
        if isinstance(message, UserMessage) and (place == 0 or not isinstance(messages[place - 1], UserMessage))
    ]


def cut_places(messages: Sequence[Message]) -> list[Cut]:
    """Every place where ``messages`` may be cut, the earliest first."""
    found: list[Cut] = []
    opening = (0, 0)
    for place, message in enumerate(messages):
        before = messages[place - 1] if place else None
        if isinstance(message, UserMessage):
            if isinstance(before, UserMessage):
                opening = (opening[0], place + 1)
                continue
            opening = (place, place + 1)
            if place:
                found.append(Cut(place))
        elif isinstance(message, AssistantMessage) and isinstance(before, ToolMessage):
            found.append(Cut(place, opening))
    return found


def cut_at(messages: Sequence[Message], message_id: str) -> Cut | None:
    """The place to cut before the message of this id; None if there is none or it is no place for a cut."""
    return next((cut for cut in cut_places(messages) if messages[cut.start].id == message_id), None)
