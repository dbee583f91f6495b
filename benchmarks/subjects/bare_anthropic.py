"""The bare Anthropic SDK: its streaming helper and a loop written by hand."""

import asyncio
from typing import Any

import anthropic
from _bare import PARAMETERS, call, schema

TOOLS = [{"name": name, "description": name, "input_schema": schema(name)} for name in PARAMETERS]


async def setup(url: str) -> None:
    global client
    client = anthropic.AsyncAnthropic(base_url=url, api_key="bench", max_retries=0)


async def new_session() -> list[Any]:
    return []


async def turn(messages: list[Any], prompt: str, on_text: Any) -> str:
    messages.append({"role": "user", "content": prompt})
    while True:
        async with client.messages.stream(
            model="bench", max_tokens=1000, system="You are a bench.", messages=messages, tools=TOOLS
        ) as stream:
            async for text in stream.text_stream:
                on_text(text)
            reply = await stream.get_final_message()
        messages.append({"role": "assistant", "content": [block.to_dict() for block in reply.content]})
        calls = [block for block in reply.content if block.type == "tool_use"]
        if not calls:
            return reply.content[0].text
        outputs = await asyncio.gather(*[call(block.name, block.input) for block in calls])
        results = [
            {"type": "tool_result", "tool_use_id": block.id, "content": output}
            for block, output in zip(calls, outputs, strict=True)
        ]
        messages.append({"role": "user", "content": results})
