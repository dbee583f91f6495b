"""Keeping a conversation within the model's window: when it is shortened, and to what.

The turn loop asks before each request, so a long turn is looked after as much as a new prompt. Nothing is changed
before all that is needed is there: a summary that fails, or an abort, leaves the conversation as it was.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from agentframework._base.abort import AbortedError, AbortSignal, run_abortable
from agentframework.context import ContextOptions, estimate_message_bytes
from agentframework.context.compact import Plan, clear_old_results, compact_instructions, plan
from agentframework.context.estimate import BYTES_PER_TOKEN
from agentframework.errors import CompactionError
from agentframework.events import Compact, ContextUpdate, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.hooks import HookEngine, HookEvent
from agentframework.loop.conversation import Conversation
from agentframework.loop.summarizing import Answering, Summarizer
from agentframework.loop.turn import Turn
from agentframework.messages import ContextState, Message, ModelPrice, Usage

Trigger = Literal["manual", "auto"]

MAX_ATTEMPTS = 3
# What stays takes at most this share of what is allowed; so the next time is far off.
_KEPT = 0.5
_CLEARED = 0.6
# Less than this share is not worth a summary.
_WORTHWHILE = 0.1


class Compactor:
    """Shortens one conversation. After three attempts without success it waits until there is room again."""

    # Most sessions never need what makes summaries, and are to weigh little.
    __slots__ = ("_abandon", "_attempts", "_hooks", "_model", "_options", "_prices", "_sink", "_summarizer")

    def __init__(
        self,
        options: ContextOptions,
        model: Answering,
        hooks: HookEngine,
        sink: EventSink,
        abandon: Callable[[asyncio.Task[Any]], object],
        prices: Mapping[str, ModelPrice],
    ) -> None:
        self._options = options
        self._model = model
        self._prices = prices
        self._summarizer: Summarizer | None = None
        self._hooks = hooks
        self._sink = sink
        self._abandon = abandon
        self._attempts = 0

    @property
    def spent(self) -> Usage:
        """What all summaries have used."""
        return Usage() if self._summarizer is None else self._summarizer.spent

    @property
    def _summarize(self) -> Summarizer:
        if self._summarizer is None:
            self._summarizer = Summarizer(self._options, self._model, self._sink, self._abandon, self._prices)
        return self._summarizer

    async def before_request(self, conversation: Conversation, turn: Turn) -> bool:
        """Shorten the conversation if it is too long for the next request; whether that was done.

        Raises `AbortedError`.
        """
        if not self._is_over(conversation.context_state(self._model.context_window)):
            self._attempts = 0
            return False
        return await self._by_itself(conversation, turn, overflow=False)

    async def after_overflow(self, conversation: Conversation, turn: Turn) -> bool:
        """Shorten it because the provider found it too long; whether that was done. Raises `AbortedError`."""
        return self._options.auto_compact is not False and await self._by_itself(conversation, turn, overflow=True)

    async def on_request(self, conversation: Conversation, abort: AbortSignal, instructions: str | None) -> bool:
        """Shorten it because somebody wants that; whether there was anything to leave out.

        Raises `CompactionError`, `AbortedError` and the provider's errors; then nothing has changed.
        """
        shorten = _Shortening("manual", conversation, self._state(conversation), abort)
        try:
            done = await self._shorten(shorten, (instructions or "",))
        finally:
            self._summarize.take_usage()
        self._attempts = 0 if done else self._attempts
        return done

    # --- when --------------------------------------------------------------------------------------------

    def _state(self, conversation: Conversation) -> ContextState:
        return conversation.context_state(self._model.context_window)

    def _is_over(self, state: ContextState) -> bool:
        options = self._options
        return options.auto_compact is not False and (
            state.used_tokens >= options.auto_compact * state.max_tokens
            or (options.max_messages is not None and state.messages > options.max_messages)
            or (options.max_bytes is not None and state.bytes > options.max_bytes)
        )

    async def _by_itself(self, conversation: Conversation, turn: Turn, *, overflow: bool) -> bool:
        if self._attempts >= MAX_ATTEMPTS:
            return False
        self._attempts += 1
        shorten = _Shortening("auto", conversation, self._state(conversation), turn.abort, turn.prompt_id, overflow)
        try:
            return await self._shorten(shorten, ())
        except AbortedError:
            raise
        except Exception as error:  # the turn goes on: its own request may still be answered
            self._warn(f"the conversation could not be shortened: {error}")
            return False
        finally:
            turn.usage = turn.usage + self._summarize.take_usage()

    def _warn(self, text: str) -> None:
        if self._attempts == MAX_ATTEMPTS:
            text += "; it is not tried again until there is room"
        self._sink.emit(WarningEvent, text, "context")

    # --- how ---------------------------------------------------------------------------------------------

    async def _shorten(self, shorten: "_Shortening", asked: Sequence[str]) -> bool:
        made = self._plan(shorten)
        if made is None:
            return False
        focus = await self._before(shorten, asked)
        cleared = self._cleared(shorten)
        if cleared is not None:
            self._apply(shorten, cleared, "")
            return True
        summary = await self._summary(shorten, made, focus)
        self._apply(shorten, made.shortened(summary), summary or "")
        return True

    def _plan(self, shorten: "_Shortening") -> Plan | None:
        manual = shorten.trigger == "manual"
        made = plan(
            shorten.messages,
            keep_turns=self._options.keep_recent_turns,
            fits=lambda count, size: self._fits(shorten, count, size, _KEPT),
            pinned=shorten.pinned,
            all_of_it=manual,
        )
        return made if made is not None and (manual or made.share >= _WORTHWHILE) else None

    def _fits(self, shorten: "_Shortening", count: int, size: int, share: float) -> bool:
        """Whether so many messages of ``size`` bytes take at most ``share`` of what is allowed."""
        options, state = self._options, shorten.before
        # What the provider has counted tells how many bytes make a token, within reason.
        per_token = min(BYTES_PER_TOKEN, max(BYTES_PER_TOKEN / 2, state.bytes / max(1, state.used_tokens)))
        allowed = (options.auto_compact or 1.0) * state.max_tokens * per_token
        if shorten.overflow:
            allowed = min(allowed, state.bytes)
        if options.max_bytes is not None:
            allowed = min(allowed, options.max_bytes)
        return size <= share * allowed and (options.max_messages is None or count <= share * options.max_messages)

    def _cleared(self, shorten: "_Shortening") -> tuple[Message, ...] | None:
        """The conversation without old results, if that alone makes enough room."""
        cleared = clear_old_results(shorten.messages) if shorten.trigger == "auto" else None
        if cleared is None:
            return None
        size = sum(map(estimate_message_bytes, cleared))
        gained = size <= _CLEARED * shorten.before.bytes
        return cleared if gained and self._fits(shorten, len(cleared), size, _CLEARED) else None

    async def _before(self, shorten: "_Shortening", asked: Sequence[str]) -> list[str]:
        """What the summary is to mind: as asked, as configured, and as hooks say. Raises `CompactionError`."""
        fields = {"trigger": shorten.trigger, "custom_instructions": "\n".join(asked)}
        work = self._hooks.run(HookEvent.PRE_COMPACT, fields)
        outcome = await run_abortable(work, shorten.abort, abandon=self._abandon)
        if outcome.blocked:
            raise CompactionError(f"a hook objects: {outcome.reason}", details={"reason": outcome.reason})
        standing = (self._options.instructions or "", compact_instructions(self._model.system))
        return [*asked, *standing, *outcome.context]

    async def _summary(self, shorten: "_Shortening", made: Plan, focus: Sequence[str]) -> str | None:
        try:
            return await self._summarize(made.left_out, focus, shorten.abort)
        except AbortedError:
            raise
        except Exception as error:
            if shorten.trigger == "manual" or not self._summarize.is_of_host:
                raise
            self._warn(f"no summary of what was left out of the conversation: {error}")
            return None

    def _apply(self, shorten: "_Shortening", messages: Sequence[Message], summary: str) -> None:
        shorten.abort.check()
        shorten.conversation.replace(messages)
        after = self._state(shorten.conversation)
        self._hooks.fire(HookEvent.POST_COMPACT, {"trigger": shorten.trigger, "compact_summary": summary})
        self._sink.emit(Compact, shorten.trigger, shorten.before, after)
        self._sink.emit(ContextUpdate, after)


class _Shortening:
    """One attempt: why, what of, and the state before it."""

    __slots__ = ("abort", "before", "conversation", "messages", "overflow", "pinned", "trigger")

    def __init__(
        self,
        trigger: Trigger,
        conversation: Conversation,
        before: ContextState,
        abort: AbortSignal,
        pinned: str | None = None,
        overflow: bool = False,
    ) -> None:
        self.trigger: Trigger = trigger
        self.conversation = conversation
        self.messages = tuple(conversation.messages)
        self.before = before
        self.abort = abort
        self.pinned = pinned
        self.overflow = overflow
