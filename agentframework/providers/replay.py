"""`ReplayProvider`: answers from a recording, without a model and without a network.

Everything around the model runs as always: the loop, the gate and the tools cannot tell the difference. A request
that the recording has no answer for is an error that shows where it differs. Below: the format, which
`RecordingProvider` writes.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from agentframework._base.jsonl import BadLine, read_lines
from agentframework.errors import ConfigurationError, ReplayMismatchError
from agentframework.providers.protocol import Chunk, ModelLimits, ModelReply, ModelRequest, RawChunk
from agentframework.providers.recording_format import (
    Exchange,
    Hold,
    error_from_json,
    exchange_from_json,
    first_difference,
    likeness_text,
    limits_from_json,
    request_digest,
)


class ReplayProvider:
    """Answers each request with the next recorded exchange.

    ``source`` is a file of JSON lines or the records themselves; records other than exchanges are skipped. The
    request's last message has to fit the recorded one: by role, by text for a user's message, by the calls that
    are answered for results. ``strict`` also compares what the results say, the model, and the number of
    messages. ``pace_s`` is the pause before each chunk, in seconds. An answer that was interrupted when it was
    recorded waits, where it broke off, until it is interrupted again.

    Raises `ConfigurationError` that names file and line for a recording that cannot be read. The last line
    may be incomplete, as a crash leaves it; it is ignored then.
    """

    name = "replay"

    def __init__(
        self,
        source: str | os.PathLike[str] | Iterable[Mapping[str, Any]],
        *,
        strict: bool = False,
        pace_s: float = 0.0,
    ) -> None:
        if isinstance(source, str | os.PathLike):
            self._title = os.fspath(source)
            self._exchanges, self._cut_line = _read_file(Path(source))
        else:
            self._title = "the recording"
            self._exchanges, self._cut_line = _read_records(source), None
        if not self._exchanges:
            raise ConfigurationError(f"{self._title} holds no model exchange to replay")
        self._strict = strict
        self._pace_s = pace_s
        self._next = 0
        self.default_model = str(self._exchanges[0].request.get("model") or "replay")

    @property
    def remaining(self) -> int:
        """How many exchanges nobody has asked for yet."""
        return len(self._exchanges) - self._next

    def resolve_model(self, model: str) -> str:
        """Any name stands for itself."""
        return model

    def limits(self, model: str) -> ModelLimits:
        """Those recorded for ``model``, else the defaults."""
        for exchange in self._exchanges:
            if exchange.request.get("model") == model:
                return limits_from_json(exchange.request.get("limits")) or ModelLimits()
        return ModelLimits()

    async def start(self) -> None:
        """Nothing to prepare."""

    async def aclose(self) -> None:
        """Nothing to give up; the next request still gets the next exchange."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[Chunk]:
        """Play the next exchange.

        Raises `ReplayMismatchError` if it does not fit the request or there is none left, and the recorded
        error where one was recorded.
        """
        exchange = self._claim(request)
        for chunk in exchange.chunks:
            if isinstance(chunk, Hold):
                await asyncio.get_running_loop().create_future()
                continue
            if isinstance(chunk, RawChunk) and not request.raw_events:
                continue
            if self._pace_s:
                await asyncio.sleep(self._pace_s)
            yield chunk
        if exchange.error is not None:
            raise error_from_json(exchange.error)
        if exchange.reply is not None:
            yield ModelReply(exchange.reply)

    def _claim(self, request: ModelRequest) -> Exchange:
        asked = request_digest(request)
        if not self.remaining:
            raise self._too_many()
        exchange = self._exchanges[self._next]
        difference = first_difference(exchange.request, asked, strict=self._strict)
        if difference is not None:
            raise self._mismatch(exchange, asked, difference)
        self._next += 1
        return exchange

    def _mismatch(self, exchange: Exchange, asked: Mapping[str, Any], difference: str) -> ReplayMismatchError:
        fits = [
            other.place
            for other in self._exchanges
            if other is not exchange and first_difference(other.request, asked, strict=self._strict) is None
        ]
        hint = f"; it would fit {fits[0]}" if fits else self._nearest(exchange, asked)
        return ReplayMismatchError(
            f"request {self._next + 1} of the replay does not fit {exchange.place}: {difference}{hint}",
            details={"place": exchange.place, "request": dict(asked)},
        )

    def _nearest(self, expected: Exchange, asked: Mapping[str, Any]) -> str:
        """Where the recorded request that is most like this one differs from it, if that is another one."""
        wanted = likeness_text(asked)
        matcher = SequenceMatcher(b=wanted, autojunk=False)

        def likeness(exchange: Exchange) -> float:
            matcher.set_seq1(likeness_text(exchange.request))
            return matcher.ratio()

        nearest = max(self._exchanges, key=likeness)
        if nearest is expected or likeness(nearest) <= likeness(expected):
            return ""
        return f"; nearest is {nearest.place}: {first_difference(nearest.request, asked, strict=self._strict)}"

    def _too_many(self) -> ReplayMismatchError:
        count = len(self._exchanges)
        cut = "" if self._cut_line is None else f" (line {self._cut_line} is incomplete and was ignored)"
        return ReplayMismatchError(
            f"request {count + 1} came after the end of {self._title}, which holds {count} exchanges{cut}",
            details={"exchanges": count},
        )


def _read_file(path: Path) -> tuple[list[Exchange], int | None]:
    """The exchanges of a file, and the number of its last line if that is incomplete."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"cannot read the recording {path}: {error.strerror or error}", details={"path": str(path)}
        ) from error
    found: list[Exchange] = []
    last = data.count(b"\n") + 1
    # Only `read_lines` knows the lines' numbers, and it skips blank ones; so each line is read by itself.
    for number, line in enumerate(data.split(b"\n"), 1):
        for record in read_lines(line):
            if not isinstance(record, BadLine):
                exchange = exchange_from_json(record, f"{path}:{number}")
                if exchange is not None:
                    found.append(exchange)
            elif number == last:
                return found, number
            else:
                raise ConfigurationError(
                    f"{path}:{number}: not a line of a recording: {record.reason}",
                    details={"path": str(path), "line": number},
                )
    return found, None


def _read_records(records: Iterable[Mapping[str, Any]]) -> list[Exchange]:
    found = [exchange_from_json(record, f"record {number}") for number, record in enumerate(records, 1)]
    return [exchange for exchange in found if exchange is not None]
