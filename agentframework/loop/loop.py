"""The turn loop, the only one: ask the model, run its calls, until it has answered.

Above it are a provider, a gate and tools; below it the two faces, which differ in what they do with the
events and the outcome, never in how a turn runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentframework._base.abort import AbortedError
from agentframework._base.pacing import pacer
from agentframework.errors import ContextOverflowError
from agentframework.events import IterationStarted, LoopDetected, MaxIterationsReached, ToolCallsDetected, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.hooks.reminder import news_block
from agentframework.loop.conversation import Conversation
from agentframework.loop.hooking import TurnHooks
from agentframework.loop.limits import Limits, WallClock, check_budget, check_price, exceeded
from agentframework.loop.loop_guard import CallCounter, LoopGuard
from agentframework.loop.model_call import ModelCaller
from agentframework.loop.response_format import MAX_REPAIRS, ResponseFormat, never_valid
from agentframework.loop.tool_calls import ToolRounds
from agentframework.loop.turn import Turn, TurnOutcome, TurnSettings
from agentframework.messages import AssistantMessage, ToolCall, user_text
from agentframework.providers.protocol import ModelRequest, Provider


class ModelChoice(Protocol):
    """Who answers, and what is asked. Read anew before each request, so that a change takes effect at the next."""

    provider: Provider

    def request(self, conversation: Conversation, settings: TurnSettings) -> ModelRequest:
        """The next request of a conversation, with what holds for this turn alone."""
        ...


class ContextPort(Protocol):
    """Who keeps a conversation within the model's window."""

    async def before_request(self, conversation: Conversation, turn: Turn) -> bool:
        """Shorten ``conversation`` if it has to be, ahead of the next request; whether that was done.

        Raises `AbortedError`.
        """
        ...

    async def after_overflow(self, conversation: Conversation, turn: Turn) -> bool:
        """Shorten it because the provider found it too long; whether that was done. Raises `AbortedError`."""
        ...


def _no_news() -> Sequence[str]:
    return ()


@dataclass(frozen=True, slots=True)
class TurnLoop:
    """Runs turns on a conversation. ``news`` is asked before each request what the model has to be told."""

    model: ModelChoice
    call_model: ModelCaller
    run_tools: ToolRounds
    sink: EventSink
    limits: Limits
    hooks: TurnHooks
    response_format: ResponseFormat | None = None
    news: Callable[[], Sequence[str]] = _no_news
    guard: LoopGuard | None = None
    context: ContextPort | None = None

    async def __call__(self, conversation: Conversation, turn: Turn) -> TurnOutcome:
        """Run until the model answers without calls.

        Raises `AbortedError` on abort, `LimitExceededError` at a limit, `StructuredOutputError` if no reply
        matches the response format, or the provider's error. In each case the conversation is valid and holds
        what had been said and done.
        """
        limits = turn.settings.limits or self.limits
        if limits.max_wall_s is None:
            return await self._run(conversation, turn, limits)
        with WallClock(limits.max_wall_s, turn.began, turn.abort):
            return await self._run(conversation, turn, limits)

    async def _run(self, conversation: Conversation, turn: Turn, limits: Limits) -> TurnOutcome:
        repairs, counter = 0, self._counter()
        try:
            while True:
                await pacer().breathe()
                if self.context is not None:
                    turn.abort.check()
                    await self.context.before_request(conversation, turn)
                provider, request = self._begin_iteration(conversation, turn, limits)
                reply = await self._ask_model(conversation, provider, request, turn)
                calls = reply.tool_calls
                if calls:
                    stop_reason = await self._tool_round(calls, turn, limits, counter)
                    if stop_reason is not None:
                        turn.abort.check()
                        return TurnOutcome(reply.text, stop_reason)
                elif reply.stop_reason != "pause_turn":
                    value, problem = self._value_of(reply)
                    if problem is not None and repairs == MAX_REPAIRS:
                        raise never_valid(problem)
                    if problem is not None:
                        instruction, repairs = self._correction(problem), repairs + 1
                    else:
                        instruction = await self.hooks.stop(reply, turn)
                    if instruction is None:
                        turn.abort.check()  # until it is said to be complete, a turn can be stopped
                        return TurnOutcome(reply.text, reply.stop_reason, value)
                    turn.record(user_text(instruction))
                    counter = self._counter()
        finally:
            leftover = conversation.open_calls
            if leftover:
                self.run_tools.refuse_all(leftover, "the turn ended before this call was run", turn)

    def _counter(self) -> CallCounter | None:
        return None if self.guard is None else CallCounter(self.guard)

    def _value_of(self, reply: AssistantMessage) -> tuple[Any, str | None]:
        return (None, None) if self.response_format is None else self.response_format.read(reply.text)

    def _correction(self, problem: str) -> str:
        assert self.response_format is not None
        return self.response_format.correction(problem)

    def _begin_iteration(
        self, conversation: Conversation, turn: Turn, limits: Limits
    ) -> tuple[Provider, ModelRequest]:
        """Whom to ask what, if the limits allow it."""
        turn.abort.check()
        limit = limits.max_iterations
        if limit is not None and turn.iteration >= limit:
            self.sink.emit(MaxIterationsReached, turn.iteration)
            raise exceeded("max_iterations", limit, f"the turn used up its {limit} model requests")
        if news := self.news():
            turn.record(user_text(news_block(news)))
        provider, request = self.model.provider, self.model.request(conversation, turn.settings)
        check_price(limits, self.call_model.has_price(request.model))
        check_budget(limits, turn.usage, turn.began)
        turn.iteration += 1
        self.sink.emit(IterationStarted, turn.iteration)
        return provider, request

    async def _ask_model(
        self, conversation: Conversation, provider: Provider, request: ModelRequest, turn: Turn
    ) -> AssistantMessage:
        self.hooks.before_model(provider, request, turn)
        try:
            reply = await self.call_model(provider, request, turn)
        except ContextOverflowError:
            if self.context is None or not await self.context.after_overflow(conversation, turn):
                raise
            request = self.model.request(conversation, turn.settings)
            reply = await self.call_model(provider, request, turn)
        turn.record(reply)
        if reply.text.strip():
            turn.replies.append(reply.text)
        self.hooks.after_model(provider, request, turn, reply)
        return reply

    async def _tool_round(
        self, calls: tuple[ToolCall, ...], turn: Turn, limits: Limits, counter: CallCounter | None
    ) -> str | None:
        """Run ``calls``; the stop reason if the turn is to end after them."""
        self.sink.emit(ToolCallsDetected, calls)
        turn.note_calls(calls)
        limit = limits.max_tool_calls_per_turn
        if limit is not None and len(calls) > limit:
            reason = f"{len(calls)} tool calls in one reply, the limit is {limit}; none was run"
            self.run_tools.refuse_all(calls, reason, turn)
            raise exceeded("max_tool_calls_per_turn", limit, reason)
        outcome = await self.run_tools(calls, turn)
        turn.record(outcome.message)
        if outcome.interrupted:
            raise AbortedError(turn.abort.reason or "aborted")
        for instruction in outcome.redirects:
            turn.record(user_text(instruction))
        if outcome.hook_stop is not None:
            self.sink.emit(WarningEvent, f"a hook has ended the turn: {outcome.hook_stop}", "hooks")
            return "hook"
        if outcome.stop:
            return "stop_after_execution"
        repeated = None if counter is None else counter.count(calls, outcome.message.content)
        if repeated is not None and repeated.final:
            self.sink.emit(LoopDetected, repeated.tool_name, repeated.count)
            return "loop_detected"
        if repeated is not None:
            turn.record(user_text(repeated.nudge))
        if turn.at_boundary is not None:
            await turn.at_boundary()
        return None
