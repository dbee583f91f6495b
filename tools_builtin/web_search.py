"""The tool ``WebSearch``: titles, addresses and snippets of pages, from any engine behind a small port."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol
from urllib.parse import urlsplit

from agentframework._base.bounded import cut_end
from agentframework._base.threads import in_daemon_thread
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult, error_result

from ._search import SearchEngine, SearchError, SearchHit

MAX_HITS = 10
# Asked for when a filter will drop some.
MAX_HITS_BEFORE_FILTER = 40
DEADLINE_S = 20.0
MAX_TITLE, MAX_URL, MAX_SNIPPET = 200, 1_000, 600

_DOMAINS = {"type": "array", "items": {"type": "string", "minLength": 1}}
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 2, "description": "What to search for."},
        "allowed_domains": {
            **_DOMAINS,
            "description": "Only pages of these domains and their subdomains, e.g. python.org.",
        },
        "blocked_domains": {**_DOMAINS, "description": "No pages of these domains and their subdomains."},
    },
    "required": ["query"],
    "additionalProperties": False,
}
_DESCRIPTION = (
    f"Search the web. Gives up to {MAX_HITS} pages as a JSON array of title, url and snippet; WebFetch reads a page. "
    "Results are filtered by domain after the search, so name the site in the query as well."
)


class TextSearch(Protocol):
    """The part of ``ddgs.DDGS`` that is used."""

    def text(self, query: str, *, max_results: int) -> Sequence[Mapping[str, Any]]:
        """Rows with ``title``, ``href`` and ``body``; raises if nothing was found."""
        ...


class DdgsEngine:
    """Public search pages through the package ddgs: no key, and no promise of service either."""

    def __init__(self, client: Callable[[], TextSearch] | None = None) -> None:
        self._client = client or _ddgs_client

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """See `SearchEngine.search`."""
        return await in_daemon_thread(lambda: self._search(query, limit))

    def _search(self, query: str, limit: int) -> list[SearchHit]:
        try:
            rows = self._client().text(query, max_results=limit)
        except Exception as error:  # engines fail in every way, from timeouts to changed pages
            if "No results found" in str(error):
                return []
            raise SearchError(" ".join(str(error).split())[:300] or type(error).__name__) from error
        return [
            SearchHit(*(str(row.get(name) or "") for name in ("title", "href", "body")))
            for row in rows
            if row.get("href")
        ]


def _ddgs_client() -> TextSearch:
    from ddgs import DDGS  # noqa: PLC0415 - loads a TLS library

    return DDGS(timeout=10)


def engine_for(environment: Mapping[str, str]) -> SearchEngine:
    """Brave or Tavily if ``BRAVE_API_KEY`` or ``TAVILY_API_KEY`` is there, else `DdgsEngine`, which needs no key."""
    return _KeyedEngine(environment) if any(environment.get(name) for name in KEY_NAMES) else DdgsEngine()


KEY_NAMES = ("BRAVE_API_KEY", "TAVILY_API_KEY")


class _KeyedEngine:
    """Makes the engine at the first search, because that loads an HTTP client."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._brave, self._tavily = (environment.get(name) for name in KEY_NAMES)
        self._engine: SearchEngine | None = None

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        """See `SearchEngine.search`."""
        if self._engine is None:
            self._engine = await in_daemon_thread(self._make)
        return await self._engine.search(query, limit)

    def _make(self) -> SearchEngine:
        from ._search_engines import BraveEngine, TavilyEngine  # noqa: PLC0415 - loads an HTTP client

        return BraveEngine(self._brave) if self._brave else TavilyEngine(self._tavily or "")


def web_search_tool(engine: SearchEngine | None = None, *, deadline_s: float = DEADLINE_S) -> Tool:
    """``WebSearch(query, allowed_domains, blocked_domains)`` over ``engine``, by default `DdgsEngine`."""
    searcher = engine or DdgsEngine()

    async def run(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        query = str(arguments["query"]).strip()
        if not query:
            return error_result("the query is empty")
        allowed, blocked = (
            [_domain(entry) for entry in arguments.get(name) or ()] for name in ("allowed_domains", "blocked_domains")
        )
        if "" in (*allowed, *blocked):
            return error_result("a domain is given as its name alone, e.g. docs.python.org")
        try:
            async with asyncio.timeout(deadline_s):
                hits = await searcher.search(query, MAX_HITS_BEFORE_FILTER if allowed or blocked else MAX_HITS)
        except TimeoutError:
            return error_result(f"the search engine did not answer within {deadline_s:g} s; retrying may help")
        except SearchError as error:
            return error_result(f"the search failed: {error}; retrying later may help")
        wanted = [hit for hit in hits if (not allowed or _is_in(hit, allowed)) and not _is_in(hit, blocked)]
        return _result(wanted[:MAX_HITS], dropped=len(hits) - len(wanted))

    return Tool("WebSearch", _DESCRIPTION, _SCHEMA, run, RiskClass.INSPECT, "query")


def _domain(entry: str) -> str:
    """``https://www.Example.com/x`` and ``*.example.com`` mean what they say: the host, without the rest."""
    entry = entry.strip().lower()
    try:
        host = urlsplit(entry if "://" in entry else f"//{entry}").hostname or ""
    except ValueError:
        return ""
    return host.removeprefix("*.").strip(".")


def _is_in(hit: SearchHit, domains: Sequence[str]) -> bool:
    host = _domain(hit.url)
    return any(host == domain or host.endswith("." + domain) for domain in domains)


def _result(hits: Sequence[SearchHit], dropped: int) -> ToolResult:
    rows = [
        {
            "title": cut_end(hit.title, MAX_TITLE),
            "url": hit.url,
            "snippet": cut_end(hit.snippet, MAX_SNIPPET),
        }
        for hit in hits
        if len(hit.url) <= MAX_URL
    ]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    text = f"[\n{lines}\n]" if rows else "[]"
    if not rows:
        text += f"\n(nothing found; {dropped} results were of other domains)" if dropped else "\n(nothing found)"
    return ToolResult(text, structured={"results": [asdict(hit) for hit in hits]})
