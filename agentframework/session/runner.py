"""Runs a session's turns, one at a time.

The claim on the session is taken and given up synchronously: there is no await between "idle?" and "mine", and
the release of one turn and the start of the next happen in one tick. Every accepted prompt's handle is settled
exactly once, on every way out.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from functools import partial
from typing import Any, TypeVar

from agentframework._base.abort import AbortedError, AbortSignal
from agentframework._base.ids import short_id
from agentframework._base.owner import TaskOwner
from agentframework.assembly import Parts
from agentframework.errors import (
    ErrorInfo,
    InvalidRequestError,
    PromptBlockedError,
    SessionBusyError,
    SessionClosedError,
    describe_error,
)
from agentframework.events import (
    Complete,
    ContextUpdate,
    ErrorEvent,
    Interrupted,
    Thinking,
    TurnStarted,
    UserMessageEvent,
)
from agentframework.events.sink import EventSink
from agentframework.loop import Conversation, ConversationHooks, Turn
from agentframework.messages import ExecutionResult, Message, TextPart, UserMessage
from agentframework.session.persistence import TurnJournal
from agentframework.session.queue import Prompt, PromptQueue
from agentframework.session.referring import FileReferences
from agentframework.session.steering import Steering
from agentframework.session.timeline import Timeline
from agentframework.session.turn_handle import TurnHandle

EMPTY_RESPONSE = "(empty response)"
INTERRUPTED_NOTE = "[The user interrupted the previous turn.]"
WITHDRAWN_NOTE = "[The previous turn failed and was left out of this conversation; what it changed stays changed.]"

_inside: ContextVar[Turn | None] = ContextVar("agentframework_turn", default=None)

Settle = Callable[[TurnHandle], None]
T = TypeVar("T")


class TurnRunner:
    """Queue, claim and course of the turns of one session."""

    __slots__ = (
        "_aside",
        "_aside_ended",
        "_conversation",
        "_ensure_started",
        "_hooks",
        "_journal",
        "_loop",
        "_note",
        "_owner",
        "_parts",
        "_prompt",
        "_queue",
        "_references",
        "_sink",
        "_steering",
        "_timeline",
        "_turn",
        "closing",
    )

    def __init__(
        self,
        parts: Parts,
        sink: EventSink,
        timeline: Timeline,
        conversation: Conversation,
        owner: TaskOwner,
        hooks: ConversationHooks,
        ensure_started: Callable[[], Awaitable[None]],
        journal: TurnJournal,
    ) -> None:
        self._parts = parts
        self._sink = sink
        self._timeline = timeline
        self._conversation = conversation
        self._owner = owner
        self._hooks = hooks
        self._ensure_started = ensure_started
        self._journal = journal
        self._queue = PromptQueue()
        self._prompt: Prompt | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._turn: Turn | None = None
        self._note: str | None = None
        self._aside: AbortSignal | None = None
        self._aside_ended: asyncio.Event | None = None
        self._references = FileReferences(parts, sink, timeline)
        self._steering = Steering(sink, self._admit, self._say)
        self.closing = False

    # --- what others may know ---------------------------------------------------------------------------

    @property
    def turn(self) -> Turn | None:
        """The running turn."""
        return self._turn

    @property
    def idle(self) -> bool:
        """True if nothing holds the session."""
        return self._prompt is None and self._aside is None

    @property
    def queue(self) -> PromptQueue:
        """The waiting prompts."""
        return self._queue

    def new_handle(self) -> TurnHandle:
        """A handle for a prompt about to be submitted."""
        return TurnHandle(short_id("turn"), self._would_deadlock)

    def _would_deadlock(self, _handle: TurnHandle) -> bool:
        return self.is_inside()

    def is_inside(self) -> bool:
        """True in code that the running turn itself called and waits for, false in what outlived an earlier one."""
        return self._turn is not None and _inside.get() is self._turn

    # --- submission and control -------------------------------------------------------------------------

    def submit(self, prompt: Prompt) -> None:
        """Start ``prompt`` now, or queue it behind the running turn.

        Raises `SessionBusyError` if that runs in another event loop, which could not tell this one of its end.
        """
        if self._prompt is None and self._aside is None:
            self._start(prompt)
            if prompt.steer:
                self._steering.acknowledge(prompt, "queued")
        elif self._loop is not asyncio.get_running_loop():
            raise SessionBusyError("a turn runs in another event loop; use a session from one loop at a time")
        elif prompt.steer:
            self._steering.offer(prompt)
        elif not self._queue.offer(prompt):
            self._sink.emit(
                UserMessageEvent, f"The queue is full; the prompt of {prompt.driver_id} was dropped."
            )

    def cancel_queue(self) -> None:
        """Reject every waiting prompt, those for the running turn too; the turn goes on."""
        self._steering.clear()
        others = sorted({prompt.driver_id for prompt in self._queue.clear()} - {"owner"})
        if others:
            self._sink.emit(UserMessageEvent, f"The waiting prompts of {', '.join(others)} were cancelled.")

    def abort(self, reason: str) -> None:
        """Clear the queue and stop the running turn; its open prompts are denied."""
        self.cancel_queue()
        for running in (self._turn.abort if self._turn else None, self._aside):
            if running is not None:
                running.abort(reason)
        self._parts.prompts.settle_all()

    async def wait_idle(self) -> None:
        """Return when no turn runs."""
        while not self.idle:
            if self._prompt is not None:
                await self._prompt.handle.wait_settled()
            elif self._aside_ended is not None:
                await self._aside_ended.wait()
            await asyncio.sleep(0)

    async def aside(self, work: Callable[[AbortSignal], Awaitable[T]]) -> T:
        """Do ``work`` while no turn runs; prompts wait for its end, an abort is passed on to it.

        Raises `SessionBusyError` while a turn or other such work runs, and what ``work`` raises.
        """
        if not self.idle:
            raise SessionBusyError("the session is at work; wait for its end or abort it")
        self._aside, self._loop = AbortSignal(), asyncio.get_running_loop()
        self._aside_ended = ended = asyncio.Event()
        try:
            return await work(self._aside)
        finally:
            self._aside = None
            self._aside_ended = None
            ended.set()
            self._start_next()

    # --- the course of a turn ---------------------------------------------------------------------------

    def _start(self, prompt: Prompt) -> None:
        turn_id, asked = prompt.handle.turn_id, prompt.message.text
        turn = Turn(turn_id, short_id("run"), prompt.driver_id, AbortSignal(), self._record, asked, prompt.settings)
        turn.prompt_id = prompt.message.id
        turn.at_boundary = partial(self._steering.join, turn)
        self._prompt, self._turn, self._loop = prompt, turn, asyncio.get_running_loop()
        self._sink.turn_id = turn_id
        self._owner.start(self._run(prompt, turn), f"turn {turn_id}")

    def _record(self, message: Message) -> None:
        self._conversation.append(message)
        self._timeline.message(message)

    async def _run(self, prompt: Prompt, turn: Turn) -> None:
        _inside.set(turn)
        settle: Settle = _rejection(SessionClosedError("the turn was stopped"))
        try:
            settle = await self._course(prompt, turn)
        except BaseException as error:
            settle = _rejection(error)
            # The event loop is ending, or worse: threads are told to stop, and nothing is begun any more.
            turn.abort.abort("the turn was stopped")
            self.cancel_queue()
            raise
        finally:
            self._release(prompt, settle)

    async def _course(self, prompt: Prompt, turn: Turn) -> Settle:
        try:
            await self._ensure_started()
            self._journal.turn_started(turn.turn_id)
            await self._open(prompt, turn)
            await self._parts.servers.ready(turn.abort)
            outcome = await self._parts.loop(self._conversation, turn)
        except AbortedError:
            result = self._interrupted(turn)
            await self._journal.turn_ended("interrupted")
            return self._tell_of_interruption(turn, result)
        except asyncio.CancelledError:
            # Cancelled by the owner at shutdown: the turn still ends in order, and the task as cancelled.
            self._settle(prompt, self._tell_of_interruption(turn, self._interrupted(turn)))
            raise
        except (KeyboardInterrupt, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # a provider may panic, too
            return await self._failed(prompt, turn, error)
        response = outcome.response if outcome.response.strip() else EMPTY_RESPONSE
        result = self._result(turn, response, outcome.stop_reason, value=outcome.structured_output)
        await self._journal.turn_ended("completed")
        self._sink.emit(Complete, result)
        self._sink.emit(ContextUpdate, result.context_state)
        return _resolution(result)

    async def _open(self, prompt: Prompt, turn: Turn) -> None:
        self._parts.files.begin_turn()
        self._sink.emit(TurnStarted, prompt.driver_id, prompt.source)
        self._sink.emit(UserMessageEvent, prompt.display)
        self._sink.emit(Thinking, True)
        self._timeline.user(prompt.message, prompt.display)
        message = await self._admit(prompt, turn.abort)
        self._conversation.append(self._with_note(message))

    async def _admit(self, prompt: Prompt, abort: AbortSignal) -> UserMessage:
        """The prompt as the model gets it. Raises `PromptBlockedError`, `AbortedError`."""
        message = await self._hooks.admit(prompt.message, prompt.raw, abort)
        return await self._references.add_to(message, prompt.message.text, abort)

    def _with_note(self, message: UserMessage) -> UserMessage:
        """The model is told, once, that what it said before was cut short or taken back."""
        note, self._note = self._note, None
        if note is None:
            return message
        return UserMessage((TextPart(note), *message.content), message.id, message.timestamp)

    def _say(self, prompt: Prompt, message: UserMessage) -> None:
        self._timeline.user(prompt.message, prompt.display)
        self._conversation.append(message)

    def _result(
        self, turn: Turn, response: str, stop_reason: str | None, interrupted: bool = False, value: Any = None
    ) -> ExecutionResult:
        state = self._conversation.context_state(self._parts.settings.context_window)
        self._timeline.turn_summary(turn.summaries, turn.usage, state)
        return ExecutionResult(
            response=response,
            usage=turn.usage,
            stop_reason=stop_reason,
            interrupted=interrupted,
            structured_output=value,
            tool_summaries=tuple(turn.summaries),
            context_state=state,
            history=self._timeline.entries,
        )

    def note(self, text: str) -> None:
        """Something that the model is told with the next prompt."""
        self._note = text

    def _interrupted(self, turn: Turn) -> ExecutionResult:
        self._note = INTERRUPTED_NOTE
        result = self._result(turn, "\n\n".join(turn.replies), "interrupted", interrupted=True)
        self._timeline.note("Interrupted by user.")
        return result

    def _tell_of_interruption(self, turn: Turn, result: ExecutionResult) -> Settle:
        self._hooks.failed(ErrorInfo("interrupted", turn.abort.reason or "interrupted"))
        self._sink.emit(Interrupted, result)
        self._sink.emit(ContextUpdate, result.context_state)
        return _resolution(result)

    async def _failed(self, prompt: Prompt, turn: Turn, error: BaseException) -> Settle:
        info = describe_error(error)
        if isinstance(error, InvalidRequestError | PromptBlockedError):
            self._withdraw(prompt)
        state = self._conversation.context_state(self._parts.settings.context_window)
        self._timeline.turn_summary(turn.summaries, turn.usage, state)
        self._timeline.note(info.message, "error")
        await self._journal.turn_ended("failed")
        self._sink.emit(ErrorEvent, info)
        if not isinstance(error, PromptBlockedError):
            self._hooks.failed(info)
        return _rejection(error)

    def _withdraw(self, prompt: Prompt) -> None:
        """The API refused this conversation and would do so again: it goes on from where it was before the prompt."""
        self._timeline.mark_unsent(prompt.message.id)
        if self._conversation.withdraw(prompt.message.id) > 1:
            self._note = WITHDRAWN_NOTE

    def _release(self, prompt: Prompt, settle: Settle) -> None:
        """Settle, give up the claim, and start the next prompt, all in one tick."""
        try:
            self._sink.emit(Thinking, False)
        finally:
            self._settle(prompt, settle)
            self._requeue()
            self._prompt = self._turn = None
            self._sink.turn_id = None
            self._start_next()

    def _start_next(self) -> None:
        following = None if self.closing else self._queue.take()
        if following is not None:
            self._start(following)

    def _settle(self, prompt: Prompt, settle: Settle) -> None:
        """Settle the turn's handle and those of what joined it."""
        for handle in (prompt.handle, *self._steering.take_applied()):
            if not handle.settled:
                settle(handle)

    def _requeue(self) -> None:
        """What came too late for the turn gets a turn of its own, unless no further one is to come."""
        if self.closing:
            self._steering.clear()
        else:
            self._steering.requeue(self._queue)


def _resolution(result: ExecutionResult) -> Settle:
    return lambda handle: handle.resolve(result)


def _rejection(error: BaseException) -> Settle:
    return lambda handle: handle.reject(error)
