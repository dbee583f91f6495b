"""What fetching a page takes and gives, apart from how it is done.

Above are ``web_fetch`` and the fetcher. Apart, so that the tool can be described without loading an HTTP client.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Of one call: body size in bytes after unpacking, seconds for everything together, redirects followed."""

    max_bytes: int = 5_000_000
    deadline_s: float = 30.0
    max_redirects: int = 5


@dataclass(frozen=True, slots=True)
class Page:
    """What came back from ``url``, the last address of the chain. ``content_type`` is the header as it was sent."""

    url: str
    content_type: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Moved:
    """A redirect that was not followed, because it leads to another site."""

    status: int
    url: str
    target: str


class FetchError(Exception):
    """The page could not be had; ``str()`` says why, and what to do about it."""
