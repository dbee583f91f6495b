"""Every code that a host of an agent may meet, provoked once."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agentframework import (
    Agent,
    AgentFrameworkError,
    CompositeToolExecutor,
    ErrorCode,
    Limits,
    StdioServer,
    Tool,
    ToolMessage,
    ToolPolicy,
    tool,
)
from agentframework.testing import ScriptedProvider, bad_call, call, say


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail() -> str:
    """Fail."""
    raise ValueError("broken")


@tool
def large() -> str:
    """Say much."""
    return "x" * 100


class Same:
    """An executor with a tool of one name."""

    def list_tools(self) -> list[Tool]:
        return [add]

    async def execute(self, tool_name: str, tool_input: dict[str, Any], context: Any, /) -> Any:
        return ""


async def result_text(*steps: Any, **options: Any) -> str:
    """What the model was told about its first call; the run goes on after it."""
    async with Agent(provider=ScriptedProvider(*steps, "Done."), tools=[add, fail, large], **options) as agent:
        result = await agent.run("Go").result()
    assert result.response == "Done."
    message = result.messages[2]
    assert isinstance(message, ToolMessage)
    assert message.content[0].is_error
    return message.content[0].content


IN_RESULTS: dict[str, Callable[[], Awaitable[str]]] = {
    "TOOL_NOT_FOUND": lambda: result_text(say(call("no_such_tool"))),
    "TOOL_DENIED": lambda: result_text(say(call("add", a=1, b=2)), tool_policy=ToolPolicy(denied_tools=["add"])),
    "TOOL_APPROVAL_REQUIRED": lambda: result_text(
        say(call("add", a=1, b=2)), tool_policy=ToolPolicy(require_approval=True)
    ),
    "TOOL_ARGUMENTS_INVALID": lambda: result_text(say(bad_call("add", "{a: 1"))),
    "TOOL_RESULT_TOO_LARGE": lambda: result_text(say(call("large")), limits=Limits(max_tool_result_bytes=50)),
    "TOOL_EXECUTION_FAILED": lambda: result_text(say(call("fail"))),
}


@pytest.mark.parametrize("code", IN_RESULTS)
async def test_what_goes_wrong_with_a_call_is_told_in_its_result(code: str) -> None:
    assert f"[{code}]" in await IN_RESULTS[code]()


async def test_arguments_over_the_limit_have_the_same_code_as_bad_ones() -> None:
    steps = say(call("add", a=1, b=2, note="x" * 200))
    assert "[TOOL_ARGUMENTS_INVALID]" in await result_text(steps, limits=Limits(max_tool_argument_bytes=100))


async def run_of(*steps: Any, **options: Any) -> None:
    async with Agent(provider=ScriptedProvider(*steps), tools=[add], **options) as agent:
        await agent.run("Go").result()


async def twice() -> None:
    async with Agent(provider=ScriptedProvider("a", "b")) as agent:
        first = agent.run("a", session_id="s1")
        await anext(first)
        await agent.run("b", session_id="s1").result()


async def disconnected() -> None:
    async with Agent(provider=ScriptedProvider(), mcp_servers={"gone": StdioServer("/nowhere/to/be/found")}) as agent:
        await agent.mcp.list_tools("gone")


async def unreachable() -> None:
    async with Agent(provider=ScriptedProvider(), mcp_servers={"gone": StdioServer("/nowhere/to/be/found")}) as agent:
        await agent.mcp.get_connection("gone").connect()


RAISED: dict[str, Callable[[], Awaitable[None]]] = {
    "INVALID_CONFIGURATION": lambda: run_of(cwd="/nowhere/to/be/found"),
    "TOOL_NAME_CONFLICT": lambda: run_of(tool_executor=CompositeToolExecutor([Same(), Same()])),
    "SESSION_ALREADY_RUNNING": twice,
    "AGENT_LIMIT_EXCEEDED": lambda: run_of(say(call("add", a=1, b=2)), limits=Limits(max_iterations=1)),
    "MODEL_RESPONSE_INVALID": lambda: run_of(say()),
    "MCP_CONNECTION_FAILED": unreachable,
    "MCP_DISCONNECTED": disconnected,
    "TOKEN_LIMIT_EXCEEDED": lambda: run_of(say(call("add", a=1, b=2)), limits=Limits(max_total_tokens=5)),
}


@pytest.mark.parametrize("code", RAISED)
async def test_what_ends_a_run_is_raised_with_its_code(code: str) -> None:
    with pytest.raises(AgentFrameworkError) as caught:
        await RAISED[code]()
    assert caught.value.code == ErrorCode[code]
    assert caught.value.message


def test_a_reply_may_have_eight_calls_unless_told_otherwise() -> None:
    assert (Limits().max_tool_calls_per_turn, Limits().max_iterations) == (8, 8)


async def test_of_nine_calls_in_one_reply_none_runs(tmp_path: Path) -> None:
    provider = ScriptedProvider(say(*(call("add", a=n, b=n) for n in range(9))))
    async with Agent(provider=provider, tools=[add], cwd=tmp_path) as agent:
        run = agent.run("Go", session_id="s1")
        kinds: list[str] = []
        with pytest.raises(AgentFrameworkError, match="max_tool_calls_per_turn"):
            await _read(run, kinds)
    assert "tool_start" not in kinds
    assert kinds.count("tool_end") == 9


async def _read(run: Any, kinds: list[str]) -> None:
    async for event in run:
        kinds.append(event.type)
