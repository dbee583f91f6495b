"""What the agent subjects share."""

from collections.abc import Callable

from _session import bench_add, bench_sleep

from agentframework import Agent, Limits, Provider


class Conversation:
    """One session of an agent that serves them all."""

    __slots__ = ("agent", "session_id")

    def __init__(self, agent: Agent, number: int) -> None:
        self.agent = agent
        self.session_id = f"bench-{number}"


def make(provider: Provider) -> Agent:
    limits = Limits(max_iterations=None, max_tool_calls_per_turn=None)
    tools = [bench_add, bench_sleep]
    return Agent(provider=provider, model="bench", tools=tools, instructions="You are a bench.", limits=limits)


async def turn(session: Conversation, prompt: str, on_text: Callable[[str], None]) -> str:
    run = session.agent.run(prompt, session_id=session.session_id)
    async for event in run:
        if event.type == "text_delta":
            on_text(event.text)
    return (await run.result()).response


async def close(session: Conversation) -> None:
    await session.agent.sessions.delete(session.session_id)
