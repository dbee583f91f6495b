from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from agentframework import Agent, OpenTelemetryObserver, tool
from agentframework.testing import ScriptedProvider, call, say


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Traced:
    """A tracer whose spans can be looked at."""

    def __init__(self) -> None:
        self.provider = TracerProvider()
        self.spans = InMemorySpanExporter()
        self.provider.add_span_processor(SimpleSpanProcessor(self.spans))

    def by_name(self) -> dict[str, Any]:
        return {span.name: span for span in self.spans.get_finished_spans()}


async def test_a_run_its_requests_and_its_calls_are_spans() -> None:
    traced = Traced()
    watch = OpenTelemetryObserver(traced.provider, agent_name="sums")
    provider = ScriptedProvider(say(call("add", a=1, b=2)), "3")
    async with Agent(provider=provider, tools=[add], observer=watch) as agent:
        with traced.provider.get_tracer("host").start_as_current_span("request"):
            await agent.run("1 + 2?", session_id="s1").result()
    names = [span.name for span in traced.spans.get_finished_spans()]
    assert names == [
        "chat scripted-model", "execute_tool add", "chat scripted-model", "invoke_agent sums", "request",
    ]  # fmt: skip
    spans = traced.by_name()
    run, chat, ran = spans["invoke_agent sums"], spans["chat scripted-model"], spans["execute_tool add"]
    assert run.parent.span_id == spans["request"].context.span_id
    assert {chat.parent.span_id, ran.parent.span_id} == {run.context.span_id}
    assert run.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert run.attributes["gen_ai.conversation.id"] == "s1"
    assert run.attributes["gen_ai.usage.input_tokens"] == 20
    assert chat.attributes["gen_ai.usage.output_tokens"] == 5
    assert ran.attributes["gen_ai.tool.type"] == "function"
    assert not any("arguments" in key or "result" in key for key in ran.attributes)
    assert run.end_time >= ran.end_time >= ran.start_time >= run.start_time


async def test_content_is_captured_on_request_only() -> None:
    traced = Traced()
    watch = OpenTelemetryObserver(traced.provider, capture_content=True)
    provider = ScriptedProvider(say(call("add", a=1, b=2)), "3")
    async with Agent(provider=provider, tools=[add], observer=watch) as agent:
        await agent.run("1 + 2?").result()
    ran = traced.by_name()["execute_tool add"]
    assert ran.attributes["gen_ai.tool.call.arguments"] == '{"a": 1, "b": 2}'
    assert ran.attributes["gen_ai.tool.call.result"] == "3"


async def test_a_run_that_fails_leaves_no_span_open() -> None:
    traced = Traced()
    provider = ScriptedProvider(ValueError("broken"))
    async with Agent(provider=provider, observer=OpenTelemetryObserver(traced.provider)) as agent:
        with pytest.raises(ValueError, match="broken"):
            await agent.run("a").result()
    spans = traced.by_name()
    assert set(spans) == {"chat", "invoke_agent assistant"}
    assert all(span.status.status_code is StatusCode.ERROR for span in spans.values())
    assert spans["invoke_agent assistant"].attributes["error.type"] == "INTERNAL_ERROR"
