"""The bare OpenAI SDK on Responses, and a loop written by hand."""

import asyncio
import json
from typing import Any

import openai
from _bare import PARAMETERS, call, schema

TOOLS = [
    {"type": "function", "name": name, "description": name, "strict": False, "parameters": schema(name)}
    for name in PARAMETERS
]


async def setup(url: str) -> None:
    global client
    client = openai.AsyncOpenAI(base_url=url + "/v1", api_key="bench", max_retries=0)


async def new_session() -> list[Any]:
    return []


async def turn(items: list[Any], prompt: str, on_text: Any) -> str:
    items.append({"role": "user", "content": prompt})
    while True:
        final: Any = None
        stream = await client.responses.create(
            model="bench", input=items, tools=TOOLS, stream=True, store=False, instructions="You are a bench."
        )
        async for event in stream:
            if event.type == "response.output_text.delta":
                on_text(event.delta)
            elif event.type == "response.completed":
                final = event.response
        items.extend(item.model_dump(exclude_none=True) for item in final.output)
        calls = [item for item in final.output if item.type == "function_call"]
        if not calls:
            return final.output_text
        outputs = await asyncio.gather(*[call(item.name, json.loads(item.arguments)) for item in calls])
        for item, output in zip(calls, outputs, strict=True):
            items.append({"type": "function_call_output", "call_id": item.call_id, "output": output})
