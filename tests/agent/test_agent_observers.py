import asyncio
from typing import Any

import pytest

from agentframework import Agent, ToolPolicy, tool
from agentframework.events import BaseEvent, WarningEvent
from agentframework.testing import ScriptedProvider, call, say


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Watching:
    """An observer of both kinds of things."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.errors: list[Exception] = []

    def on_event(self, event: BaseEvent) -> None:
        self.events.append(event.type)

    async def on_error(self, error: Exception) -> None:
        await asyncio.sleep(0)
        self.errors.append(error)


async def test_an_observer_sees_the_events_and_errors_of_all_runs() -> None:
    watching = Watching()
    provider = ScriptedProvider(say(call("add", a=1, b=2)), "3", ValueError("broken"))
    async with Agent(provider=provider, tools=[add], observer=watching) as agent:
        read = [event.type async for event in agent.run("a", session_id="s1")]
        assert watching.events == read
        with pytest.raises(ValueError, match="broken"):
            await agent.run("b").result()
    assert [str(error) for error in watching.errors] == ["broken"]
    assert watching.events[-1] == "error"


async def test_an_observer_may_be_a_function_and_async() -> None:
    heard: list[str] = []

    async def observe(event: BaseEvent) -> None:
        await asyncio.sleep(0)
        heard.append(event.type)

    async with Agent(provider=ScriptedProvider("a"), observer=observe) as agent:
        read = [event.type async for event in agent.run("a")]
    assert heard == read, "what was not heard when the agent was closed is heard before the end"


@pytest.mark.parametrize("is_async", [True, False])
async def test_an_observer_that_fails_changes_nothing_and_is_reported_once(is_async: bool) -> None:
    def observe(_event: BaseEvent) -> None:
        raise ValueError("broken observer")

    async def later(_event: BaseEvent) -> None:
        raise ValueError("broken observer")

    provider = ScriptedProvider(say(call("add", a=1, b=2)), "3")
    async with Agent(provider=provider, tools=[add], observer=later if is_async else observe) as agent:
        events = [event async for event in agent.run("a")]
    warnings = [event.message for event in events if isinstance(event, WarningEvent)]
    assert len(warnings) == 1
    assert "broken observer" in warnings[0]
    assert events[-1].type == "complete"


async def test_an_observer_of_authorizations_that_fails_changes_nothing() -> None:
    async def observe(_event: Any) -> None:
        raise ValueError("broken")

    provider = ScriptedProvider(say(call("add", a=1, b=2)), "3")
    policy = ToolPolicy(authorization_observer=observe)
    async with Agent(provider=provider, tools=[add], tool_policy=policy) as agent:
        assert (await agent.run("a").result()).response == "3"
