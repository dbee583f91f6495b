import asyncio
import gc
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from agentframework import (
    AbortSignal,
    Agent,
    AgentFrameworkError,
    ConfigurationError,
    ErrorCode,
    InvalidInputError,
    Limits,
    RunResult,
    Tool,
    ToolContext,
    ToolMessage,
    UserMessage,
    tool,
)
from agentframework.events import BaseEvent, Complete, ErrorEvent, TextDelta
from agentframework.testing import ScriptedProvider, call, say

WAIT_S = 30


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def events_of(run: Any) -> list[BaseEvent]:
    return [event async for event in run]


async def read(run: Any, into: list[BaseEvent]) -> None:
    async for event in run:
        into.append(event)


def types(events: list[BaseEvent]) -> list[str]:
    return [event.type for event in events]


async def test_a_run_gives_its_events_and_then_its_result() -> None:
    with ScriptedProvider(say("I add. ", call("add", a=1, b=2)), "It is 3.") as provider:
        async with Agent(provider=provider, tools=[add], instructions="Be brief.") as agent:
            run = agent.run("1 + 2?")
            events = await events_of(run)
            result = await run.result()
    assert types(events) == [
        "session_started", "turn_started", "user_message",
        "iteration_started", "text_delta", "tool_call_delta", "model_completed", "tool_calls_detected",
        "permission_decision", "tool_start", "tool_end", "tool_results",
        "iteration_started", "text_delta", "model_completed", "complete",
    ]  # fmt: skip
    assert {event.session_id for event in events} == {run.session_id}
    assert [event.seq for event in events] == sorted(event.seq for event in events)
    assert isinstance(result, RunResult)
    assert (result.response, result.iterations, result.interrupted) == ("It is 3.", 2, False)
    assert result.usage.total_tokens == 30
    assert [message.role for message in result.messages] == ["user", "assistant", "tool", "assistant"]
    last = events[-1]
    assert isinstance(last, Complete)
    assert last.result is result
    assert provider.requests[0].system == "Be brief."
    assert [spec.name for spec in provider.requests[0].tools] == ["add"]


async def test_the_result_alone_runs_it_too() -> None:
    async with Agent(provider=ScriptedProvider("Hello.")) as agent:
        run = agent.run("Hi")
        assert (await run.result()).response == "Hello."
        assert await run.result() is await run.result()
        assert await events_of(run) == []


async def test_nothing_happens_before_a_run_is_iterated() -> None:
    provider = ScriptedProvider("Hello.")
    async with Agent(provider=provider) as agent:
        run = agent.run("Hi")
        await asyncio.sleep(0)
        assert provider.requests == []
        assert "not started" in repr(run)
        assert (await anext(run)).type == "session_started"
        await run.result()


async def test_without_deltas_everything_else_is_told() -> None:
    with ScriptedProvider(say("I add.", call("add", a=1, b=2)), "3") as provider:
        async with Agent(provider=provider, tools=[add]) as agent:
            told = types(await events_of(agent.run("1 + 2?", stream=False)))
    assert not {"text_delta", "thinking_delta", "tool_call_delta"} & set(told)
    assert told.count("model_completed") == 2


async def test_raw_events_come_when_asked_for() -> None:
    async with Agent(provider=ScriptedProvider("Hello."), raw_model_events=True) as agent:
        assert "raw_model_event" in types(await events_of(agent.run("Hi")))


async def test_a_failing_run_tells_it_and_raises() -> None:
    provider = ScriptedProvider(ValueError("no line"), "Back again.")
    async with Agent(provider=provider) as agent:
        run = agent.run("Hi", session_id="s1")
        events: list[BaseEvent] = []
        with pytest.raises(ValueError, match="no line"):
            await read(run, events)
        assert isinstance(events[-1], ErrorEvent)
        with pytest.raises(ValueError, match="no line"):
            await run.result()
        state = await agent.sessions.get("s1")
        assert state is not None
        assert state.status == "failed"
        assert (await agent.run("Again", session_id="s1").result()).response == "Back again."


async def test_a_second_run_of_a_running_session_is_refused() -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider(say(gate, "First."), "Second.")
    async with Agent(provider=provider) as agent:
        first = agent.run("a", session_id="s1")
        assert (await anext(first)).type == "session_started"
        second = agent.run("b", session_id="s1")
        told: list[BaseEvent] = []
        with pytest.raises(AgentFrameworkError) as caught:
            await read(second, told)
        assert caught.value.code == ErrorCode.SESSION_ALREADY_RUNNING
        assert types(told) == ["error"]
        other = agent.run("c", session_id="s2")
        gate.set()
        assert (await first.result()).response == "First."
        assert (await other.result()).response == "Second."


async def test_a_session_is_free_as_soon_as_its_end_is_told() -> None:
    provider = ScriptedProvider("One.", "Two.")
    async with Agent(provider=provider) as agent:
        async for event in agent.run("a", session_id="s1"):
            if isinstance(event, Complete):
                break
        assert (await agent.run("b", session_id="s1").result()).response == "Two."


async def test_many_sessions_run_side_by_side() -> None:
    gates = [asyncio.Event() for _ in range(5)]
    provider = ScriptedProvider(*(say(gate, f"answer {n}") for n, gate in enumerate(gates)))
    async with Agent(provider=provider) as agent:
        runs = [agent.run(f"question {n}") for n in range(5)]
        waiting = [asyncio.create_task(run.result()) for run in runs]
        while len(provider.requests) < 5:  # noqa: ASYNC110 - the provider tells nobody
            await asyncio.sleep(0)
        for gate in reversed(gates):
            gate.set()
        results = await asyncio.gather(*waiting)
    assert len({run.session_id for run in runs}) == 5
    assert sorted(result.response for result in results) == [f"answer {n}" for n in range(5)]


async def test_leaving_the_iteration_early_aborts_the_run() -> None:
    gate = asyncio.Event()
    provider = ScriptedProvider(say("Once upon ", gate, "a time."))
    async with Agent(provider=provider) as agent:
        run = agent.run("A story", session_id="s1")
        async for event in run:
            if isinstance(event, TextDelta):
                break
        gc.collect()
        async with asyncio.timeout(WAIT_S):
            result = await run.result()
        assert (result.interrupted, result.response, result.stop_reason) == (True, "Once upon ", "interrupted")
        assert provider.interrupted == 1
        state = await agent.sessions.get("s1")
        assert state is not None
        assert state.status == "interrupted"


async def test_a_closed_run_is_over() -> None:
    provider = ScriptedProvider(say("Once upon ", asyncio.Event()))
    async with Agent(provider=provider) as agent:
        async with aclosing(agent.run("A story")) as run:
            while (await anext(run)).type != "text_delta":
                pass
        assert run.ended
        assert provider.interrupted == 1


async def test_abort_stops_tools_and_ends_as_interrupted() -> None:
    started = asyncio.Event()

    @tool
    async def wait_for_ever(context: ToolContext) -> str:
        """Wait."""
        started.set()
        await context.abort.wait()
        return "stopped"

    provider = ScriptedProvider(say("I wait.", call("wait_for_ever")), "I go on.")
    abort = AbortSignal()
    async with Agent(provider=provider, tools=[wait_for_ever]) as agent:
        run = agent.run("Wait", session_id="s1", abort=abort)
        reading = asyncio.create_task(events_of(run))
        async with asyncio.timeout(WAIT_S):
            await started.wait()
            abort.abort("enough")
            events = await reading
        assert types(events)[-1] == "interrupted"
        result = await run.result()
        assert result.interrupted
        assert isinstance(result.messages[-1], ToolMessage)
        assert (await agent.run("Go on", session_id="s1").result()).response == "I go on."
        assert [message.role for message in provider.requests[-1].messages] == ["user", "assistant", "tool", "user"]


async def test_an_abort_before_the_start_asks_no_model() -> None:
    provider = ScriptedProvider()
    abort = AbortSignal()
    abort.abort("too late")
    async with Agent(provider=provider) as agent:
        assert (await agent.run("Hi", abort=abort).result()).interrupted


async def test_cancelling_who_waits_for_the_result_aborts_the_run() -> None:
    provider = ScriptedProvider(say("Once upon ", asyncio.Event()))
    async with Agent(provider=provider) as agent:
        run = agent.run("A story")
        waiting = asyncio.create_task(run.result())
        while not provider.requests:  # noqa: ASYNC110 - the provider tells nobody
            await asyncio.sleep(0)
        waiting.cancel()
        async with asyncio.timeout(WAIT_S):
            assert (await run.result()).interrupted


async def test_close_ends_runs_and_nothing_starts_after_it() -> None:
    provider = ScriptedProvider(say("Once upon ", asyncio.Event()))
    before = asyncio.all_tasks()
    agent = Agent(provider=provider)
    run = agent.run("A story")
    assert (await anext(run)).type == "session_started"
    await agent.close()
    await agent.close()
    assert (await run.result()).interrupted
    with pytest.raises(AgentFrameworkError) as caught:
        await agent.run("More").result()
    assert caught.value.code == ErrorCode.SESSION_CLOSED
    with pytest.raises(AgentFrameworkError):
        await agent.initialize()
    assert asyncio.all_tasks() == before


async def test_settings_of_a_run_hold_for_it_alone() -> None:
    provider = ScriptedProvider("a", "b")
    options = {"temperature": 0.5, "max_output_tokens": 9}
    async with Agent(provider=provider, model="small", instructions="Own.", **options) as agent:  # type: ignore[arg-type]
        await agent.run("a", model="large", reasoning_effort="high", system="Other.").result()
        await agent.run("b").result()
    first, second = provider.requests
    assert (first.model, first.effort, first.system) == ("large", "high", "Other.")
    assert (second.model, second.effort, second.system) == ("small", None, "Own.")
    assert {(one.temperature, one.max_output_tokens) for one in provider.requests} == {(0.5, 9)}


async def test_no_think_reaches_every_request() -> None:
    provider = ScriptedProvider("a")
    async with Agent(provider=provider, no_think=True) as agent:
        await agent.run("a").result()
    assert provider.requests[0].no_think


async def test_there_is_a_default_for_instructions_and_name() -> None:
    provider = ScriptedProvider("a")
    async with Agent(provider=provider) as agent:
        assert agent.name == "assistant"
        await agent.run("a").result()
    assert "helpful assistant" in provider.requests[0].system


async def test_iterations_used_up_are_an_event_and_an_error() -> None:
    provider = ScriptedProvider(*(say(call("add", a=n, b=n)) for n in range(8)))
    async with Agent(provider=provider, tools=[add]) as agent:
        run = agent.run("Go on for ever", session_id="s1")
        told: list[BaseEvent] = []
        with pytest.raises(AgentFrameworkError) as caught:
            await read(run, told)
        assert caught.value.code == ErrorCode.AGENT_LIMIT_EXCEEDED
        assert types(told)[-2:] == ["max_iterations_reached", "error"]
    assert len(provider.requests) == 8


async def test_limits_of_a_run_take_the_place_of_the_agents() -> None:
    provider = ScriptedProvider(say(call("add", a=1, b=1), call("add", a=2, b=2)))
    async with Agent(provider=provider, tools=[add], limits=Limits(max_tool_calls_per_turn=2)) as agent:
        with pytest.raises(AgentFrameworkError, match="max_tool_calls_per_turn") as caught:
            await agent.run("Add", limits=Limits(max_tool_calls_per_turn=1), session_id="s1").result()
        assert caught.value.code == ErrorCode.AGENT_LIMIT_EXCEEDED
        state = await agent.sessions.get("s1")
    assert state is not None
    results = state.messages[-1]
    assert isinstance(results, ToolMessage)
    assert len(results.content) == 2
    assert all(part.is_error for part in results.content)


async def test_a_reply_with_nothing_in_it_is_an_error() -> None:
    async with Agent(provider=ScriptedProvider(say())) as agent:
        with pytest.raises(AgentFrameworkError) as caught:
            await agent.run("Hi").result()
    assert caught.value.code == ErrorCode.MODEL_RESPONSE_INVALID


@pytest.mark.parametrize("given", ["", "  ", [], 7, [{"role": "assistant", "content": "I."}], [{"role": "king"}]])
async def test_input_that_cannot_be_used_is_refused(given: Any) -> None:
    async with Agent(provider=ScriptedProvider()) as agent:
        with pytest.raises(InvalidInputError):
            await agent.run(given).result()


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"cwd": "/nowhere/at/all"}, "cwd"),
        ({"tools": ["add"]}, "tools"),
        ({"limits": 3}, "limits"),
        ({"tool_policy": {"allowed_tools": []}}, "tool_policy"),
        ({"context": 5}, "context"),
        ({"mcp_servers": ["not an address"]}, "server_1: url"),
        ({"mcp_context": {"resource": []}}, "mcp_context"),
        ({"observer": 3}, "observer"),
        ({"permission_mode": "whatever"}, "whatever"),
        ({"max_output_tokens": 0}, "max_output_tokens"),
    ],
)
def test_options_that_cannot_work_are_named_at_construction(options: Any, named: str) -> None:
    with pytest.raises(ConfigurationError, match=named):
        Agent(provider=ScriptedProvider(), **options)


async def test_tools_see_where_they_run(tmp_path: Path) -> None:
    seen: list[ToolContext] = []

    async def look(_arguments: dict[str, Any], context: ToolContext) -> str:
        seen.append(context)
        return "seen"

    schema = {"type": "object", "properties": {}}
    provider = ScriptedProvider(say(call("look")), "Done.")
    async with Agent(provider=provider, tools=[Tool("look", "Look.", schema, look)], cwd=tmp_path) as agent:
        run = agent.run("Look", session_id="s1")
        await run.result()
    context = seen[0]
    assert (context.session_id, context.run_id, context.iteration) == ("s1", run.run_id, 1)
    assert context.workspace_root == str(tmp_path.resolve())
    assert context.max_result_bytes == Limits().max_tool_result_bytes


async def test_a_conversation_may_be_passed_whole() -> None:
    provider = ScriptedProvider("It is a printer.")
    messages = [
        {"role": "system", "content": "You are a pirate."},
        {"role": "user", "content": "Which devices are there?"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "printer, lamp"},
        {"role": "assistant", "content": "I found 2 devices."},
        {"role": "user", "content": [{"type": "text", "text": "Tell me more about device 1"}]},
    ]  # fmt: skip
    async with Agent(provider=provider, instructions="Own words first.") as agent:
        result = await agent.run(messages).result()
    request = provider.requests[0]
    assert request.system == "Own words first."
    assert [m.role for m in request.messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert "pirate" not in str(request.messages)
    assert [m.role for m in result.messages] == ["user", "assistant", "tool", "assistant", "user", "assistant"]


async def test_content_goes_with_the_text() -> None:
    provider = ScriptedProvider("A dot.", "A dot.")
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DOT}"}}
    async with Agent(provider=provider) as agent:
        await agent.run("Describe it", content=[{"type": "text", "text": "Describe it"}, image]).result()
        await agent.run("Describe it", content=[image]).result()
    for request in provider.requests:
        message = request.messages[0]
        assert isinstance(message, UserMessage)
        assert [part.type for part in message.content] == ["text", "image"]


DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
