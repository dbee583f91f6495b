"""An agent behind a web address: each request is a run, its events go out as server-sent events.

Run it with ``python examples/12_web_endpoint.py`` and ANTHROPIC_API_KEY set. FastAPI takes the same handler.
"""

import asyncio
import json
import socket
from contextlib import aclosing

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from agentframework import Agent, AnthropicProvider, Provider
from agentframework.events import to_dict


def app_of(agent: Agent) -> Starlette:
    """``POST /chat`` with ``{"session_id", "message"}``. A client that goes away aborts its run."""

    async def chat(request: Request) -> StreamingResponse:
        body = await request.json()

        async def stream():
            async with aclosing(agent.run(body["message"], session_id=body["session_id"])) as run:
                try:
                    async for event in run:
                        yield f"data: {json.dumps(to_dict(event))}\n\n"
                except Exception:  # the client has had the event "error"
                    return

        return StreamingResponse(stream(), media_type="text/event-stream")

    return Starlette(routes=[Route("/chat", chat, methods=["POST"])])


async def main(provider: Provider) -> str:
    """Serve, ask once, and return the answer as the client has put it together."""
    text = ""
    async with Agent(provider=provider, instructions="Answer in one sentence.") as agent:
        listening = socket.create_server(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app_of(agent), log_level="error", ws="none"))
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/chat"
        body = {"session_id": "visitor-1", "message": "Hello!"}
        async with httpx2.AsyncClient(timeout=60) as client, client.stream("POST", url, json=body) as answer:
            async for line in answer.aiter_lines():
                event = json.loads(line.removeprefix("data: ")) if line else {"type": ""}
                text += event["text"] if event["type"] == "text_delta" else ""
        server.should_exit = True
        await serving
    return text


if __name__ == "__main__":
    asyncio.run(main(AnthropicProvider()))
