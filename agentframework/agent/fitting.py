"""An agent's conversation kept within the bounds of its context, and what is remembered of a summary."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentframework.context import ContextManager
from agentframework.context.rounds import cut_at
from agentframework.events import Compact, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.loop import Conversation, Turn
from agentframework.messages import Message

KEPT_AS = "context"


class Fitting:
    """The loop's `ContextPort` of one run. ``remembered`` is what a store is to keep for the next one."""

    def __init__(self, manager: ContextManager, sink: EventSink) -> None:
        self._manager = manager
        self._sink = sink
        self.remembered: Mapping[str, Any] | None = None

    def resumed(self, messages: Sequence[Message], remembered: Any) -> Sequence[Message]:
        """What an earlier run had shortened ``messages`` to."""
        if not isinstance(remembered, Mapping):
            return messages
        summary, first = remembered.get("summary"), remembered.get("first")
        cut = cut_at(messages, first) if isinstance(first, str) else None
        if cut is None or not isinstance(summary, str):
            return messages
        self.remembered = remembered
        return self._manager.resumed(messages, cut, summary)

    async def before_request(self, conversation: Conversation, turn: Turn) -> bool:
        """Shorten the conversation if it has outgrown the bounds; whether that was done."""
        bounds = self._manager.bounds
        now = conversation.context_state(bounds.tokens)
        if bounds.hold(now.messages, now.bytes):
            return False
        fitted = await self._manager.fit(conversation.messages, abort=turn.abort)
        if fitted.problem is not None:
            self._sink.emit(WarningEvent, f"{fitted.problem}; the oldest messages were left out", "context")
        if not fitted.compacted:
            return False
        if fitted.summary is not None:
            first = conversation.messages[fitted.cut.start].id
            self.remembered = {"summary": fitted.summary, "first": first}
        conversation.replace(fitted.messages)
        self._sink.emit(Compact, "auto", fitted.before, fitted.after)
        return True

    async def after_overflow(self, conversation: Conversation, turn: Turn) -> bool:
        """The bounds are the host's: a model that cannot hold so much is its to choose, or to say less."""
        return False
