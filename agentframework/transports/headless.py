"""A session without a person: prompts in, answers out, as text, one JSON object, or JSON lines.

The runner owns nothing but its output: exactly one terminal record is written whatever happens, and nothing
but records goes to that output. Above: the command line, or a program of yours. Below: the session.
"""

import asyncio
from collections.abc import AsyncIterable, Awaitable, Callable
from typing import Any, Literal, get_args

from agentframework._base.bounded import printable
from agentframework._base.event_buffer import EventStream
from agentframework.errors import ConfigurationError, InvalidInputError, LimitExceededError, describe_error
from agentframework.events import (
    BaseEvent,
    IterationStarted,
    ModelCompleted,
    SessionStarted,
)
from agentframework.messages import ExecutionResult, Usage
from agentframework.session import InteractiveSession
from agentframework.transports.headless_feed import InputFeed
from agentframework.transports.headless_input import UserInput
from agentframework.transports.headless_records import event_line, result_line

OutputFormat = Literal["text", "json", "stream-json"]
Write = Callable[[bytes], Awaitable[None] | None]

EXIT_DONE = 0
EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_LIMIT = 3


class HeadlessRunner:
    """Runs prompts of one session and writes their records with ``write`` (whole lines, UTF-8, in order).

    ``write`` may be async; then nothing is written before the last one has returned. What it raises ends the run: the
    session's turn is stopped and the exception goes on. One runner runs once.
    """

    def __init__(
        self,
        session: InteractiveSession,
        output_format: OutputFormat,
        write: Write,
        complain: Callable[[bytes], None],
    ) -> None:
        self._session = session
        self._format = output_format
        self._write = write
        self._complain = complain
        self._rounds = 0
        self._usage = Usage()
        self._writing = asyncio.Lock()
        self._opened = asyncio.Event()
        self._opened.set()
        self._broken: Exception | None = None
        self._feed: InputFeed | None = None
        self._finished = False
        self._stopped = False
        session.on(IterationStarted, self._count)
        session.on(ModelCompleted, self._add)

    def _started(self, _event: SessionStarted) -> None:
        self._opened.clear()

    def _count(self, _event: IterationStarted) -> None:
        self._rounds += 1

    def _add(self, event: ModelCompleted) -> None:
        self._usage = self._usage + event.usage

    # --- running ----------------------------------------------------------------------------------------

    async def run(self, prompt: str) -> int:
        """Run one prompt to its end and write the terminal record. Returns the exit code (0, 1 or 3).

        An interrupted turn is written as such and returns 0: it is for the caller to know why it stopped it.
        """
        return await self._recorded(lambda: self._turn(UserInput(prompt)))

    async def run_input(self, lines: AsyncIterable[bytes | str]) -> int:
        """Run the prompts that ``lines`` bring, one after the other, until there are no more.

        A line is a JSON object: ``{"type": "user", "content": "…" | [parts], "driver_id"?}``,
        ``{"type": "permission_response", "id", "answer"}``, ``{"type": "ask_response", "id", "response"}`` or
        ``{"type": "abort"}``, at most 16 MiB long. A line that is none of these is left out with a ``warning`` event,
        or with a sentence for people where events are not written. In the format stream-json permission requests and
        questions wait for their answer as long as there may be more input; in the others, where nobody would see
        them, they are denied at once.

        The one terminal record is that of the last turn, with rounds and usage of all; an earlier turn that failed is
        told for people and does not end the run. Returns the exit code of the last turn, or 2 if no prompt came.
        """
        return await self._recorded(lambda: self._conversation(lines))

    def stop(self) -> None:
        """Stop the run in order, also one that has not begun."""
        self._stopped = True
        if self._feed is not None:
            self._feed.close()
        self._session.abort()

    def last_record(self, error: Exception | None = None) -> bytes:
        """The terminal record of a run that is not going to end by itself; empty if there is one already.

        It says that the run was interrupted, or what ``error`` says.
        """
        if error is None:
            said = self._session.get_streaming_text()
            return self._terminal("interrupted", is_error=True, result=said, code=None)
        info = describe_error(error)
        return self._terminal("error", is_error=True, result=info.message, code=info.code)

    async def _recorded(self, work: Callable[[], Awaitable[ExecutionResult | None]]) -> int:
        # A stream, not listeners: who merely records must not count as somebody to answer permission prompts.
        stream = self._session.events() if self._format == "stream-json" else None
        pump = asyncio.create_task(self._pump(stream), name="headless output") if stream is not None else None
        try:
            outcome = await self._outcome(work)
            if stream is not None and pump is not None:
                await stream.aclose()
                await pump
        finally:
            if stream is not None and pump is not None:
                await stream.aclose()
                pump.cancel()
                await asyncio.wait({pump})
        if self._broken is not None:
            raise self._broken
        return await self._conclude(outcome)

    async def _outcome(
        self, work: Callable[[], Awaitable[ExecutionResult | None]]
    ) -> ExecutionResult | Exception | None:
        if self._format == "stream-json":
            self._session.on(SessionStarted, self._started)
        try:
            await self._session.start()
            return None if self._stopped else await work()
        except Exception as error:
            return error
        finally:
            self._session.off(SessionStarted, self._started)

    async def _turn(self, prompt: UserInput) -> ExecutionResult:
        handle = self._session.submit_nowait(
            prompt.text,
            content=prompt.content,
            display_input=prompt.display,
            raw_input=prompt.display,
            driver_id=prompt.driver_id,
        )
        return await handle.completed

    async def _conversation(self, lines: AsyncIterable[bytes | str]) -> ExecutionResult | None:
        await self._opened.wait()  # so that no warning comes before the session's first event
        feed = self._feed = InputFeed(self._session, self._warn, answers=self._format == "stream-json")
        if self._stopped:
            feed.close()
        reading = asyncio.create_task(feed.read(lines), name="headless input")
        outcome: ExecutionResult | Exception | None = None
        try:
            while (prompt := await feed.next_prompt()) is not None:
                if isinstance(outcome, Exception):
                    self._tell(describe_error(outcome).message)
                try:
                    outcome = await self._turn(prompt)
                except Exception as error:
                    outcome = error
        finally:
            feed.close()
            reading.cancel()
            await asyncio.wait({reading})
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is None and not self._stopped:
            raise _NoPromptError('no prompt came; send lines such as {"type": "user", "content": "Hello"}')
        return outcome

    # --- writing ----------------------------------------------------------------------------------------

    async def _pump(self, stream: EventStream[BaseEvent]) -> None:
        try:
            async for event in stream:
                if not await self._put(event_line(event)):
                    return
                self._opened.set()
        finally:
            self._opened.set()

    async def _put(self, data: bytes) -> bool:
        """Write, and stop everything if that fails."""
        try:
            await self._write_whole(data)
        except Exception as error:
            self._broken = self._broken or error
            self.stop()
        return self._broken is None

    async def _write_whole(self, data: bytes) -> None:
        async with self._writing:
            written = self._write(data)
            if written is not None:
                await written

    async def _warn(self, message: str) -> None:
        if self._format == "stream-json":
            self._session.warn(message, "input")
            async with self._writing:
                pass  # whoever sends bad lines and reads nothing is not read any further
        else:
            self._tell(message)

    def _tell(self, message: str) -> None:
        self._complain(f"agentframework: {printable(message)}\n".encode())

    async def _conclude(self, outcome: ExecutionResult | Exception | None) -> int:
        if self._stopped or outcome is None or (isinstance(outcome, ExecutionResult) and outcome.interrupted):
            return await self._interrupted(outcome)
        if isinstance(outcome, Exception):
            return await self._failed(outcome)
        if self._format == "text":
            self._finished = True
            await self._write_whole(printable(outcome.response).encode() + b"\n")
        else:
            value = outcome.structured_output
            record = self._terminal("success", is_error=False, result=outcome.response, code=None, value=value)
            await self._write_whole(record)
        return EXIT_DONE

    async def _interrupted(self, outcome: ExecutionResult | Exception | None) -> int:
        if self._format == "text":
            self._tell("interrupted")
        else:
            said = outcome.response if isinstance(outcome, ExecutionResult) else ""
            await self._write_whole(self._terminal("interrupted", is_error=True, result=said, code=None))
        return EXIT_DONE

    async def _failed(self, error: Exception) -> int:
        info = describe_error(error)
        limit = isinstance(error, LimitExceededError)
        self._tell(info.message)
        if self._format != "text":
            subtype = "error_limit" if limit else "error"
            await self._write_whole(self._terminal(subtype, is_error=True, result=info.message, code=info.code))
        if isinstance(error, _NoPromptError):
            return EXIT_USAGE
        return EXIT_LIMIT if limit else EXIT_ERROR

    def _terminal(
        self, subtype: str, *, is_error: bool, result: str, code: str | None, value: Any = None
    ) -> bytes:
        if self._finished or self._format == "text":
            return b""
        self._finished = True
        return result_line(
            subtype,
            is_error=is_error,
            result=result,
            code=code,
            session_id=self._session.session_id,
            num_turns=self._rounds,
            usage=self._usage,
            value=value,
        )


class _NoPromptError(InvalidInputError):
    """The input ended before it brought a prompt."""


def create_headless_runner(
    session: InteractiveSession,
    *,
    output_format: OutputFormat = "text",
    write: Write,
    complain: Callable[[bytes], None] = lambda _data: None,
) -> HeadlessRunner:
    """A runner for ``session`` that writes records with ``write`` and messages for people with ``complain``.

    `HeadlessRunner.run` takes one prompt, `HeadlessRunner.run_input` a stream of JSON lines. Raises
    `ConfigurationError` for an unknown format.
    """
    if output_format not in get_args(OutputFormat):
        known = ", ".join(get_args(OutputFormat))
        raise ConfigurationError(f"unknown output format {output_format!r}; the formats are {known}")
    return HeadlessRunner(session, output_format, write, complain)
