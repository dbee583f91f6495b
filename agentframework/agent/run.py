"""`AgentRun`: one run as its host sees it, an asynchronous iterator of events with a result at its end."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from agentframework._base.abort import AbortSignal
from agentframework._base.event_buffer import EventBuffer
from agentframework.events import BaseEvent, RawModelEvent, TextDelta, ThinkingDelta, ToolCallDelta, merge_deltas
from agentframework.messages import RunResult

_LIMIT = 10_000
_DELTAS = (TextDelta, ThinkingDelta, ToolCallDelta, RawModelEvent)

Work = Callable[["AgentRun"], Coroutine[Any, Any, RunResult]]


class AgentRun:
    """A run that starts when it is first iterated or its `result` is awaited.

    Iterating gives its events; a run that fails raises from there after its ``error`` event, and from `result`. Leaving
    the iteration early aborts the run. ``begin`` takes it over at its start: it claims the session at once, may raise,
    and gives what starts the run's task.
    """

    def __init__(
        self, session_id: str, run_id: str, begin: Callable[["AgentRun"], Callable[[Work], object]],
        work: Work, *, stream: bool,
    ) -> None:  # fmt: skip
        self.session_id = session_id
        self.run_id = run_id
        self.signal = AbortSignal()
        self._take = begin
        self._work = work
        self._hidden: tuple[type[BaseEvent], ...] = () if stream else _DELTAS
        self._buffer: EventBuffer[BaseEvent] | None = None
        self._ended: asyncio.Event = asyncio.Event()
        self._begun = False
        self._result: RunResult | None = None
        self._error: BaseException | None = None
        self._raised = False
        self._reader: RunEvents | None = None

    def __repr__(self) -> str:
        state = "ended" if self.ended else "running" if self._begun else "not started"
        return f"<AgentRun {self.run_id} of session {self.session_id}: {state}>"

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self._ended.is_set()

    def abort(self, reason: str = "aborted") -> None:
        """Stop it: the model's request and running tools are cancelled, and it ends as interrupted."""
        self.signal.abort(reason)

    async def result(self) -> RunResult:
        """The result, starting the run if need be. Raises what it failed with.

        Cancelling the caller aborts the run unless somebody iterates it.
        """
        self.begin()
        try:
            await self._ended.wait()
        except asyncio.CancelledError:
            if self._buffer is None:
                self.abort("the caller was cancelled")
            raise
        if self._error is not None:
            self._raised = True
            raise self._error
        assert self._result is not None
        return self._result

    def __aiter__(self) -> "RunEvents":
        return RunEvents(self)

    async def __anext__(self) -> BaseEvent:
        """The next event, for those who do not use ``async for``."""
        if self._reader is None:
            self._reader = RunEvents(self)
        return await self._reader.__anext__()

    async def aclose(self) -> None:
        """Abort the run if it goes on, and wait for its end."""
        if self._begun and not self.ended:
            self.abort("the run was closed")
            await self._ended.wait()

    # --- for the agent ----------------------------------------------------------------------------------

    def begin(self) -> None:
        """Start it, once."""
        if self._begun:
            return
        self._begun = True
        try:
            start = self._take(self)
        except Exception as error:
            self.end(error=error)
            return
        start(self._work)

    async def wait_ended(self) -> None:
        """Return when it is over."""
        await self._ended.wait()

    def deliver(self, event: BaseEvent) -> None:
        """Hand an event to whoever iterates."""
        if self._buffer is not None and type(event) not in self._hidden:
            self._buffer.push(event)

    def end(self, result: RunResult | None = None, error: BaseException | None = None) -> None:
        """It is over."""
        self._result, self._error = result, error
        self._ended.set()
        if self._buffer is not None:
            self._buffer.close()

    async def next_event(self) -> BaseEvent:
        """The next event for a reader. Raises ``StopAsyncIteration`` at the end, once the run's error instead."""
        if self._buffer is None:
            self._buffer = EventBuffer(_LIMIT, merge_deltas, lambda: None)
        self.begin()
        if self.ended:
            self._buffer.close()
        try:
            return await self._buffer.pop()
        except StopAsyncIteration:
            if self._error is not None and not self._raised:
                self._raised = True
                raise self._error from None
            raise


class RunEvents:
    """A reader of a run's events. Dropped before their end, it aborts the run."""

    __slots__ = ("_loop", "_run")

    def __init__(self, run: AgentRun) -> None:
        self._run = run
        self._loop: asyncio.AbstractEventLoop | None = None

    def __aiter__(self) -> "RunEvents":
        return self

    async def __anext__(self) -> BaseEvent:
        self._loop = asyncio.get_running_loop()
        return await self._run.next_event()

    async def aclose(self) -> None:
        """Abort the run if it goes on, and wait for its end."""
        await self._run.aclose()

    def __del__(self) -> None:
        run, loop = self._run, self._loop
        if loop is not None and not run.ended and not loop.is_closed():
            # Garbage is collected anywhere; a run is stopped in its own event loop.
            loop.call_soon_threadsafe(run.abort, "its events are not read any more")
