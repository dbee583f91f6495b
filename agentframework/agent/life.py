"""The life of an agent: its start, the runs that go on, and its end."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from agentframework._base.abort import AbortSignal, run_abortable
from agentframework._base.owner import TaskOwner
from agentframework.agent.observe import Observers
from agentframework.agent.run import AgentRun
from agentframework.agent.tools import AgentTools
from agentframework.errors import InvalidInputError, SessionBusyError, SessionClosedError, describe_error
from agentframework.events import BaseEvent, Complete, ErrorEvent, Interrupted, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.messages import RunResult
from agentframework.providers.protocol import Provider

_CLOSING_S = 5.0

Work = Callable[[AgentRun], Coroutine[Any, Any, RunResult]]


@dataclass(frozen=True, slots=True)
class _Running:
    """What is kept of a run while it goes on."""

    run: AgentRun
    sink: EventSink


class AgentLife:
    """Part of `Agent`; it sets ``_tools``."""

    _tools: AgentTools

    def __init__(self, name: str, provider: Provider, observer: Any) -> None:
        self.name = name
        self._provider = provider
        self._owner = TaskOwner(on_fault=self._task_failed)
        self._own = EventSink("", self._heard, lambda _name: False)
        self._observers = Observers(observer, self._owner, self._warn)
        self._running: dict[str, _Running] = {}
        self._beginning: list[BaseEvent] = []
        self._initialized = False
        self._preparing: asyncio.Task[Exception | None] | None = None
        self._closing: asyncio.Task[None] | None = None

    # --- start ------------------------------------------------------------------------------------------

    async def initialize(self) -> Sequence[BaseEvent]:
        """Connect all servers and load all tools, and tell what happened: states of servers, tools that were found.

        A server that fails is a state and keeps no other from connecting. May be called many times.
        Raises what the ``tool_executor`` raises, ``TOOL_NAME_CONFLICT``, `SessionClosedError` after `close`.
        """
        self._check_open()
        await _loaded(self._prepare())
        await self._tools.servers.decided()
        self._initialized = True
        return tuple(self._beginning)

    def _prepare(self) -> "asyncio.Task[Exception | None]":
        if self._preparing is None:
            self._owner.start(self._start_provider(), "provider start")
            self._preparing = self._owner.start(self._load(), "start of the agent")
        return self._preparing

    async def _load(self) -> Exception | None:
        try:
            await self._tools.load(self._owner)
        except Exception as error:
            self._preparing = None  # the next run tries again
            return error
        return None

    async def _start_provider(self) -> None:
        try:
            await self._provider.start()
        except Exception:
            # The first request meets the same fault and reports it as the run's error, once.
            return

    async def _ready(self, run: AgentRun) -> None:
        """Return when tools are there, and servers as far as a run waits for them. Raises `AbortedError`."""
        await run_abortable(_loaded(self._prepare()), run.signal)
        await self._tools.servers.ready(run.signal)

    # --- runs -------------------------------------------------------------------------------------------

    def _begin(self, run: AgentRun, sink: EventSink, abort: AbortSignal | None) -> Callable[[Work], object]:
        """Claim the run's session, all in one tick. Raises if that cannot be."""
        try:
            self._check_open()
            if run.session_id in self._running:
                raise SessionBusyError(
                    f"the session {run.session_id} is running; wait for its run to end, or abort it",
                    details={"session_id": run.session_id},
                )
            if abort is not None and not isinstance(abort, AbortSignal):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise InvalidInputError(f"abort is an AbortSignal, not {abort!r:.100}", details={"field": "abort"})
        except Exception as error:
            self._fail(sink, error)
            raise
        self._running[run.session_id] = _Running(run, sink)
        forget = None if abort is None else abort.on_abort(lambda: run.abort(abort.reason or "aborted"))
        return lambda work: self._owner.start(self._attend(run, sink, work, forget), f"run {run.run_id}")

    async def _attend(self, run: AgentRun, sink: EventSink, work: Work, forget: Callable[[], None] | None) -> None:
        """The run's task. Its session is free before anybody hears that it is over."""
        result: RunResult | None = None
        error: BaseException = SessionClosedError("the agent was closed while the run went on")
        try:
            result = await work(run)
        except Exception as problem:
            error = problem
        finally:
            del self._running[run.session_id]
            if forget is not None:
                forget()
            try:
                if result is None:
                    self._fail(sink, error)
                else:
                    sink.emit(Interrupted if result.interrupted else Complete, result)
            finally:
                run.end(result, None if result is not None else error)

    def _fail(self, sink: EventSink, error: BaseException) -> None:
        if self._observers.on_error is not None:
            self._observers.on_error(error)
        sink.emit(ErrorEvent, describe_error(error))

    # --- events beside the runs -------------------------------------------------------------------------

    def _tell(self, event: type[BaseEvent], *fields: Any) -> None:
        """What happens to servers is told in every run that goes on, else to the observer alone."""
        if not self._initialized or not self._running:
            self._own.emit(event, *fields)
        for one in list(self._running.values()):
            one.sink.emit(event, *fields)

    def _heard(self, event: BaseEvent) -> None:
        if not self._initialized:
            self._beginning.append(event)
        if not self._running and self._observers.on_event is not None:
            self._observers.on_event(event)

    def _warn(self, message: str) -> None:
        self._tell(WarningEvent, message, "agent")

    def _task_failed(self, name: str, error: BaseException) -> None:
        self._warn(f"{name} failed: {type(error).__name__}: {error}")

    # --- end --------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Stop every run, end the connections, let observers hear the rest. May be called many times."""
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(), name="close of the agent")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        runs = [one.run for one in self._running.values()]
        for run in runs:
            run.abort("the agent was closed")
        if runs:
            waits = [asyncio.ensure_future(run.wait_ended()) for run in runs]
            _, pending = await asyncio.wait(waits, timeout=_CLOSING_S)
            for wait in pending:
                wait.cancel()
        try:
            await self._tools.close()
        finally:
            await self._observers.finish()
            await self._owner.close()

    async def __aenter__(self) -> Any:
        self._check_open()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.close()

    def _check_open(self) -> None:
        if self._closing is not None:
            raise SessionClosedError(f"the agent {self.name} is closed; make a new one")


async def _loaded(loading: "asyncio.Task[Exception | None]") -> None:
    await asyncio.wait({loading})
    problem = SessionClosedError("the agent was closed") if loading.cancelled() else loading.result()
    if problem is not None:
        raise problem
