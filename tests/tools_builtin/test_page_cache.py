import pytest

from tools_builtin._page import FetchError, Moved, Page
from tools_builtin._page_cache import KEPT_S, MAX_BYTES, PageCache


class Web:
    """Pages of a size, and which of them were asked for."""

    def __init__(self, size: int = 10) -> None:
        self.size = size
        self.asked: list[str] = []
        self.now = 0.0
        self.cache = PageCache(lambda: self.now)

    async def fetch(self, address: str) -> Page | Moved:
        self.asked.append(address)
        if address == "moved":
            return Moved(302, address, "elsewhere")
        if address == "broken":
            raise FetchError("broken")
        return Page(address, "text/plain", b"x" * self.size)

    async def get(self, *addresses: str) -> list[str]:
        for address in addresses:
            await self.cache.get(address, self.fetch)
        return self.asked


async def test_a_page_is_fetched_once_in_a_quarter_of_an_hour() -> None:
    web = Web()
    assert await web.get("a", "a", "b") == ["a", "b"]
    web.now = KEPT_S - 1
    assert await web.get("a") == ["a", "b"]
    web.now = KEPT_S
    assert await web.get("a") == ["a", "b", "a"]


async def test_redirects_and_failures_are_not_kept() -> None:
    web = Web()
    assert await web.get("moved", "moved") == ["moved", "moved"]
    for _ in range(2):
        with pytest.raises(FetchError):
            await web.get("broken")
    assert web.asked[2:] == ["broken", "broken"]


async def test_the_oldest_pages_make_room() -> None:
    web = Web(MAX_BYTES // 2)
    await web.get("a", "b", "c")
    assert await web.get("b", "c") == ["a", "b", "c"]
    assert await web.get("a") == ["a", "b", "c", "a"]
