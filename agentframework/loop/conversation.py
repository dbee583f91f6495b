"""The transcript that goes to the model, kept valid at every moment.

Pairing holds by construction: a reply with tool calls opens a debt, and the only thing that may follow is the
`ToolMessage` that pays it. The turn loop pays it with error results whatever happened in between.
Sizes are kept as running sums, so that asking how full the window is costs nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from agentframework.context import estimate_message_bytes
from agentframework.context.estimate import BYTES_PER_TOKEN
from agentframework.messages import (
    AssistantMessage,
    ContextState,
    Message,
    ToolCall,
    ToolMessage,
)


class Recorder(Protocol):
    """Is told of every change of a conversation, after it."""

    def appended(self, message: Message) -> None:
        """``message`` is the last one now."""
        ...

    def withdrawn(self, message_ids: Sequence[str]) -> None:
        """These messages are gone."""
        ...

    def restarted(self, reason: str, messages: Sequence[Message]) -> None:
        """These messages are all there is."""
        ...


class Conversation:
    """Messages in order. Append-only but for `clear`, `replace` and `withdraw`."""

    __slots__ = ("_bytes", "_messages", "_open", "_recorder", "_reported_bytes", "_reported_tokens")

    def __init__(self, messages: Iterable[Message] = (), recorder: Recorder | None = None) -> None:
        self._messages: list[Message] = []
        self._open: tuple[ToolCall, ...] = ()
        self._bytes = 0
        self._reported_tokens = self._reported_bytes = 0
        self._recorder: Recorder | None = None
        self.load(messages)
        self._recorder = recorder

    def load(self, messages: Iterable[Message]) -> None:
        """Go on from ``messages``, which have been recorded. Raises ``ValueError`` as `append` does."""
        for message in messages:
            self._add(message)

    @property
    def messages(self) -> Sequence[Message]:
        """The live list; read only."""
        return self._messages

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the last reply that have no result yet."""
        return self._open

    def append(self, message: Message) -> None:
        """Add a message. Raises ``ValueError`` if it would break the pairing of calls and results."""
        self._add(message)
        if self._recorder is not None:
            self._recorder.appended(message)

    def _add(self, message: Message) -> None:
        if isinstance(message, ToolMessage):
            answered = [part.tool_use_id for part in message.content]
            if not self._open or answered != [call.id for call in self._open]:
                raise ValueError(f"results {answered} do not answer the open calls {[call.id for call in self._open]}")
            self._open = ()
        elif self._open:
            raise ValueError(f"a {message.role} message while calls wait for their results")
        self._messages.append(message)
        self._bytes += estimate_message_bytes(message)
        if isinstance(message, AssistantMessage):
            self._open = message.tool_calls
            if message.usage is not None and not message.usage.estimated:
                self._reported_tokens, self._reported_bytes = message.usage.total_tokens, self._bytes

    def clear(self) -> None:
        """Forget everything."""
        self._reset()
        if self._recorder is not None:
            self._recorder.restarted("clear", ())

    def _reset(self) -> None:
        self._messages.clear()
        self._open = ()
        self._bytes = 0
        self._reported_tokens = self._reported_bytes = 0

    def replace(self, messages: Sequence[Message], reason: str = "compact") -> None:
        """Go on from ``messages`` alone. What was reported of the window until now says nothing about them.

        Raises ``ValueError`` as `append` does, and leaves everything as it was.
        """
        fresh = [_without_report(message) for message in messages]
        Conversation(fresh)
        self._reset()
        self.load(fresh)
        if self._recorder is not None:
            self._recorder.restarted(reason, fresh)

    def withdraw(self, message_id: str) -> int:
        """Take back the message with this id and all that followed. How many that were; 0 if there is none."""
        found = next((n for n in reversed(range(len(self._messages))) if self._messages[n].id == message_id), None)
        if found is None:
            return 0
        kept, withdrawn = self._messages[:found], self._messages[found:]
        self._reset()
        self.load(kept)
        if self._recorder is not None:
            self._recorder.withdrawn([message.id for message in withdrawn])
        return len(withdrawn)

    def context_state(self, window: int) -> ContextState:
        """How full a window of ``window`` tokens is.

        The provider's count where it covers the last message. Else the larger of two estimates: that of all, and that
        of what came since its last count, on top of it.
        """
        used = self._reported_tokens
        since = self._bytes - self._reported_bytes
        if since or not used:
            used = max(used + -(-since // BYTES_PER_TOKEN), -(-self._bytes // BYTES_PER_TOKEN))
        return ContextState(window, used, len(self._messages), self._bytes)


def _without_report(message: Message) -> Message:
    if isinstance(message, AssistantMessage) and message.usage is not None:
        return replace(message, usage=None)
    return message
