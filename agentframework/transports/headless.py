"""A session without a person: one prompt in, one answer out, as text, one JSON object, or JSON lines.

The runner owns nothing but its output: exactly one terminal record is written whatever happens, and nothing
but records goes to that output.
"""

import asyncio
from collections.abc import Callable
from typing import Any, Literal, get_args

from agentframework._base.emitter import EventStream
from agentframework._base.jsonl import dump_line
from agentframework.errors import ConfigurationError, ErrorCode, describe_error
from agentframework.events import BaseEvent, IterationStarted, ModelCompleted, to_dict
from agentframework.messages import ExecutionResult, Usage
from agentframework.messages.codec import to_json
from agentframework.session import InteractiveSession

OutputFormat = Literal["text", "json", "stream-json"]
Write = Callable[[bytes], None]

EXIT_DONE = 0
EXIT_ERROR = 1
EXIT_LIMIT = 3


class HeadlessRunner:
    """Runs prompts of one session and writes their records with ``write`` (whole lines, UTF-8).

    What ``write`` raises ends the run: the session is stopped and the exception goes on.
    """

    def __init__(
        self, session: InteractiveSession, output_format: OutputFormat, write: Write, complain: Write
    ) -> None:
        self._session = session
        self._format = output_format
        self._write = write
        self._complain = complain
        self._rounds = 0
        self._usage = Usage()
        self._broken: BaseException | None = None
        self._finished = False
        self._stopped = False
        session.on(IterationStarted, self._count)
        session.on(ModelCompleted, self._add)

    def _count(self, _event: IterationStarted) -> None:
        self._rounds += 1

    def _add(self, event: ModelCompleted) -> None:
        self._usage = self._usage + event.usage

    async def run(self, prompt: str) -> int:
        """Run one prompt to its end and write the terminal record. Returns the exit code (0, 1 or 3).

        An interrupted turn is written as such and returns 0: it is for the caller to know why it stopped it.
        """
        # A stream, not listeners: who merely records must not count as somebody to answer permission prompts.
        stream = self._session.events() if self._format == "stream-json" else None
        pump = asyncio.create_task(self._pump(stream)) if stream is not None else None
        outcome: ExecutionResult | Exception
        try:
            await self._session.start()
            if self._stopped:
                self.finish_interrupted()
                return EXIT_DONE
            outcome = await self._session.submit_nowait(prompt).completed
        except Exception as error:
            outcome = error
        finally:
            if stream is not None and pump is not None:
                await stream.aclose()
                await pump
        if self._broken is not None:
            raise self._broken
        return self._fail(outcome) if isinstance(outcome, Exception) else self._succeed(outcome)

    async def _pump(self, stream: EventStream[BaseEvent]) -> None:
        async for event in stream:
            try:
                self._write(dump_line(to_dict(event)))
            except Exception as error:
                self._broken = error
                self._session.abort()
                return

    def stop(self) -> None:
        """Stop the run in order, also one that has not begun."""
        self._stopped = True
        self._session.abort()

    def finish_interrupted(self) -> None:
        """Write the terminal record at once, for a run that is not going to end by itself."""
        self._finish("interrupted", is_error=True, result=self._session.get_streaming_text(), code=None)

    def _succeed(self, result: ExecutionResult) -> int:
        if self._format == "text":
            self._write(result.response.encode("utf-8", "replace") + b"\n")
            self._finished = True
        else:
            subtype = "interrupted" if result.interrupted else "success"
            self._finish(subtype, is_error=result.interrupted, result=result.response, code=None)
        return EXIT_DONE

    def _fail(self, error: Exception) -> int:
        info = describe_error(error)
        limit = info.code == ErrorCode.AGENT_LIMIT_EXCEEDED
        self._complain(f"agentframework: {info.message}\n".encode("utf-8", "replace"))
        if self._format != "text":
            subtype = "error_limit" if limit else "error"
            self._finish(subtype, is_error=True, result=info.message, code=info.code)
        return EXIT_LIMIT if limit else EXIT_ERROR

    def _finish(self, subtype: str, *, is_error: bool, result: str, code: str | None) -> None:
        if self._finished or self._format == "text":
            return
        self._finished = True
        usage = {**to_json(self._usage), "total_tokens": self._usage.total_tokens}
        record = result_record(
            subtype, is_error=is_error, result=result, code=code, session_id=self._session.session_id
        )
        self._write(dump_line({**record, "num_turns": self._rounds, "usage": usage}))


def result_record(
    subtype: str, *, is_error: bool, result: str, code: str | None, session_id: str | None
) -> dict[str, Any]:
    """The terminal record, with nothing used yet."""
    return {
        "type": "result",
        "subtype": subtype,
        "is_error": is_error,
        "result": result,
        "session_id": session_id,
        "num_turns": 0,
        "usage": None,
        "error_code": code,
    }


def create_headless_runner(
    session: InteractiveSession,
    *,
    output_format: OutputFormat = "text",
    write: Write,
    complain: Write = lambda _data: None,
) -> HeadlessRunner:
    """A runner for ``session`` that writes records with ``write`` and messages for people with ``complain``.

    Raises `ConfigurationError` for an unknown format.
    """
    if output_format not in get_args(OutputFormat):
        known = ", ".join(get_args(OutputFormat))
        raise ConfigurationError(f"unknown output format {output_format!r}; the formats are {known}")
    return HeadlessRunner(session, output_format, write, complain)
