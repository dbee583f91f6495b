"""Questions that wait for a person: permission requests and asks.

Each has an id from one sequence, is announced by an event, and is settled exactly once: by the first answer, or
with a no when nobody is left to answer, the turn is aborted, or time is up. The pending entry exists before
the event is emitted, so a listener may answer while it is being told.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from agentframework._base.abort import AbortSignal
from agentframework.events import AskRequest, BaseEvent, PermissionRequest, PromptResolved, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.events.tool import AnswerScope
from agentframework.permissions.answers import Answered, PermissionAnswer, read_answer
from agentframework.tools import AskUnavailableError

BACKSTOP_S = 1800.0


@dataclass(frozen=True, slots=True)
class PermissionQuestion:
    """What a person is told about a call; ``scopes`` are those a yes may have."""

    tool_name: str
    tool_args: Mapping[str, Any]
    tool_use_id: str
    reason: str
    suggestions: tuple[str, ...] = ()
    scopes: tuple[AnswerScope, ...] = ("once", "session", "project")


@dataclass(slots=True)
class _Pending:
    event_type: str
    future: asyncio.Future[Any]


class PromptBroker:
    """The open questions of one session. Unanswered ones are denied after ``backstop_s`` seconds."""

    __slots__ = ("_backstop_s", "_numbers", "_pending", "_sink")

    def __init__(self, sink: EventSink, *, backstop_s: float = BACKSTOP_S) -> None:
        self._sink = sink
        self._backstop_s = backstop_s
        self._numbers = count(1)
        self._pending: dict[str, _Pending] = {}

    @property
    def pending(self) -> tuple[str, ...]:
        """Ids that wait for an answer, oldest first."""
        return tuple(self._pending)

    @property
    def someone_listens(self) -> bool:
        """True if a permission request would reach anybody."""
        return self._sink.has_listeners(PermissionRequest.type)

    async def request_permission(
        self, question: PermissionQuestion, driver_id: str | None, abort: AbortSignal
    ) -> Answered:
        """The answer and its giver. Denies at once, saying why, if nobody listens or ``abort`` is set."""
        if abort.aborted:
            return unanswered("the turn was aborted")
        if not self.someone_listens:
            return unanswered(f"nobody listens for {PermissionRequest.type}, so nobody can allow it")
        prompt_id = f"p{next(self._numbers)}"
        fields = (
            prompt_id,
            question.tool_name,
            question.tool_args,
            question.tool_use_id,
            question.reason,
            question.suggestions,
            driver_id,
            question.scopes,
        )
        settled = await self._wait(prompt_id, PermissionRequest, fields, abort)
        return Answered(settled, "person") if isinstance(settled, PermissionAnswer) else unanswered(settled.reason)

    async def ask(self, questions: Sequence[Mapping[str, Any]], driver_id: str | None, abort: AbortSignal) -> Any:
        """The response given to `resolve_ask`, or None if the questions were cancelled.

        Raises `AskUnavailableError` if nobody listens.
        """
        if not self._sink.has_listeners(AskRequest.type):
            raise AskUnavailableError(f"nobody listens for {AskRequest.type}, so nobody can answer")
        if abort.aborted:
            return None
        prompt_id = f"a{next(self._numbers)}"
        settled = await self._wait(prompt_id, AskRequest, (prompt_id, tuple(questions), driver_id), abort)
        return None if isinstance(settled, _Unanswered) else settled

    def resolve_permission(self, prompt_id: str, answer: object, driver_id: str | None = None) -> None:
        """Settle a permission request. Unknown, settled and other ids are ignored; a bad answer denies."""
        if not self._is_pending(prompt_id, PermissionRequest.type):
            return
        read, problem = read_answer(answer)
        self._settle(prompt_id, read, driver_id)
        if problem is not None:
            message = f"permission request {prompt_id} was denied: {problem}"
            self._sink.emit(WarningEvent, message, PermissionRequest.type)

    def resolve_ask(self, prompt_id: str, response: Any, driver_id: str | None = None) -> None:
        """Settle questions. Unknown, settled and other ids are ignored."""
        if self._is_pending(prompt_id, AskRequest.type):
            self._settle(prompt_id, response, driver_id)

    def listener_failed(self, prompt_id: str) -> None:
        """Settle a question whose listener raised, so that it does not wait for an answer that never comes."""
        self._give_up(prompt_id, "the listener that was asked failed")

    def listeners_changed(self) -> None:
        """Settle what nobody listens for any more."""
        for prompt_id, pending in list(self._pending.items()):
            if not self._sink.has_listeners(pending.event_type):
                self._give_up(prompt_id, "nobody listens any more")

    def settle_all(self, reason: str = "the session ended") -> None:
        """Settle everything: permissions are denied, questions cancelled."""
        for prompt_id in self.pending:
            self._give_up(prompt_id, reason)

    def _is_pending(self, prompt_id: object, event_type: str) -> bool:
        pending = self._pending.get(prompt_id) if isinstance(prompt_id, str) else None
        return pending is not None and pending.event_type == event_type

    def _give_up(self, prompt_id: str, reason: str) -> None:
        if prompt_id in self._pending:
            self._settle(prompt_id, _Unanswered(reason), None)

    def _settle(self, prompt_id: str, outcome: Any, driver_id: str | None) -> None:
        pending = self._pending.pop(prompt_id)
        if not pending.future.done():
            pending.future.set_result(outcome)
        self._sink.emit(PromptResolved, prompt_id, driver_id)

    async def _wait(
        self, prompt_id: str, event_class: type[BaseEvent], fields: tuple[Any, ...], abort: AbortSignal
    ) -> Any:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        self._pending[prompt_id] = _Pending(event_class.type, future)
        forget = abort.on_abort(lambda: self._give_up(prompt_id, "the turn was aborted"))
        timer = loop.call_later(
            self._backstop_s, self._give_up, prompt_id, f"not answered within {self._backstop_s:g} seconds"
        )
        try:
            self._sink.emit(event_class, *fields)
            return await future
        finally:
            timer.cancel()
            forget()
            self._give_up(prompt_id, "the question was withdrawn")


@dataclass(frozen=True, slots=True)
class _Unanswered:
    reason: str


def unanswered(reason: str) -> Answered:
    """The no that stands when nobody has answered."""
    return Answered(PermissionAnswer(False, message=reason), "nobody")
