"""Plays a script over a connection: content through the wire of the API, faults through the connection.

Below: `wire`, `http`, `script`. Above: `server`, which chose the script.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping

from .anthropic_wire import AnthropicWire
from .api_errors import error_body, error_status
from .chat_wire import ChatWire
from .http import Connection
from .json_text import dump
from .responses_wire import ResponsesWire
from .script import Content, Cut, EndEarly, ErrorReply, Hold, RawSse, StreamError, Text
from .wire import Exchange, Wire

__all__ = ["play"]

_WIRES: Mapping[str, type[Wire]] = {"anthropic": AnthropicWire, "chat": ChatWire, "responses": ResponsesWire}

_Fault = Cut | EndEarly | StreamError | ErrorReply


async def play(api: str, exchange: Exchange, connection: Connection, headers: Mapping[str, str]) -> None:
    """Answer one request."""
    wire = _WIRES[api](exchange)
    if exchange.body.get("stream") is True:
        await _play_stream(api, wire, connection, headers)
    else:
        await _play_whole(api, wire, connection, headers)


async def _play_stream(api: str, wire: Wire, connection: Connection, headers: Mapping[str, str]) -> None:
    """The response head leaves with the first event, so a fault or a hold in front comes before any byte."""
    for step in _steps(wire):
        if isinstance(step, bytes):
            connection.begin_stream(headers)
            if step:
                await connection.send_event(step)
        elif isinstance(step, Hold | float):
            await _pause(step)
        elif isinstance(step, Cut):
            connection.cut()
            return
        elif isinstance(step, ErrorReply):
            _send_error(api, step, connection, headers)
            return
        else:
            connection.begin_stream(headers)
            if isinstance(step, StreamError):
                await connection.send_event(wire.stream_error(step))
            break
    connection.begin_stream(headers)
    connection.end_stream()


async def _play_whole(api: str, wire: Wire, connection: Connection, headers: Mapping[str, str]) -> None:
    """Without streaming a fault shows in the response: an error status, or half a body."""
    spoke = False
    for step in _steps(wire):
        if isinstance(step, bytes):
            spoke = True
        elif isinstance(step, Hold | float):
            await _pause(step)
        elif isinstance(step, ErrorReply):
            _send_error(api, step, connection, headers)
            return
        elif isinstance(step, StreamError):
            failure = ErrorReply(error_status(step.type), step.message, step.type, None, {}, None)
            _send_error(api, failure, connection, headers)
            return
        else:
            body = _whole_body(wire)
            if isinstance(step, EndEarly):
                body = body[: len(body) // 2]
                connection.send(200, body, {"content-type": "application/json", **headers})
            else:
                if spoke:
                    connection.send_half(body, headers)
                connection.cut()
            return
    connection.send(200, _whole_body(wire), {"content-type": "application/json", **headers})


def _steps(wire: Wire) -> Iterator[bytes | float | Hold | _Fault]:
    """A script in order: events (an empty one asks for the response head only), pauses, faults."""
    reply = wire.exchange.reply
    started = reply.is_raw
    for part in reply.parts:
        if isinstance(part, RawSse):
            yield b""
            for item in part.items:
                yield item if isinstance(item, bytes) else wire.frame(item)
        elif isinstance(part, Content):
            if not started:
                started = True
                yield from wire.start()
            if isinstance(part, Text) and part.gap:
                for event in wire.part(part):
                    yield part.gap
                    yield event
            else:
                yield from wire.part(part)
        else:
            yield part
    if not reply.is_raw:
        if not started:
            yield from wire.start()
        yield from wire.finish()


async def _pause(step: Hold | float) -> None:
    if isinstance(step, Hold):
        step.reached.set()
        await step.event.wait()
    else:
        await asyncio.sleep(step)


def _whole_body(wire: Wire) -> bytes:
    reply = wire.exchange.reply
    if not reply.is_raw:
        return dump(wire.whole())
    items = (item for part in reply.parts if isinstance(part, RawSse) for item in part.items)
    return b"".join(item if isinstance(item, bytes) else dump(item) for item in items)


def _send_error(api: str, reply: ErrorReply, connection: Connection, headers: Mapping[str, str]) -> None:
    headers = {**headers, **reply.headers}
    if reply.raw_body is not None:
        connection.send(reply.status, reply.raw_body, {"content-type": "text/html", **headers})
    else:
        body = error_body(api, reply.status, reply.message, error_type=reply.type, code=reply.code)
        connection.send_json(reply.status, body, headers)
