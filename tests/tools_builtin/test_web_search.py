"""WebSearch over engines of the test's own; nothing here asks a real one."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest

from agentframework.tools import ToolContext, ToolResult
from agentframework.tools.executor import MAX_RESULT_CHARACTERS
from agentframework.tools.schema import check_arguments
from tools_builtin.web_search import DdgsEngine, SearchError, SearchHit, web_search_tool

Call = Callable[..., Awaitable[ToolResult]]


class Engine:
    def __init__(self, *hits: SearchHit) -> None:
        self.hits = hits
        self.asked: list[tuple[str, int]] = []

    async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
        self.asked.append((query, limit))
        return self.hits[:limit]


def _hits(*urls: str) -> list[SearchHit]:
    return [SearchHit(f"Title {url}", url, "snippet") for url in urls]


def _urls(result: ToolResult) -> list[str]:
    return [row["url"] for row in json.loads(result.content)]


def test_the_tool_says_what_it_is() -> None:
    tool = web_search_tool(Engine())
    assert (tool.name, tool.risk, tool.permission_key) == ("WebSearch", "inspect", "query")
    assert tool.input_schema["additionalProperties"] is False
    assert check_arguments(tool.input_schema, {"query": "x"}) is not None
    assert check_arguments(tool.input_schema, {"query": "xy", "limit": 3}) is not None


async def test_hits_come_as_json(context: ToolContext, call: Call) -> None:
    engine = Engine(SearchHit("Döcs", "https://docs.test/", 'say "hi"'))
    result = await call(web_search_tool(engine), context, query="the docs")
    assert result.content == '[\n{"title": "Döcs", "url": "https://docs.test/", "snippet": "say \\"hi\\""}\n]'
    assert result.structured == {"results": [{"title": "Döcs", "url": "https://docs.test/", "snippet": 'say "hi"'}]}
    assert engine.asked == [("the docs", 10)]


@pytest.mark.parametrize(
    ("allowed", "blocked", "kept"),
    [
        (["a.test"], [], [0, 1, 2]),
        (["A.Test."], [], [0, 1, 2]),
        (["https://www.a.test/x"], [], [1, 2]),
        (["*.a.test"], [], [0, 1, 2]),
        (["sub.www.a.test", "b.test"], [], [2, 4]),
        ([], ["a.test"], [3, 4, 5]),
        (["a.test"], ["www.a.test"], [0]),
        (["a.test:8080"], [], [0, 1, 2]),
        ([], [], [0, 1, 2, 3, 4, 5]),
    ],
)
async def test_domains_match_themselves_and_their_subdomains(
    context: ToolContext, call: Call, allowed: list[str], blocked: list[str], kept: list[int]
) -> None:
    urls = [
        "https://a.test/1", "http://WWW.a.test:8080/2", "https://sub.www.a.test/3", "https://nota.test/a.test",
        "https://b.test/?u=a.test", "https://a.test@c.test/",
    ]  # fmt: skip
    tool = web_search_tool(Engine(*_hits(*urls)))
    result = await call(tool, context, query="any", allowed_domains=allowed, blocked_domains=blocked)
    assert _urls(result) == [urls[index] for index in kept]


async def test_more_is_asked_for_when_a_filter_will_drop_some(context: ToolContext, call: Call) -> None:
    engine = Engine(*_hits(*(f"https://{name}.test/{number}" for number in range(15) for name in "ab")))
    result = await call(web_search_tool(engine), context, query="any", blocked_domains=["a.test"])
    assert len(_urls(result)) == 10
    assert engine.asked[0][1] > 10


async def test_nothing_found_is_no_error(context: ToolContext, call: Call) -> None:
    result = await call(web_search_tool(Engine()), context, query="nothing")
    assert (result.content, result.is_error) == ("[]\n(nothing found)", False)
    engine = Engine(*_hits("https://a.test/"))
    result = await call(web_search_tool(engine), context, query="nothing", allowed_domains=["b.test"])
    assert result.content == "[]\n(nothing found; 1 results were of other domains)"


@pytest.mark.parametrize("entry", ["://", "http://", "*.", "http://[x"])
async def test_a_domain_without_a_name_is_an_error(context: ToolContext, call: Call, entry: str) -> None:
    engine = Engine(*_hits("https://a.test/"))
    result = await call(web_search_tool(engine), context, query="any", blocked_domains=[entry])
    assert result.is_error
    assert engine.asked == []


async def test_long_hits_stay_within_the_limit(context: ToolContext, call: Call) -> None:
    hits = [SearchHit("t" * 9000, f"https://a.test/{n}/" + "u" * 900, "s" * 90_000) for n in range(10)]
    result = await call(web_search_tool(Engine(*hits)), context, query="any")
    assert len(result.content) < MAX_RESULT_CHARACTERS
    assert len(_urls(result)) == 10


async def test_an_engine_that_fails_is_an_error_that_says_so(context: ToolContext, call: Call) -> None:
    class Broken:
        async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
            raise SearchError("no connection")

    result = await call(web_search_tool(Broken()), context, query="any")
    assert result.content == "Error: the search failed: no connection; retrying later may help"


async def test_an_engine_that_hangs_is_given_up(context: ToolContext, call: Call) -> None:
    class Hanging:
        async def search(self, query: str, limit: int) -> Sequence[SearchHit]:
            await asyncio.Event().wait()
            return []

    result = await call(web_search_tool(Hanging(), deadline_s=0.05), context, query="any")
    assert result.is_error
    assert "did not answer within 0.05 s" in result.content


class Client:
    """In place of ``ddgs.DDGS``."""

    def __init__(self, answer: Sequence[Mapping[str, Any]] | Exception) -> None:
        self._answer = answer

    def text(self, query: str, *, max_results: int) -> Sequence[Mapping[str, Any]]:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer[:max_results]


async def test_the_default_engine_takes_rows_as_ddgs_gives_them() -> None:
    rows = [{"title": "T", "href": "https://a.test/", "body": "B"}, {"title": "no address", "body": "B"}]
    assert await DdgsEngine(lambda: Client(rows)).search("any", 10) == [SearchHit("T", "https://a.test/", "B")]


async def test_the_default_engine_knows_nothing_found_from_a_failure() -> None:
    from ddgs.exceptions import DDGSException, TimeoutException  # noqa: PLC0415 - loads a TLS library

    assert await DdgsEngine(lambda: Client(DDGSException("No results found."))).search("any", 10) == []
    for failure in (TimeoutException("timed out"), ValueError(), OSError("unreachable")):
        with pytest.raises(SearchError, match=r"timed out|ValueError|unreachable"):
            await DdgsEngine(lambda failure=failure: Client(failure)).search("any", 10)


def test_the_default_engine_fits_the_package_it_uses() -> None:
    from ddgs import DDGS  # noqa: PLC0415 - loads a TLS library

    assert callable(DDGS(timeout=10).text)
