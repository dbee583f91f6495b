"""How the providers are made: credentials, addresses, models, the SDK's client and where it is built."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest
from apikit import APIS, ONCE, provider_for, talk

from agentframework.errors import (
    ConfigurationError,
    MissingCredentialsError,
    ModelResponseInvalidError,
    ProviderConnectionError,
)
from agentframework.messages import user_text
from agentframework.providers.anthropic import AnthropicProvider
from agentframework.providers.anthropic_events import AnthropicReply
from agentframework.providers.api_client import ApiClient, ClientSettings, ReplyDecoder
from agentframework.providers.endpoint import Endpoint, Vendor
from agentframework.providers.failures import Source, from_event, from_status, retry_after
from agentframework.providers.openai import OpenAIProvider
from agentframework.providers.protocol import ModelRequest, Provider, TextChunk
from agentframework.testing.strict_server import StrictModelServer, text

MAKERS: list[tuple[Callable[..., Any], str, str]] = [
    (AnthropicProvider, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    (OpenAIProvider, "OPENAI_API_KEY", "OPENAI_BASE_URL"),
]
SOURCE = Source("h", "http://h/x", "model-a", "SOME_KEY")


@pytest.fixture(autouse=True)
def _no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for _, key, url in MAKERS:
        monkeypatch.delenv(key, raising=False)
        monkeypatch.delenv(url, raising=False)


# -- credentials and addresses --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "key", "url"), MAKERS)
def test_a_missing_key_is_an_error_that_names_the_variable(make: Callable[..., Any], key: str, url: str) -> None:
    for options in ({}, {"api_key": ""}, {"base_url": "https://models.example/v1"}):
        with pytest.raises(MissingCredentialsError, match=key) as raised:
            make(**options)
        assert raised.value.details == {"variable": key}


@pytest.mark.parametrize(("make", "key", "url"), MAKERS)
def test_a_server_on_this_machine_needs_no_key(make: Callable[..., Any], key: str, url: str) -> None:
    for host in ("127.0.0.1:1", "localhost", "[::1]:8080", "app.localhost", "0.0.0.0:1"):
        make(base_url=f"http://{host}")


@pytest.mark.parametrize(("make", "key", "url"), MAKERS)
def test_a_header_can_take_the_place_of_the_key(make: Callable[..., Any], key: str, url: str) -> None:
    make(headers={"Authorization": "Bearer something"})


@pytest.mark.parametrize(("make", "key", "url"), MAKERS)
async def test_the_environment_fills_in_what_was_not_passed(
    make: Callable[..., Any], key: str, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with StrictModelServer() as server:
        monkeypatch.setenv(key, " from-the-environment\n")
        monkeypatch.setenv(url, server.url if key.startswith("ANTHROPIC") else server.openai_url)
        for options, sent in (({}, "from-the-environment"), ({"api_key": "passed"}, "passed")):
            provider = make(default_model="model-a", headers={"x-team": "blue"}, **options)
            server.reply(text("x"))
            async for _ in provider.stream(ModelRequest("model-a", [user_text("hi")])):
                pass
            await provider.aclose()
            headers = server.requests[-1].headers
            assert headers["x-team"] == "blue"
            assert sent in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer "))


@pytest.mark.parametrize(("make", "key", "url"), MAKERS)
@pytest.mark.parametrize(
    "options",
    [
        {"base_url": "models.example"},
        {"base_url": "ftp://models.example"},
        {"base_url": "https://"},
        {"api_key": "schlüssel"},
        {"api_key": "two\nlines"},
        {"timeout_s": 0},
        {"idle_timeout_s": float("nan")},
        {"timeout_s": float("inf")},
    ],
)
def test_options_that_cannot_work_are_refused_at_once(
    make: Callable[..., Any], key: str, url: str, options: dict[str, Any]
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        make(**{"api_key": "k", **options})
    assert raised.value.details["field"] in options


def test_an_api_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="responses"):
        OpenAIProvider(api="completions", api_key="k")  # type: ignore[arg-type]


async def test_a_client_of_another_library_is_refused_with_its_name() -> None:
    provider = provider_for("chat", "http://127.0.0.1:1", http_client=object())
    with pytest.raises(ConfigurationError, match="builtins.object"):
        await provider.start()
    await provider.aclose()


@pytest.mark.parametrize("api", APIS)
async def test_a_client_that_was_passed_in_stays_open(api: str) -> None:
    async with httpx2.AsyncClient(verify=False) as client:
        async with talk(api, http_client=client) as it:
            it.server.reply(text("x"))
            await it.ask("hi")
        assert not client.is_closed


# -- models ---------------------------------------------------------------------------------------------------------


def test_aliases_and_limits_come_from_the_table() -> None:
    claude = AnthropicProvider(api_key="k")
    assert [claude.resolve_model(name) for name in ("opus", "sonnet", "haiku", "other")] == [
        "claude-opus-5-5",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
        "other",
    ]
    assert claude.default_model == "claude-sonnet-5-5"
    assert claude.limits("haiku").max_output_tokens == 64_000
    assert claude.limits("claude-opus-4-1-20250805").max_output_tokens == 32_000
    assert (claude.limits("other").context_window, claude.limits("other").max_output_tokens) == (200_000, None)
    gpt = OpenAIProvider(api_key="k")
    assert gpt.resolve_model("opus").startswith("gpt-")
    assert gpt.limits("gpt-4.1-mini").context_window == 1_047_576
    assert gpt.limits("openai/gpt-4o").context_window == 128_000


@pytest.mark.parametrize("api", APIS)
async def test_an_alias_is_resolved_in_requests_too(api: str) -> None:
    async with talk(api) as it:
        it.server.reply(text("x"))
        reply = await it.ask("hi", model="opus")
    assert it.server.requests[0].body["model"] == it.provider.resolve_model("opus") == reply.model


@pytest.mark.parametrize("api", APIS)
def test_the_classes_are_providers(api: str) -> None:
    assert isinstance(provider_for(api, "http://127.0.0.1:1"), Provider)


# -- the client -----------------------------------------------------------------------------------------------------


def test_importing_the_providers_loads_no_sdk(tmp_path: Path) -> None:
    code = (
        "import sys, agentframework.providers.anthropic as a, agentframework.providers.openai as o\n"
        "a.AnthropicProvider(api_key='k'); o.OpenAIProvider(api_key='k')\n"
        "print({'anthropic', 'openai', 'httpx2', 'pydantic', 'anyio'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (run.stdout.strip(), run.stderr) == ("set()", "")


class Built:
    """Counts the clients that were built and where; fails as often as told."""

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.threads: list[threading.Thread] = []
        self.closed = 0

    def __call__(self, settings: ClientSettings, timeout: object) -> "Built":
        self.threads.append(threading.current_thread())
        if self.failures:
            self.failures -= 1
            raise ConfigurationError("cannot be built")
        return self

    async def close(self) -> None:
        self.closed += 1


def client_for(built: Built) -> ApiClient:
    endpoint = Endpoint(Vendor("K", "U", "http://h"), "http://h", "k", {})
    return ApiClient(ClientSettings(endpoint, 1.0, 1.0), built)


async def test_concurrent_starts_share_one_client_built_in_a_thread() -> None:
    built = Built()
    client = client_for(built)
    await asyncio.gather(*(client.start() for _ in range(10)))
    await client.start()
    assert len(built.threads) == 1
    assert built.threads[0] is not threading.current_thread()
    await client.aclose()
    await client.aclose()
    assert built.closed == 1
    await client.start()
    assert len(built.threads) == 2


async def test_a_start_that_failed_can_be_repeated() -> None:
    built = Built(failures=1)
    client = client_for(built)
    outcomes = await asyncio.gather(client.start(), client.start(), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ConfigurationError, ConfigurationError]
    assert await client.start() is built
    broken = client_for(Built(failures=1))
    with pytest.raises(ConfigurationError):
        await broken.start()
    await broken.aclose()


async def test_a_cancelled_start_does_not_spoil_the_others() -> None:
    built = Built()
    client = client_for(built)
    first, second = (asyncio.ensure_future(client.start()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is built
    assert first.cancelled()


def test_each_event_loop_has_its_own_connections() -> None:
    async def once(provider: AnthropicProvider, url: str) -> None:
        await provider.start()
        await provider.aclose()

    built = Built()
    client = client_for(built)
    for _ in range(2):
        asyncio.run(client.start())
    assert len(built.threads) == 2
    provider = AnthropicProvider(base_url="http://127.0.0.1:1", retry=ONCE)
    for _ in range(2):
        asyncio.run(once(provider, ""))


async def test_plain_http_where_tls_is_expected_is_a_connection_error() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        provider = provider_for("anthropic", f"https://user:secret-word@127.0.0.1:{port}")
        with pytest.raises(ProviderConnectionError, match=f"cannot reach https://127.0.0.1:{port}/") as raised:
            async for _ in provider.stream(ModelRequest("model-a", [user_text("hi")])):
                pass
        await provider.aclose()
    assert "secret-word" not in str(raised.value)


# -- what was said --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"type": "error", "error": {"type": "api_error", "message": "words"}}, "words"),
        ({"error": {"message": "words", "code": None}}, "words"),
        ({"error": "words"}, "words"),
        ({"detail": "words"}, "words"),
        ({"detail": [{"msg": "words"}]}, "words"),
        ({"message": "words", "object": "error"}, "words"),
        ("<h1>words</h1>\n\n", "words"),
        ({}, "no message"),
        (None, "no message"),
        ([], "no message"),
        ({"error": {"message": "bad \ud800"}}, "bad \ufffd"),
        ("x" * 10_000, "10000 characters"),
    ],
)
def test_the_words_of_the_api_are_found(body: object, words: str) -> None:
    error = from_status(SOURCE, 500, body, {})
    assert words in error.message
    assert len(error.message) < 3_000
    error.message.encode()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_the_time_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_an_error_of_an_unknown_kind_inside_a_stream_may_be_repeated() -> None:
    assert from_event(SOURCE, {"error": {"type": "brand_new_error", "message": "x"}}).retryable
    assert "brand_new_error" in from_event(SOURCE, {"error": {"type": "brand_new_error", "message": "x"}}).message


@pytest.mark.parametrize(
    "event", [b"{broken", b"[]", b"7", b'{"type": "content_block_delta"}', b'{"a":' * 5000, b'{"type": "error"']
)
def test_an_event_that_cannot_be_understood_does_not_hide_what_came_before(event: bytes) -> None:
    decoder = ReplyDecoder(AnthropicReply(SOURCE, 1, set), SOURCE)
    start = b'data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}\n\n'
    assert list(decoder.feed(start + b"data: " + event + b"\n\n" + start)) == [TextChunk("a")]
    assert decoder.stopped
    with pytest.raises(ModelResponseInvalidError, match="cannot be understood") as raised:
        decoder.message()
    assert raised.value.retryable
