"""What every event carries."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class BaseEvent:
    """``turn_id`` is None outside a turn; ``seq`` rises by one per event of a session; ``time`` is seconds
    since the epoch (ISO 8601 in JSON)."""

    type: ClassVar[str]

    session_id: str
    turn_id: str | None
    seq: int
    time: float
