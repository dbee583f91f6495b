"""Search engines that want a key: Brave and Tavily, over their public HTTP interfaces.

Above is ``web_search``, which imports this when a key is there. Sources: the API references of Brave Search ("Web
search") and Tavily ("Search").
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import httpx2

from ._search import SearchError, SearchHit

BRAVE_URL = "https://api.search.brave.com/res/v1/web/search"
TAVILY_URL = "https://api.tavily.com/search"
# Neither gives more at once.
_MOST = 20
_MAX_BYTES = 2_000_000
_TIMEOUT_S = 15.0


class BraveEngine:
    """Brave Search with a subscription token."""

    def __init__(self, api_key: str, *, url: str = BRAVE_URL) -> None:
        self._api_key = api_key
        self._url = url

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """See `SearchEngine.search`."""
        headers = {"x-subscription-token": self._api_key, "accept": "application/json"}
        parameters = {"q": query, "count": str(min(limit, _MOST))}
        found = await _json("Brave", httpx2.Request("GET", self._url, params=parameters, headers=headers))
        web = found.get("web")
        rows = cast("Mapping[str, Any]", web).get("results") if isinstance(web, Mapping) else None
        return _hits(rows, "description")[:limit]


class TavilyEngine:
    """Tavily with an API key."""

    def __init__(self, api_key: str, *, url: str = TAVILY_URL) -> None:
        self._api_key = api_key
        self._url = url

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """See `SearchEngine.search`."""
        headers = {"authorization": f"Bearer {self._api_key}"}
        body = {"query": query, "max_results": min(limit, _MOST)}
        found = await _json("Tavily", httpx2.Request("POST", self._url, json=body, headers=headers))
        return _hits(found.get("results"), "content")[:limit]


async def _json(name: str, request: httpx2.Request) -> Mapping[str, Any]:
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=_TIMEOUT_S) as client:
            response = await client.send(request, stream=True)
            try:
                _check(name, response)
                body = b""
                async for piece in response.aiter_bytes():
                    body += piece
                    if len(body) > _MAX_BYTES:
                        raise SearchError(f"the answer of {name} is larger than {_MAX_BYTES:,} bytes")
            finally:
                await response.aclose()
        found: object = httpx2.Response(200, content=body).json()
    except httpx2.TimeoutException:
        raise SearchError(f"{name} did not answer in time") from None
    except httpx2.HTTPError as error:
        raise SearchError(f"{name} cannot be reached ({type(error).__name__}); is this machine offline?") from error
    except ValueError:
        raise SearchError(f"{name} did not answer with JSON") from None
    if not isinstance(found, Mapping):
        raise SearchError(f"{name} did not answer with a JSON object")
    return cast("Mapping[str, Any]", found)


def _check(name: str, response: httpx2.Response) -> None:
    status = response.status_code
    if status in (401, 403):
        raise SearchError(f"{name} refused the key (HTTP {status})")
    if status == 429:
        raise SearchError(f"{name} allows no more searches at the moment (HTTP 429)")
    if not response.is_success:
        raise SearchError(f"{name} answered HTTP {status}")


def _hits(rows: object, snippet: str) -> list[SearchHit]:
    hits: list[SearchHit] = []
    for row in cast("Sequence[object]", rows) if isinstance(rows, list) else ():
        fields = cast("Mapping[str, Any]", row) if isinstance(row, Mapping) else {}
        if fields.get("url"):
            hits.append(SearchHit(*(str(fields.get(key) or "") for key in ("title", "url", snippet))))
    return hits
