"""The vendor SDK's client as our transport: its connection pool, TLS, proxies and auth, but bytes in and bytes out.

Shared by the Anthropic and OpenAI providers. The SDK is imported and its client built in a worker thread, once a
provider and event loop (importing one takes up to two seconds). Requests pass the SDK's public ``post`` with
``content=`` and ``cast_to=httpx2.Response``, which goes around its conversions; the stream is decoded by us, with
as little work for a delta as possible.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from agentframework._base.pacing import pacer
from agentframework.errors import (
    ConfigurationError,
    ModelResponseInvalidError,
    ProviderError,
    ProviderTimeoutError,
    StreamInterruptedError,
)
from agentframework.messages import AssistantMessage
from agentframework.providers.endpoint import Endpoint, check_seconds
from agentframework.providers.failures import Source, from_event, from_status, from_transport
from agentframework.providers.protocol import Chunk, ModelReply, RawChunk
from agentframework.providers.sse import EventTooLargeError, SseReader
from agentframework.providers.wire_json import decode_event

CONNECT_TIMEOUT_S = 10.0
_LINGER_S = 0.1
_HEADERS = {"content-type": "application/json", "accept": "text/event-stream", "accept-encoding": "identity"}
_MALFORMED = (KeyError, TypeError, AttributeError, IndexError, RecursionError, ValueError)


class ReplyFold(Protocol):
    """What an adapter makes of a stream: chunks while it runs, a message at its end."""

    ended: bool

    @property
    def finished(self) -> bool: ...

    def feed(self, event: Mapping[str, Any]) -> Sequence[Chunk]: ...

    def end_marker(self) -> None: ...

    def message(self) -> AssistantMessage: ...


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What a vendor's client is built from. ``timeout_s`` limits the wait for a response to begin.

    Raises `ConfigurationError` for a time that is none.
    """

    endpoint: Endpoint
    timeout_s: float
    idle_timeout_s: float
    http_client: Any = None

    def __post_init__(self) -> None:
        for name in ("timeout_s", "idle_timeout_s"):
            check_seconds(name, getattr(self, name))

    def client_arguments(self, timeout: Any) -> dict[str, Any]:
        """What both vendors' clients are made with. Repeating requests is our own work."""
        return {
            "api_key": self.endpoint.api_key,
            "base_url": self.endpoint.base_url,
            "default_headers": self.endpoint.headers,
            "timeout": timeout,
            "max_retries": 0,
            "http_client": self.http_client,
        }


class ApiClient:
    """One vendor's client, shared by all sessions of a provider.

    ``build`` imports the SDK and returns its async client; it is called in a thread. ``aclose`` leaves an
    ``http_client`` of the caller open.
    """

    def __init__(self, settings: ClientSettings, build: Callable[[ClientSettings, Any], Any]) -> None:
        self._settings = settings
        self._build = build
        self._clients: dict[asyncio.AbstractEventLoop, asyncio.Future[Any]] = {}

    async def start(self) -> Any:
        """The client of the running event loop, built at the first call. Concurrent calls share the work."""
        loop = asyncio.get_running_loop()
        future = self._clients.get(loop)
        if future is None or (future.done() and (future.cancelled() or future.exception() is not None)):
            for other in [other for other in self._clients if other.is_closed()]:
                del self._clients[other]
            future = self._clients[loop] = loop.run_in_executor(None, self._make)
            future.add_done_callback(_seen)
        return future.result() if future.done() else await asyncio.shield(future)

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        future = self._clients.pop(asyncio.get_running_loop(), None)
        if future is not None:
            with suppress(ConfigurationError):
                client = await future
                if self._settings.http_client is None:
                    await client.close()

    def _make(self) -> Any:
        import httpx2  # noqa: PLC0415 - comes with the SDK, in the thread that may wait for it

        given = self._settings.http_client
        if given is not None and not isinstance(given, httpx2.AsyncClient):
            raise ConfigurationError(
                f"http_client must be an httpx2.AsyncClient, not {type(given).__module__}.{type(given).__name__}",
                details={"field": "http_client"},
            )
        limit = self._settings.timeout_s
        timeout = httpx2.Timeout(limit, connect=min(limit, CONNECT_TIMEOUT_S))
        return self._build(self._settings, timeout)

    async def exchange(self, source: Source, path: str, body: bytes, decoder: "ReplyDecoder") -> AsyncGenerator[Chunk]:
        """One request and its reply, which is the last chunk. Closing the generator closes the connection.

        Raises a `ProviderError` for whatever goes wrong.
        """
        import httpx2  # noqa: PLC0415 - see _make

        response = await self._send(source, path, body)
        pieces = response.aiter_bytes() if "content-encoding" in response.headers else response.aiter_raw()
        try:
            async with aclosing(pieces):
                async for data in pieces:
                    for chunk in decoder.feed(data):
                        yield chunk
                    if decoder.stopped:
                        break
                else:
                    for chunk in decoder.finish():
                        yield chunk
                await _drain(pieces)
        except httpx2.HTTPError as error:
            if not (decoder.stopped or decoder.fold.finished):
                raise _broken(source, error, self._settings.idle_timeout_s) from error
        finally:
            await response.aclose()
        yield ModelReply(decoder.message())

    async def _send(self, source: Source, path: str, body: bytes) -> Any:
        """The response whose events follow. The limit of silence changes once it has begun."""
        import httpx2  # noqa: PLC0415 - see _make

        client = await self.start()
        await pacer().breathe()  # a hundred requests begun in one pass of the loop would hold up everything else
        try:
            response: httpx2.Response = await client.post(
                path, cast_to=httpx2.Response, content=body, options={"headers": _HEADERS}, stream=True
            )
            kind = response.headers.get("content-type", "")
            if kind.startswith(("text/html", "application/json")):
                await response.aread()
                raise _no_stream(source, kind, response.content)
        except ProviderError:
            raise
        except Exception as error:  # whatever the SDK or the transport raises has one meaning here
            raise _refusal(source, error) from error
        timeout = response.request.extensions.get("timeout")
        if isinstance(timeout, dict):
            timeout["read"] = self._settings.idle_timeout_s
        return response


def _seen(future: asyncio.Future[Any]) -> None:
    """A failure is raised by `ApiClient.start`; asyncio need not report it if nobody waits any longer."""
    if not future.cancelled():
        future.exception()


class ReplyDecoder:
    """Bytes of a response body to chunks, free of input and output.

    A failure does not hide what came before it: `feed` returns those chunks, and `message` raises.
    """

    __slots__ = ("_failure", "_raw_events", "_reader", "_source", "fold", "stopped")

    def __init__(self, fold: ReplyFold, source: Source, *, raw_events: bool = False) -> None:
        self.fold = fold
        # Whether nothing that follows matters: the reply is complete, or has failed.
        self.stopped = False
        self._failure: ProviderError | None = None
        self._raw_events = raw_events
        self._reader = SseReader()
        self._source = source

    def feed(self, data: bytes) -> Sequence[Chunk]:
        """Chunks of the events that ``data`` completes."""
        try:
            return self._fold(self._reader.feed(data))
        except EventTooLargeError as error:
            self._fail(self._invalid(error))
            return ()

    def finish(self) -> Sequence[Chunk]:
        """Chunks of what is left at the end of the body."""
        return self._fold(self._reader.finish())

    def message(self) -> AssistantMessage:
        """The whole reply. Raises the failure, or `StreamInterruptedError` if the end is missing."""
        if self._failure is not None and not self.fold.finished:
            raise self._failure
        return self.fold.message()

    def _fold(self, events: Sequence[bytes]) -> Sequence[Chunk]:
        if len(events) == 1:
            return self._fold_one(events[0])
        chunks: list[Chunk] = []
        for data in events:
            chunks += self._fold_one(data)
            if self.stopped:
                break
        return chunks

    def _fold_one(self, data: bytes) -> Sequence[Chunk]:
        fold, chunks = self.fold, ()
        try:
            if data == b"[DONE]":
                fold.end_marker()
            elif self._raw_events and data:
                event = decode_event(data)
                chunks = (RawChunk(event),)
                chunks = (*chunks, *fold.feed(event))
            elif data:
                chunks = fold.feed(decode_event(data))
        except ProviderError as error:
            self._fail(error)
        except _MALFORMED as error:
            self._fail(self._invalid(error))
        if fold.ended:
            self.stopped = True
        return chunks

    def _fail(self, error: ProviderError) -> None:
        self._failure = error
        self.stopped = True

    def _invalid(self, error: Exception) -> ProviderError:
        return ModelResponseInvalidError(
            f"{self._source.host} sent an event that cannot be understood ({type(error).__name__}: {error})",
            retryable=True,
        )


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read the end of a body whose reply is complete, so that the connection can be used again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_LINGER_S):
            async for _ in pieces:
                pass


def _refusal(source: Source, error: Exception) -> ProviderError:
    """The error of a request that was not answered with a stream."""
    import httpx2  # noqa: PLC0415 - loaded by now

    response = getattr(error, "response", None)
    if isinstance(response, httpx2.Response):
        return from_status(source, response.status_code, _body(response.content), response.headers)
    names = {cls.__name__ for cls in type(error).__mro__}
    if isinstance(error, httpx2.HTTPError | httpx2.InvalidURL | OSError) or "APIConnectionError" in names:
        return from_transport(source, error)
    return ProviderError(f"the request to {source.host} could not be made: {type(error).__name__}: {error}")


def _body(content: bytes) -> object:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def _no_stream(source: Source, kind: str, content: bytes) -> ProviderError:
    body = _body(content)
    if isinstance(body, dict) and body.get("error"):
        return from_event(source, body)
    return ModelResponseInvalidError(
        f"{source.url} answered with {kind.partition(';')[0]} instead of an event stream. Check base_url."
    )


def _broken(source: Source, error: Exception, idle_timeout_s: float) -> ProviderError:
    """The error of a stream that the transport lost."""
    if "Timeout" in type(error).__name__:
        return ProviderTimeoutError(
            f"{source.host} was silent for more than {idle_timeout_s:g} s in the middle of a reply"
        )
    return StreamInterruptedError(f"the connection to {source.host} broke before the reply was complete: {error}")
