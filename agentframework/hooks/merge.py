"""One outcome of all hooks of an event: the strictest verdict holds, among equals the first in the configuration."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentframework.hooks.model import HookAnswer, Verdict
from agentframework.hooks.output import strength


@dataclass(frozen=True, slots=True)
class HookOutcome:
    """What the hooks of an event amount to. ``reasons`` are those of all that gave this decision, in order.

    ``outdone`` are the places of hooks whose changed input was not taken, because another's was.
    """

    decision: Verdict | None = None
    reasons: tuple[str, ...] = ()
    updated_input: Mapping[str, Any] | None = None
    context: tuple[str, ...] = ()
    stop: bool = False
    outdone: tuple[int, ...] = ()

    @property
    def blocked(self) -> bool:
        """True if a hook said no."""
        return self.decision == "deny"

    @property
    def reason(self) -> str:
        """The first reason."""
        return self.reasons[0] if self.reasons else ""


NOTHING = HookOutcome()


def merge(answers: Sequence[HookAnswer]) -> HookOutcome:
    """The outcome of ``answers``, which are in the order of the configuration. Deny beats ask, ask beats allow."""
    decisions: list[Verdict | None] = [answer.decision for answer in answers]
    decision = max(decisions, key=strength, default=None)
    changes = [place for place, answer in enumerate(answers) if answer.updated_input is not None]
    chosen = max(changes, key=lambda place: strength(answers[place].decision), default=None)
    if decision == "allow" and chosen is not None and answers[chosen].decision != "allow":
        # Whoever allowed it has not seen what another hook has made of it.
        decision = None
    reasons = (answer.reason for answer in answers if decision is not None and answer.decision == decision)
    updated = None if chosen is None else answers[chosen].updated_input
    return HookOutcome(
        decision,
        tuple(reason for reason in reasons if reason),
        updated,
        tuple(answer.context for answer in answers if answer.context),
        any(answer.stop for answer in answers),
        tuple(place for place in changes if answers[place].updated_input != updated),
    )
