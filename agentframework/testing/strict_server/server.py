"""`StrictModelServer`: a model on 127.0.0.1 that plays a script and refuses what the real APIs refuse.

Routes requests, checks them, records them, and lets `playback` answer. For users' tests, this project's own
tests and its benchmarks; standard library only.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from .api_errors import error_body
from .checks import refusal
from .http import Connection
from .http_reader import HttpRequest
from .issued import Issued
from .json_text import parse_object
from .playback import play
from .records import Api, RecordedRequest, Rejection
from .refusal import Refused
from .script import Part, Reply, Usage
from .wire import Exchange

__all__ = ["Responder", "StrictModelServer"]

_ROUTES: dict[str, Api] = {
    "/v1/messages": "anthropic",
    "/v1/messages/count_tokens": "anthropic",
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
}
_COUNT_TOKENS = "/v1/messages/count_tokens"


Responder = Callable[[RecordedRequest], Reply | Sequence[Part]]
"""Answers a request for which no reply is queued."""


@dataclass(frozen=True, slots=True)
class _Plain:
    """An answer that no script makes."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class StrictModelServer:
    """Speaks Anthropic Messages, OpenAI Chat Completions and OpenAI Responses, streamed or whole.

    Each accepted request consumes one queued reply, or asks `respond`. A request that breaks a rule of its
    API gets the API's error (400, 401, 404, 413), is noted in `rejections` and consumes nothing. Leaving the
    block raises AssertionError if replies were left over (unless `allow_leftovers`) or requests came with no
    reply for them.
    """

    def __init__(
        self, respond: Responder | None = None, *, allow_leftovers: bool = False, issued: Issued | None = None
    ) -> None:
        self._respond = respond
        self._allow_leftovers = allow_leftovers
        self.issued = issued if issued is not None else Issued()
        self.requests: list[RecordedRequest] = []
        self.rejections: list[Rejection] = []
        self.unexpected: list[str] = []
        """Requests no reply was found for, and failures of the responder."""
        self._replies: deque[Reply] = deque()
        self._arrived = asyncio.Event()
        self._key = secrets.token_hex(4)
        self._connections: set[Connection] = set()
        self._server: asyncio.Server | None = None
        self._port = 0

    # -- life --------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: Connection(self._accept, self._connections), "127.0.0.1", 0, backlog=2048
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
            for connection in list(self._connections):
                await connection.stop()
            await self._server.wait_closed()
            self._server = None
        if kind is None:
            self._verify()

    def _verify(self) -> None:
        problems = list(self.unexpected)
        if self._replies and not self._allow_leftovers:
            problems.append(f"{len(self._replies)} queued replies were never asked for, the next: {self._replies[0]}")
        if problems:
            refused = [f"(refused: {rejection.message})" for rejection in self.rejections]
            raise AssertionError("; ".join(problems + refused))

    @property
    def url(self) -> str:
        """Where it listens, without a path: ``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def anthropic_url(self) -> str:
        """Base URL for Anthropic clients, which add `/v1` themselves."""
        return self.url

    @property
    def openai_url(self) -> str:
        """Base URL for OpenAI clients."""
        return f"{self.url}/v1"

    # -- script ------------------------------------------------------------------------------------

    def reply(
        self, *parts: Part, usage: Usage | Mapping[str, Any] | None = None, finish_reason: str | None = None
    ) -> None:
        """Queue the answer to the next request; arguments as for `script.reply`."""
        self._replies.append(Reply(parts, usage, finish_reason))

    @property
    def replies_left(self) -> int:
        """How many queued replies no request has asked for yet."""
        return len(self._replies)

    async def wait_for_request(self, number: int, timeout: float = 10.0) -> RecordedRequest:
        """The `number`-th request (from 1), refused ones included. Raises TimeoutError."""
        try:
            async with asyncio.timeout(timeout):
                while len(self.requests) < number:
                    self._arrived.clear()
                    await self._arrived.wait()
        except TimeoutError as error:
            raise TimeoutError(f"{len(self.requests)} requests came within {timeout} s, not {number}") from error
        return self.requests[number - 1]

    # -- requests ----------------------------------------------------------------------------------

    def _accept(self, request: HttpRequest, connection: Connection) -> Coroutine[Any, Any, None]:
        """Notes a request and takes its reply at once, before any wait, so that both agree for the test."""
        api = _ROUTES.get(request.path) if request.method == "POST" else None
        if api is None:
            return self._serve_other(request, connection)
        number = len(self.requests) + 1
        record = RecordedRequest(number, api, request.path, request.headers, request.body)
        self.requests.append(record)
        try:
            answer = self._decide(request, record)
        except Exception as error:  # a fault of a rule or of the responder must reach the test, not asyncio's log
            self.unexpected.append(f"deciding on request {number} (POST {record.path}) failed: {error!r}")
            answer = self._no_answer(record)
        self._arrived.set()

        def done() -> None:
            record.status = connection.status
            record.finished.set()

        connection.on_lost = record.disconnected.set
        connection.on_done = done
        return self._serve(answer, record, connection)

    async def _serve(self, answer: Reply | _Plain, record: RecordedRequest, connection: Connection) -> None:
        headers = self._headers(record.number)
        try:
            if isinstance(answer, _Plain):
                connection.send_json(answer.status, answer.body, {**headers, **answer.headers})
            else:
                key = f"{self._key}{record.number:05d}"
                exchange = Exchange(record.body, len(record.raw), key, answer, self.issued)
                await play(record.api, exchange, connection, headers)
        except Exception as error:
            self.unexpected.append(f"answering request {record.number} failed: {error!r}")
            raise

    def _headers(self, number: int) -> dict[str, str]:
        identity = f"req_{self._key}{number:05d}"
        return {"request-id": identity, "x-request-id": identity}

    async def _serve_other(self, request: HttpRequest, connection: Connection) -> None:
        headers = self._headers(0)
        api = "anthropic" if "anthropic-version" in request.headers else "chat"
        if request.method == "GET" and request.path == "/v1/models":
            connection.send_json(200, _models(api), headers)
            return
        message = f"Invalid URL ({request.method} {request.path})"
        record = RecordedRequest(0, api, request.path, request.headers, request.body, status=404)
        self.rejections.append(Rejection(record, 404, message))
        connection.send_json(404, error_body(api, 404, message), headers)

    def _decide(self, request: HttpRequest, record: RecordedRequest) -> Reply | _Plain:
        try:
            _check_envelope(request, record.api)
            record.body = parse_object(request.body)
            counting = record.path == _COUNT_TOKENS
            body = {"max_tokens": 1, **record.body} if counting else record.body
            refused = refusal(record.api, body, self.issued, betas=_betas(request))
            if refused is not None:
                raise refused
        except Refused as error:
            self.rejections.append(Rejection(record, error.status, error.message))
            detail = error_body(record.api, error.status, error.message, code=error.code, param=error.param)
            return _Plain(error.status, detail)
        if counting:
            return _Plain(200, {"input_tokens": max(1, len(request.body) // 4)})
        if self._replies:
            return self._replies.popleft()
        if self._respond is not None:
            answer = self._respond(record)
            return answer if isinstance(answer, Reply) else Reply(tuple(answer))
        self.unexpected.append(
            f"StrictModelServer has no reply queued for request {record.number} (POST {record.path})"
        )
        return self._no_answer(record)

    def _no_answer(self, record: RecordedRequest) -> _Plain:
        """The newest complaint as an error that clients do not retry."""
        detail = error_body(record.api, 500, self.unexpected[-1])
        return _Plain(500, detail, {"x-should-retry": "false"})


def _check_envelope(request: HttpRequest, api: Api) -> None:
    if request.too_large:
        raise Refused("Request exceeds the maximum size", status=413, code="request_too_large")
    bearer = request.headers.get("authorization", "").partition(" ")
    has_key = bearer[0].lower() == "bearer" and bool(bearer[2].strip())
    if api == "anthropic":
        if not has_key and not request.headers.get("x-api-key"):
            raise Refused("x-api-key header is required", status=401)
        if not request.headers.get("anthropic-version"):
            raise Refused("anthropic-version: header is required")
    elif not has_key:
        raise Refused("You didn't provide an API key in an Authorization header using Bearer auth", status=401)


def _betas(request: HttpRequest) -> frozenset[str]:
    return frozenset(name.strip() for name in request.headers.get("anthropic-beta", "").split(",") if name.strip())


def _models(api: Api) -> dict[str, Any]:
    if api == "anthropic":
        model = {
            "type": "model",
            "id": "strict-model",
            "display_name": "Strict",
            "created_at": "2026-01-01T00:00:00Z",
        }
        return {"data": [model], "has_more": False, "first_id": "strict-model", "last_id": "strict-model"}
    model = {"id": "strict-model", "object": "model", "created": 1_760_000_000, "owned_by": "agentframework"}
    return {"object": "list", "data": [model]}
