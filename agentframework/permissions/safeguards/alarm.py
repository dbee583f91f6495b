"""One reason to ask in every mode."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Alarm:
    """``reason`` holds nothing of the call, ``detail`` may.

    A ``certain`` one is never lifted. Otherwise the call only may be dangerous, since a part of it is known only
    when it runs: a person who has allowed this very call lifts that.
    """

    reason: str
    detail: str = ""
    certain: bool = True


def unclear(detail: str) -> Alarm:
    """What is known only at run time may be anything."""
    return Alarm("what it does is known only when it runs", detail, certain=False)
