"""The bare OpenAI SDK on Chat Completions, and a loop written by hand."""

import asyncio
import json
from typing import Any

import openai
from _bare import PARAMETERS, call, schema

TOOLS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": schema(name)}}
    for name in PARAMETERS
]


async def setup(url: str) -> None:
    global client
    client = openai.AsyncOpenAI(base_url=url + "/v1", api_key="bench", max_retries=0)


async def new_session() -> list[Any]:
    return [{"role": "system", "content": "You are a bench."}]


async def turn(messages: list[Any], prompt: str, on_text: Any) -> str:
    messages.append({"role": "user", "content": prompt})
    while True:
        text, calls = await reply(messages, on_text)
        if not calls:
            messages.append({"role": "assistant", "content": text})
            return text
        made = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id, name, arguments in calls
        ]
        messages.append({"role": "assistant", "content": text or None, "tool_calls": made})
        outputs = await asyncio.gather(*[call(name, json.loads(arguments)) for _, name, arguments in calls])
        for (id, _, _), output in zip(calls, outputs, strict=True):
            messages.append({"role": "tool", "tool_call_id": id, "content": output})


async def reply(messages: list[Any], on_text: Any) -> tuple[str, list[tuple[str, str, str]]]:
    texts: list[str] = []
    calls: dict[int, list[Any]] = {}
    stream = await client.chat.completions.create(
        model="bench", messages=messages, tools=TOOLS, stream=True, stream_options={"include_usage": True}
    )
    async for chunk in stream:
        if not chunk.choices:
            continue
        delta = chunk.choices[0].delta
        if delta.content:
            texts.append(delta.content)
            on_text(delta.content)
        for part in delta.tool_calls or ():
            if part.id:
                calls[part.index] = [part.id, part.function.name, []]
            calls[part.index][2].append(part.function.arguments or "")
    return "".join(texts), [(id, name, "".join(pieces)) for id, name, pieces in calls.values()]
