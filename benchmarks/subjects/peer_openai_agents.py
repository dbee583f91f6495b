"""OpenAI Agents SDK on Responses, streaming through `Runner.run_streamed`."""

from typing import Any

from _bare import call
from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI


@function_tool
async def bench_add(x: int) -> str:
    """Add one."""
    return await call("bench_add", {"x": x})


@function_tool
async def bench_sleep(ms: int) -> str:
    """Sleep."""
    return await call("bench_sleep", {"ms": ms})


async def setup(url: str) -> None:
    global model
    set_tracing_disabled(True)
    client = AsyncOpenAI(base_url=url + "/v1", api_key="bench", max_retries=0)
    model = OpenAIResponsesModel(model="bench", openai_client=client)


class Conversation:
    def __init__(self) -> None:
        self.agent = Agent(
            name="bench", instructions="You are a bench.", model=model, tools=[bench_add, bench_sleep]
        )
        self.items: list[Any] = []


async def new_session() -> Conversation:
    return Conversation()


async def turn(session: Conversation, prompt: str, on_text: Any) -> str:
    session.items.append({"role": "user", "content": prompt})
    run = Runner.run_streamed(session.agent, session.items, max_turns=1000)
    async for event in run.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            on_text(event.data.delta)
    session.items = run.to_input_list()
    return run.final_output
