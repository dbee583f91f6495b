"""Leaving the oldest out, in steps: a conversation that outgrew its bounds is cut well below them.

The cut depends on nothing but the messages, as if it had been made while they came in. So whoever sends a growing
conversation again and again, whole or already cut, has the same beginning until the next step, and what the API has
cached of it stays of use.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from agentframework.context.estimate import BYTES_PER_TOKEN, estimate_message_bytes
from agentframework.context.rounds import WHOLE, Cut, cut_places, turn_starts
from agentframework.messages import AssistantMessage, ContextState, Message

_STEP = 0.6
_STEP_WITH_RECENT_TURNS = 0.8


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much may be sent. Bytes None: as many as the tokens stand for; messages None: any number."""

    tokens: int
    messages: int | None = None
    bytes: int | None = None

    @property
    def most_bytes(self) -> int:
        """Bytes that both bounds on size allow."""
        by_tokens = self.tokens * BYTES_PER_TOKEN
        return by_tokens if self.bytes is None else min(by_tokens, self.bytes)

    def hold(self, messages: int, size: int, share: float = 1.0) -> bool:
        """Whether so many messages of ``size`` bytes take at most ``share`` of what is allowed."""
        return size <= share * self.most_bytes and (self.messages is None or messages <= share * self.messages)

    def state(self, messages: int, size: int) -> ContextState:
        """The numbers as events carry them."""
        return ContextState(self.tokens, -(-size // BYTES_PER_TOKEN), messages, size)


class _Sizes:
    """How large what a cut leaves is, without adding up each time."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._sums = [0, *accumulate(map(estimate_message_bytes, messages))]

    def of(self, cut: Cut, end: int) -> tuple[int, int]:
        first, last = cut.opening
        size = self._sums[end] - self._sums[cut.start] + self._sums[last] - self._sums[first]
        return end - cut.start + last - first, size


def cut_to_fit(messages: Sequence[Message], bounds: Bounds, keep_turns: int = 0) -> Cut:
    """The latest of the cuts that became necessary while ``messages`` came in; `WHOLE` if none did.

    ``keep_turns`` of the latest turns stay whole if they leave room for more. What cannot be cut may exceed the bounds.
    """
    sizes, places, starts = _Sizes(messages), cut_places(messages), turn_starts(messages)
    asked = [place for place, message in enumerate(messages) if isinstance(message, AssistantMessage)]
    cut = WHOLE
    for end in (*asked, len(messages)):
        if not bounds.hold(*sizes.of(cut, end)):
            began = [start for start in starts if start < end]
            recent = began[-keep_turns] if 0 < keep_turns <= len(began) else end
            open_places = [place for place in places if cut.start < place.start < end]
            cut = _step(open_places, sizes, end, bounds, recent) or cut
    return cut


def _step(places: Sequence[Cut], sizes: _Sizes, end: int, bounds: Bounds, recent: int) -> Cut | None:
    chosen = next((place for place in places if bounds.hold(*sizes.of(place, end), _STEP)), None)
    chosen = chosen or (places[-1] if places else None)
    if chosen is not None and chosen.start > recent:
        gentle = next((place for place in places if place.start == recent), None)
        if gentle is not None and bounds.hold(*sizes.of(gentle, end), _STEP_WITH_RECENT_TURNS):
            return gentle
    return chosen
