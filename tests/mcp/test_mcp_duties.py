from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from full_server import full_server
from mcpkit import FAST

from agentframework import HttpServer, InteractiveSession, McpOptions
from agentframework.testing import ScriptedProvider, call, say

pytestmark = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")  # our own server, old era
ERAS = pytest.mark.parametrize("mode", ["auto", "legacy"])


@asynccontextmanager
async def session_with(folder: Path, mode: str, *steps: Any, **options: Any) -> AsyncIterator[InteractiveSession]:
    async with full_server() as url:
        mcp = McpOptions(reconnect=FAST, startup_wait_s=30, protocol=mode)
        options = {"allowed_tools": ["mcp__full"], "default_tools": [], **options}
        provider = ScriptedProvider(*steps)
        servers = {"full": HttpServer(url)}
        session = InteractiveSession(cwd=folder, provider=provider, mcp_servers=servers, mcp=mcp, **options)
        async with session:
            yield session


@ERAS
async def test_a_servers_question_reaches_the_person_and_the_answer_the_server(mode: str, tmp_path: Path) -> None:
    questions: list[Any] = []
    results: list[str] = []

    def answer(event: Any) -> None:
        questions.extend(event.questions)
        session.resolve_ask(event.id, ["Yes"])

    steps = (say(call("mcp__full__remove", path="/x")), "done")
    async with session_with(tmp_path, mode, *steps) as session:
        session.on("ask_request", answer)
        session.on("tool_end", lambda event: results.append(event.result))
        await session.submit("Go.")
    assert questions[0]["question"].startswith("MCP server full asks: Delete /x?")
    assert results == ["removed /x"]


@ERAS
async def test_a_question_that_nobody_can_answer_is_cancelled(mode: str, tmp_path: Path) -> None:
    results: list[str] = []
    steps = (say(call("mcp__full__remove", path="/x")), "done")
    async with session_with(tmp_path, mode, *steps) as session:
        session.on("tool_end", lambda event: results.append(event.result))
        await session.submit("Go.")
    assert "removed" not in results[0]


async def test_a_server_is_given_the_model_when_the_person_allows_it(tmp_path: Path) -> None:
    asked: list[Any] = []
    results: list[str] = []

    def allow(event: Any) -> None:
        asked.append(event)
        session.resolve_permission(event.id, True)

    steps = (say(call("mcp__full__sample")), "Something.", "done")
    async with session_with(tmp_path, "legacy", *steps) as session:
        session.on("permission_request", allow)
        session.on("tool_end", lambda event: results.append(event.result))
        await session.submit("Go.")
        provider: Any = session._parts.settings.provider
    assert [event.tool_name for event in asked] == ["McpSampling"]
    assert asked[0].tool_args["messages"] == [{"role": "user", "text": "Say something."}]
    assert results == ["the model said: Something."]
    request = provider.requests[1]
    assert (request.system, request.max_output_tokens, request.tools) == ("Be short.", 50, ())


@pytest.mark.parametrize("options", [{}, {"permission_mode": "bypassPermissions", "denied_tools": ["McpSampling"]}])
async def test_a_server_is_refused_the_model_unless_it_is_allowed(options: Any, tmp_path: Path) -> None:
    results: list[str] = []
    warnings: list[str] = []
    steps = (say(call("mcp__full__sample")), "done")
    async with session_with(tmp_path, "legacy", *steps, **options) as session:
        session.on("tool_end", lambda event: results.append(event.result))
        session.on("warning", lambda event: warnings.append(event.message))
        result = await (await session.submit("Go.")).completed
        assert result.response == "done"
        provider: Any = session._parts.settings.provider
        assert len(provider.requests) == 2
    assert "the model said" not in results[0]
    assert warnings == []


async def test_a_server_is_given_the_model_so_often_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentframework.assembly.duties.MAX_SAMPLES", 1)
    results: list[str] = []
    again = (say(call("mcp__full__sample")), "Something.", say(call("mcp__full__sample")), "done")
    async with session_with(tmp_path, "legacy", *again, allowed_tools=["mcp__full", "McpSampling"]) as session:
        session.on("tool_end", lambda event: results.append(event.result))
        result = await (await session.submit("Go.")).completed
        assert result.response == "done"
    assert results[0] == "the model said: Something."
    assert "the model said" not in results[1]
