"""Brave and Tavily as they speak over HTTP, against a server of the test's own."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from agentframework.tools import ToolContext
from tools_builtin._search import SearchError, SearchHit
from tools_builtin._search_engines import BraveEngine, TavilyEngine
from tools_builtin.web_search import DdgsEngine, engine_for, web_search_tool

_ROW = {"title": "A", "url": "https://a.test/", "description": "about a"}
BRAVE = {"web": {"results": [_ROW, {"title": "no url"}, 7]}}
TAVILY = {"results": [{"title": "B", "url": "https://b.test/", "content": "about b"}]}
MAKERS = [BraveEngine, TavilyEngine]


@asynccontextmanager
async def answering(body: bytes, status: str = "200 OK") -> AsyncIterator[tuple[str, list[str]]]:
    """A server with one answer: its address, and what it was asked."""
    asked: list[str] = []

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next((int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")), 0)
        asked.append(head + (await reader.readexactly(length)).decode())
        lines = f"HTTP/1.1 {status}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        writer.write(lines.encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/search", asked


async def test_brave_is_asked_with_its_token_and_read() -> None:
    async with answering(json.dumps(BRAVE).encode()) as (url, asked):
        assert await BraveEngine("secret", url=url).search("ä b", 40) == [SearchHit("A", "https://a.test/", "about a")]
    head = asked[0].lower()
    assert head.startswith("get /search?q=%c3%a4+b&count=20 ") or head.startswith("get /search?q=%c3%a4%20b&count=20 ")
    assert "x-subscription-token: secret" in head


async def test_tavily_is_asked_with_its_key_and_read() -> None:
    async with answering(json.dumps(TAVILY).encode()) as (url, asked):
        assert await TavilyEngine("secret", url=url).search("b", 5) == [SearchHit("B", "https://b.test/", "about b")]
    assert "authorization: bearer secret" in asked[0].lower()
    assert json.loads(asked[0].split("\r\n\r\n")[1]) == {"query": "b", "max_results": 5}


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("status", "body", "says"),
    [
        ("401 Unauthorized", b"", "refused the key"),
        ("429 Too Many Requests", b"", "no more searches"),
        ("500 Oops", b"", "HTTP 500"),
        ("200 OK", b"<html>", "did not answer with JSON"),
        ("200 OK", b"[]", "JSON object"),
        ("200 OK", b" " * 2_100_000, "larger than"),
    ],
)
async def test_what_goes_wrong_is_said(make: Callable[..., Any], status: str, body: bytes, says: str) -> None:
    async with answering(body, status) as (url, _):
        with pytest.raises(SearchError, match=says):
            await make("secret", url=url).search("x", 5)


@pytest.mark.parametrize("make", MAKERS)
async def test_offline_is_an_error_result_without_the_key(make: Callable[..., Any], context: ToolContext, call) -> None:
    async with answering(b"") as (url, _):
        pass
    result = await call(web_search_tool(make("secret", url=url)), context, query="anything")
    assert result.is_error
    assert "cannot be reached" in result.content
    assert "is this machine offline?" in result.content
    assert "secret" not in result.content


@pytest.mark.parametrize("answer", [{}, {"web": None, "results": None}, {"web": {"results": {}}, "results": 5}])
@pytest.mark.parametrize("make", MAKERS)
async def test_an_answer_without_results_is_no_error(make: Callable[..., Any], answer: Any) -> None:
    async with answering(json.dumps(answer).encode()) as (url, _):
        assert await make("secret", url=url).search("x", 5) == []


def test_a_key_chooses_the_engine() -> None:
    assert isinstance(engine_for({}), DdgsEngine)
    assert isinstance(engine_for({"BRAVE_API_KEY": ""}), DdgsEngine)
    for name, made in (("BRAVE_API_KEY", BraveEngine), ("TAVILY_API_KEY", TavilyEngine)):
        assert isinstance(engine_for({name: "k"})._make(), made)  # type: ignore[attr-defined]
