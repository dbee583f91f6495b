"""`ContextManager`: a conversation kept within bounds, by leaving the oldest out or by having it summarised."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agentframework._base.abort import AbortedError, AbortSignal
from agentframework._base.bounded import cut_middle
from agentframework.context.compact import summary_message
from agentframework.context.estimate import estimate_message_bytes
from agentframework.context.host_summary import host_summary
from agentframework.context.options import ContextOptions
from agentframework.context.rounds import WHOLE, Cut
from agentframework.context.truncate import Bounds, cut_to_fit
from agentframework.errors import ConfigurationError
from agentframework.messages import ContextState, Message

DEFAULT_MAX_TOKENS = 32_000
DEFAULT_MAX_MESSAGES = 100


@dataclass(frozen=True, slots=True)
class Fitted:
    """What is to be sent, and its size before and after.

    ``cut`` says what was left out of the messages that were given, ``summary`` stands for it. ``problem``: why there
    is none although one was wanted.
    """

    messages: tuple[Message, ...]
    before: ContextState
    after: ContextState
    cut: Cut = WHOLE
    summary: str | None = None
    problem: str | None = None

    @property
    def compacted(self) -> bool:
        """Whether anything was left out."""
        return self.cut != WHOLE


class ContextManager:
    """Keeps what a model is sent within bounds: 32,000 estimated tokens and 100 messages unless told otherwise.

    Takes `ContextOptions`, or their fields by name. Works on messages only; the system prompt is no part of them.
    Raises `ConfigurationError`.
    """

    def __init__(self, options: ContextOptions | None = None, **choices: Any) -> None:
        if options is not None and choices:
            raise ConfigurationError("give ContextOptions or their fields, not both", details={"field": "context"})
        try:
            self.options = options or ContextOptions(**choices)
        except TypeError as error:
            raise ConfigurationError(f"context: {error}", details={"field": "context"}) from None
        self.bounds = Bounds(
            self.options.max_tokens or DEFAULT_MAX_TOKENS,
            self.options.max_messages or DEFAULT_MAX_MESSAGES,
            self.options.max_bytes,
        )

    async def fit(self, messages: Sequence[Message], *, abort: AbortSignal | None = None) -> Fitted:
        """What of ``messages`` to send now. Calls and their results are never parted. Raises `AbortedError`."""
        count, size = len(messages), sum(map(estimate_message_bytes, messages))
        before = self.bounds.state(count, size)
        cut = cut_to_fit(messages, self.bounds, self.options.keep_recent_turns)
        if cut == WHOLE:
            return Fitted(tuple(messages), before, before)
        summary, problem = await self._summary(cut.left_out(messages), abort or AbortSignal())
        return self._result(messages, before, cut, summary, problem)

    def resumed(self, messages: Sequence[Message], cut: Cut, summary: str) -> tuple[Message, ...]:
        """What an earlier `fit` had come to, from all messages and what is known of it."""
        return (summary_message(summary), *cut.kept(messages))

    def _result(
        self, messages: Sequence[Message], before: ContextState, cut: Cut, summary: str | None, problem: str | None
    ) -> Fitted:
        kept = cut.kept(messages) if summary is None else self.resumed(messages, cut, summary)
        after = self.bounds.state(len(kept), sum(map(estimate_message_bytes, kept)))
        return Fitted(kept, before, after, cut, summary, problem)

    async def _summary(self, messages: Sequence[Message], abort: AbortSignal) -> tuple[str | None, str | None]:
        """The host's summary, else why there is none."""
        summarize = self.options.summarize
        if self.options.strategy != "summarize" or summarize is None:
            return None, None

        try:
            text = await host_summary(summarize, messages, abort)
            abort.check()
        except AbortedError:
            raise
        except Exception as error:
            return None, f"the summary failed with {type(error).__name__}: {error}"
        return cut_middle(text, max(80, self.bounds.most_bytes // 16)), None
