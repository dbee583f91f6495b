"""LangChain's `create_agent` on Anthropic."""

from typing import Any

from _bare import call
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessageChunk
from langchain_core.tools import tool


@tool
async def bench_add(x: int) -> str:
    """Add one."""
    return await call("bench_add", {"x": x})


@tool
async def bench_sleep(ms: int) -> str:
    """Sleep."""
    return await call("bench_sleep", {"ms": ms})


async def setup(url: str) -> None:
    global model
    model = ChatAnthropic(model="bench", base_url=url, api_key="bench", max_retries=0, max_tokens=1000)


class Conversation:
    def __init__(self) -> None:
        self.agent = create_agent(model, tools=[bench_add, bench_sleep], system_prompt="You are a bench.")
        self.messages: list[Any] = []


async def new_session() -> Conversation:
    return Conversation()


def text_of(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


async def turn(session: Conversation, prompt: str, on_text: Any) -> str:
    asked = {"messages": [*session.messages, {"role": "user", "content": prompt}]}
    settings = {"recursion_limit": 10_000}
    async for mode, item in session.agent.astream(asked, stream_mode=["messages", "values"], config=settings):
        if mode == "values":
            session.messages = item["messages"]
        elif isinstance(item[0], AIMessageChunk):
            on_text(text_of(item[0].content))
    return text_of(session.messages[-1].content)
