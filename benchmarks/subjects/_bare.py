"""The two tools, for loops written by hand on a bare SDK."""

import asyncio
from typing import Any

PARAMETERS = {"bench_add": "x", "bench_sleep": "ms"}


def schema(name: str) -> dict[str, Any]:
    return {"type": "object", "properties": {PARAMETERS[name]: {"type": "integer"}}, "required": [PARAMETERS[name]]}


async def call(name: str, arguments: dict[str, int]) -> str:
    if name == "bench_add":
        return str(arguments["x"] + 1)
    await asyncio.sleep(arguments["ms"] / 1000)
    return "slept"
