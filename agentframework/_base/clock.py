"""Time as the package writes it: seconds since the epoch in memory, ISO 8601 in UTC in JSON."""

from datetime import UTC, datetime
from time import time

now = time


def to_iso(seconds: float) -> str:
    """``1700000000.5`` → ``"2023-11-14T22:13:20.500000Z"`` (microseconds, RFC 3339)."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_iso(text: str) -> float:
    """Inverse of `to_iso`; raises ``ValueError`` on anything that is not ISO 8601 with an offset."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"time without an offset: {text!r}")
    return moment.timestamp()
