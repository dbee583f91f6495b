"""A server with everything that the protocol has, made with the official package, on a port of this machine."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Elicit, Resolve
from mcp.types import (
    Completion,
    EmptyResult,
    SamplingMessage,
    SubscribeRequestParams,
    TextContent,
    UnsubscribeRequestParams,
)
from pydantic import BaseModel

MODERN = "2026-07-28"


class Confirm(BaseModel):
    ok: bool


def ask(path: str) -> Elicit[Confirm]:
    return Elicit(f"Delete {path}?", Confirm)


def make_server() -> MCPServer:
    """Tools, resources, templates, prompts, completions, questions, samples, log messages, changes."""
    server = MCPServer("full", version="1.2", instructions="Be kind.", log_level="ERROR")
    _tools(server)
    _changes(server)

    @server.resource("mem://greeting", mime_type="text/plain")
    def greeting() -> str:
        """A greeting."""
        return "Hello from a resource."

    @server.resource("mem://users/{name}")
    def user(name: str) -> str:
        """Somebody."""
        return f"user {name}"

    @server.prompt()
    def summarize(language: str) -> str:
        """Sums up."""
        return f"Sum up in {language}."

    @server.completion()
    async def complete(_ref: Any, argument: Any, context: Any) -> Completion:
        known = (context.arguments or {}) if context else {}
        return Completion(values=[f"{argument.value}{end}" for end in ("a", "b", *known.values())])

    return server


def _tools(server: MCPServer) -> None:
    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    @server.tool()
    async def remove(path: str, answer: Annotated[Confirm, Resolve(ask)]) -> str:
        """Asks first, in both eras."""
        return f"removed {path}" if answer.ok else "kept"

    @server.tool()
    async def sample(ctx: Context) -> str:
        """Asks the client's model, old era."""
        message = SamplingMessage(role="user", content=TextContent(type="text", text="Say something."))
        answer = await ctx.session.create_message([message], max_tokens=50, system_prompt="Be short.")
        return f"the model said: {answer.content.text}"  # type: ignore[union-attr]

    @server.tool()
    async def roots(ctx: Context) -> str:
        """Asks for roots, old era."""
        return ", ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)

    @server.tool()
    async def visit(ctx: Context) -> str:
        """Sends a person to an address, old era."""
        answer = await ctx.elicit_url("Please log in.", "https://example.com/login", "elicitation-1")
        return answer.action

    @server.tool()
    async def log(ctx: Context) -> str:
        """Logs."""
        await ctx.log("warning", "something odd")
        return "logged"

    @server.tool()
    async def declared(ctx: Context) -> str:
        """What the client declared."""
        capabilities = ctx.client_capabilities
        return capabilities.model_dump_json(by_alias=True, exclude_none=True) if capabilities else "{}"

    @server.tool()
    async def headers(ctx: Context) -> dict[str, str]:
        """The headers of this call."""
        return {name.lower(): value for name, value in (ctx.headers or {}).items()}


def _changes(server: MCPServer) -> None:
    def old(ctx: Context) -> bool:
        return (ctx.protocol_version or "") < MODERN

    @server.tool()
    async def grow(ctx: Context) -> str:
        """One more tool."""
        server.add_tool(lambda: "hi", name="extra", description="Added later.")
        if old(ctx):
            await ctx.session.send_tool_list_changed()
        else:
            await ctx.notify_tools_changed()
        return "grown"

    @server.tool()
    async def touch(uri: str, ctx: Context) -> str:
        """Changes a resource."""
        if old(ctx):
            await ctx.session.send_resource_updated(uri)
        else:
            await ctx.notify_resource_updated(uri)
        return "touched"

    async def accept(_ctx: Any, _params: Any) -> EmptyResult:
        return EmptyResult()

    for method, params in (("subscribe", SubscribeRequestParams), ("unsubscribe", UnsubscribeRequestParams)):
        server._lowlevel_server.add_request_handler(f"resources/{method}", params, accept)


class Around:
    """An application that counts the requests which reach it, and may answer them itself."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.requests = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.requests += 1
        await self.app(scope, receive, send)


@asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """The address at which ``app`` is served meanwhile."""
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1, ws="none")
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    with socket.create_server(("127.0.0.1", 0)) as bound:
        address = f"http://127.0.0.1:{bound.getsockname()[1]}"
        task = asyncio.create_task(server._serve([bound]))
        try:
            yield address
        finally:
            server.should_exit = True
            await asyncio.wait({task}, timeout=20)
            assert task.done()


@asynccontextmanager
async def full_server(transport: str = "http") -> AsyncIterator[str]:
    """The address of a full server over Streamable HTTP (``http``) or ``sse``."""
    server = make_server()
    app = server.sse_app() if transport == "sse" else server.streamable_http_app()
    async with served(app) as address:
        yield address + ("/sse" if transport == "sse" else "/mcp")
