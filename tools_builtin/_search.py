"""What a search engine is to ``WebSearch``: a port with one method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One page that was found."""

    title: str
    url: str
    snippet: str


class SearchError(Exception):
    """The engine could not answer; ``str()`` says why."""


class SearchEngine(Protocol):
    """Who searches."""

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """At most ``limit`` hits, best first; none is no error. Raises `SearchError`."""
        ...
