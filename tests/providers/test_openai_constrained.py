import json
from typing import Any

import pytest

from agentframework import OpenAIProvider, ToolSpec
from agentframework.errors import ConfigurationError, ModelResponseInvalidError
from agentframework.messages import TextPart, ToolCall, user_text
from agentframework.providers.protocol import ModelReply, ModelRequest, TextChunk
from agentframework.testing import StrictModelServer
from agentframework.testing.strict_server import text

READ = ToolSpec("Read", "Read a file.", {
    "type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"],
})  # fmt: skip


async def ask(server: StrictModelServer, prompt: str) -> list[Any]:
    provider = OpenAIProvider(api="chat", base_url=server.openai_url, api_key="k", tool_mode="constrained")
    request = ModelRequest("small-model", [user_text(prompt)], tools=(READ,))
    try:
        return [chunk async for chunk in provider.stream(request)]
    finally:
        await provider.aclose()


async def test_a_call_is_decoded_from_the_json_that_the_server_streams() -> None:
    async with StrictModelServer() as server:
        action = json.dumps({"tool": "Read", "arguments": {"file_path": "README.md"}})
        server.reply(text(action, chunks=7))
        chunks = await ask(server, "Read README.md")
    reply = chunks[-1]
    assert isinstance(reply, ModelReply)
    (call,) = reply.message.content
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments) == ("Read", {"file_path": "README.md"})
    assert (reply.message.stop_reason, reply.message.origin) == ("tool_use", "openai-chat")
    body = server.requests[0].body
    assert body["response_format"]["type"] == "json_schema"
    assert "tools" not in body


async def test_an_answer_is_shown_as_it_arrives() -> None:
    async with StrictModelServer() as server:
        server.reply(text(json.dumps({"answer": "It is a\ntest."}), chunks=9))
        chunks = await ask(server, "What is it?")
    shown = [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)]
    assert len(shown) > 2
    assert "".join(shown) == "It is a\ntest."
    assert chunks[-1].message.content == (TextPart("It is a\ntest."),)


async def test_text_that_is_no_action_is_an_error_and_not_an_answer() -> None:
    async with StrictModelServer() as server:
        server.reply(text("I would rather chat."))
        with pytest.raises(ModelResponseInvalidError):
            await ask(server, "Read README.md")


def test_the_mode_is_for_chat_only_and_checked_at_construction() -> None:
    for options in ({"api": "responses", "tool_mode": "constrained"}, {"api": "chat", "tool_mode": "magic"}):
        with pytest.raises(ConfigurationError, match="tool_mode"):
            OpenAIProvider(api_key="k", **options)  # type: ignore[arg-type]
