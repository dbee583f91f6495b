"""The built-in commands on a real session, through ``execute_command``."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentframework import (
    CommandModule,
    CommandResult,
    InteractiveSession,
    PermissionRules,
    builtin_commands,
)
from agentframework.errors import ConfigurationError, ErrorCode, SessionClosedError
from agentframework.messages import Usage
from agentframework.slash import Command
from agentframework.testing import ScriptedProvider, call, say

ALL = ["help", "clear", "permissions", "mode", "model", "context", "compact", "cost", "mcp", "exit"]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Any]:
    made: list[InteractiveSession] = []

    def build(*steps: Any, **options: Any) -> InteractiveSession:
        options.setdefault("command_modules", builtin_commands())
        session = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider(*steps), **options)
        made.append(session)
        return session

    yield build
    for session in made:
        await session.shutdown()


async def run(session: InteractiveSession, name: str, args: str = "") -> CommandResult:
    result = await session.execute_command(name, args)
    assert result is not None
    return result


def test_there_is_one_module_for_each_command() -> None:
    assert [module.name for module in builtin_commands()] == ALL


async def test_a_session_has_the_commands_it_was_given_and_no_others(make) -> None:
    assert make(command_modules=()).list_commands() == []
    assert [info.name for info in make().list_commands()] == ALL
    picked = make(command_modules=builtin_commands().pick("cost", "help"))
    assert [info.name for info in picked.list_commands()] == ["cost", "help"]
    assert await picked.execute_command("exit") is None


async def test_a_name_given_twice_is_refused_at_construction(make) -> None:
    with pytest.raises(ConfigurationError, match="/help"):
        make(command_modules=[*builtin_commands(), *builtin_commands().pick("help")])


async def test_help_lists_all_and_explains_one(make) -> None:
    session = make()
    shown = await run(session, "/help")
    assert all(f"/{name}" in shown.message for name in ALL)
    assert "show_keys" in shown.ui_intents
    assert (await run(session, "help", "/mode")).message.startswith("/mode [mode]")
    assert not (await run(session, "help", "nope")).success


async def test_clear_forgets_the_conversation_only(make) -> None:
    session = make("hello", permission_mode="plan")
    await session.submit("hi")
    cleared: list[str] = []
    session.on("history_cleared", lambda event: cleared.append(event.type))
    result = await run(session, "clear")
    assert (result.data, cleared) == ({"messages": 2}, ["history_cleared"])
    assert session.get_messages() == []
    assert session.permission_mode == "plan"


async def test_mode_shows_and_sets(make) -> None:
    session = make()
    assert "* default" in (await run(session, "mode")).message
    assert (await run(session, "mode", "acceptedits")).data == {"mode": "acceptEdits"}
    assert session.permission_mode == "acceptEdits"
    wrong = await run(session, "mode", "yolo")
    assert not wrong.success
    assert "bypassPermissions" in wrong.message
    assert session.permission_mode == "acceptEdits"


async def test_model_shows_and_changes(make) -> None:
    session = make()
    assert (await run(session, "model")).data == {"model": "scripted-model"}
    assert (await run(session, "model", "other")).message == "other answers from now on."
    assert session.model == "other"


async def test_context_tells_how_full_the_window_is_and_what_is_offered(make) -> None:
    session = make(say("hello", usage=Usage(90_000, 10_000)))
    await session.submit("hi")
    result = await run(session, "context")
    assert result.data is not None
    assert (result.data["used_tokens"], result.data["used_percentage"]) == (100_000, 50.0)
    assert "[##########..........] 50.0 %" in result.message
    assert "10 tools: Shell, Bash, Read" in result.message
    parts = result.data["parts"]
    assert list(parts) == ["system", "tools", "mcp", "files", "messages", "free"]
    assert sum(parts.values()) == 200_000
    assert (parts["free"], parts["mcp"], parts["files"]) == (100_000, 0, 0)
    assert parts["tools"] > 1_000 > parts["system"] > 50
    assert "100,000 free" in result.message


async def test_context_counts_files_of_prompts_apart(make, tmp_path) -> None:
    (tmp_path / "a.txt").write_text("x" * 4_000)
    session = make("hello")
    await session.submit("see @a.txt")
    result = await run(session, "context")
    assert result.data is not None
    assert 1_000 < result.data["parts"]["files"] < 1_060


async def test_compact_goes_on_from_a_summary_and_says_what_that_saved(make) -> None:
    session = make("hello", "They greeted.")
    assert (await run(session, "compact")).data == {"compacted": False}
    await session.submit("hi")
    assert "compacted: 15 tokens before" in (await run(session, "compact", "names")).message
    assert session.get_context_state().messages == 1


async def test_a_summary_that_fails_is_a_failed_command(make) -> None:
    session = make("hello", "")
    await session.submit("hi")
    result = await run(session, "compact")
    assert not result.success
    assert "the summary is empty" in result.message
    assert session.get_context_state().messages == 2


async def test_cost_sums_all_replies_and_survives_clear(make) -> None:
    first = Usage(100, 10, cache_read_tokens=40, cost_usd=0.5)
    second = Usage(200, 20, reasoning_tokens=5, cost_usd=0.25)
    session = make(say("a", usage=first), say("b", usage=second))
    await session.submit("one")
    await session.submit("two")
    await run(session, "clear")
    result = await run(session, "cost")
    assert result.data is not None
    assert result.data["total_tokens"] == 330
    assert "330 tokens: 300 in (40 from the cache), 30 out (5 of it reasoning)" in result.message
    assert "0.7500 USD" in result.message


async def test_cost_without_a_price_says_so(make) -> None:
    result = await run(make(), "cost")
    assert "not known" in result.message


async def test_permissions_lists_mode_rules_and_grants_and_takes_grants_back(make) -> None:
    edits = [say(call("Write", file_path="a.txt", content="x")), "done"]
    session = make(*edits, *edits, permissions=PermissionRules(allow=["Bash(ls:*)"], deny=["WebFetch"]))
    asked: list[str] = []

    @session.on("permission_request")
    def answer(event: Any) -> None:
        asked.append(event.tool_name)
        session.resolve_permission(event.id, "allow-session")

    await session.submit("write")
    shown = await run(session, "permissions")
    assert shown.data is not None
    assert shown.data["mode"] == "default"
    assert shown.data["rules"] == {"allow": ["Bash(ls:*)"], "ask": [], "deny": ["WebFetch"]}
    assert shown.data["grants"] == [{"text": "Write(a.txt)", "scope": "session"}]
    assert "Write(a.txt)" in shown.message
    assert (await run(session, "permissions", "clear")).data == {"cleared": 1}
    await session.submit("write")
    assert asked == ["Write", "Write"]
    assert not (await run(session, "permissions", "nonsense")).success


async def test_beside_a_turn_reading_commands_run_and_others_are_refused(make) -> None:
    hold = asyncio.Event()
    session = make(say("so ", hold, "far"))
    begun = asyncio.Event()
    session.on("text_delta", lambda _event: begun.set())
    handle = session.submit_nowait("hi")
    async with asyncio.timeout(20):
        await begun.wait()
    names = ("help", "mode", "cost", "context", "clear", "compact", "exit")
    results = {name: await run(session, name) for name in names}
    assert {name: result.success for name, result in results.items()} == {
        "help": True, "mode": True, "cost": True, "context": True, "clear": False, "compact": False, "exit": False,
    }  # fmt: skip
    assert "stop the turn" in results["clear"].message
    assert not (await run(session, "mode", "plan")).success
    hold.set()
    assert (await handle.completed).response == "so far"


async def test_exit_tells_the_surface_and_ends_the_session(make) -> None:
    session = make()
    intents: list[str] = []
    session.on("ui_intent", lambda event: intents.append(event.intent))
    result = await run(session, "exit")
    assert (result.ui_intents, intents) == (("exit",), ["exit"])
    with pytest.raises(SessionClosedError):
        session.submit_nowait("hi")
    with pytest.raises(SessionClosedError) as closed:
        await session.execute_command("help")
    assert closed.value.code == ErrorCode.SESSION_CLOSED


async def test_a_command_of_ones_own_reaches_the_session_through_its_host(make) -> None:
    async def count(host: Any, args: str) -> CommandResult:
        return CommandResult(f"{args}: {len(host.list_tools())}", ui_intents=("blink",))

    session = make(command_modules=[CommandModule("mine", (Command("tools", "Count the tools", count),))])
    seen: list[str] = []
    session.on("ui_intent", lambda event: seen.append(event.intent))
    assert (await run(session, "tools", "there are")).message == "there are: 10"
    assert seen == ["blink"]


async def test_mcp_shows_how_each_server_stands(make) -> None:
    none = await run(make(), "mcp")
    assert none.message == "This session has no MCP servers."
    session = make(mcp_servers={"gone": {"command": "/no/such/program"}, "web": "https://example.com/mcp"})
    await session.mcp.connect("gone")
    result = await run(session, "mcp")
    first, second = result.message.splitlines()
    assert first.startswith("gone  failed  cannot start")
    assert second == "web   disconnected  not connected yet"
    assert result.data is not None
    assert [one["status"] for one in result.data["servers"]] == ["failed", "disconnected"]
