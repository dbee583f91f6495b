"""Constrained tool use over any Chat Completions server that decodes under a JSON schema.

For models without native tool calling: the reply is one JSON object, a tool call or an answer
(`agentframework.providers.constrained`). The stream itself is read as any other chat stream.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentframework.messages import AssistantMessage
from agentframework.providers.constrained import ActionDecoder, ConstrainedPrompt, chat_body
from agentframework.providers.failures import Source
from agentframework.providers.openai_chat import ORIGIN
from agentframework.providers.openai_chat_events import ChatReply
from agentframework.providers.protocol import Chunk, ModelReply, ModelRequest, TextChunk, ThinkingChunk
from agentframework.providers.wire_json import encode


def encode_constrained(request: ModelRequest, prompt: ConstrainedPrompt) -> bytes:
    """The request's body."""
    return encode(chat_body(request, prompt))


class ConstrainedReply:
    """A chat reply whose text is an action; the action's answer is what is shown."""

    __slots__ = ("_action", "_chat", "ended")

    def __init__(
        self, source: Source, request_bytes: int, taken: Callable[[], set[str]], prompt: ConstrainedPrompt
    ) -> None:
        self.ended = False
        self._chat = ChatReply(source, request_bytes, taken)
        self._action = ActionDecoder(prompt.reply, model=source.model, origin=ORIGIN)

    @property
    def finished(self) -> bool:
        """Whether the server said that the reply is complete."""
        return self._chat.finished

    def feed(self, event: Mapping[str, Any]) -> Sequence[Chunk]:
        """Our chunks of one of theirs. Raises a `ProviderError`."""
        chunks: list[Chunk] = []
        for chunk in self._chat.feed(event):
            if isinstance(chunk, TextChunk):
                chunks += self._action.feed(chunk.text)
            elif isinstance(chunk, ThinkingChunk):
                chunks.append(chunk)
        return chunks

    def end_marker(self) -> None:
        """Nothing follows."""
        self._chat.end_marker()
        self.ended = True

    def message(self) -> AssistantMessage:
        """The whole reply. Raises a `ProviderError` if it is not complete or is no action."""
        spoken = self._chat.message()
        last = self._action.finish(cut=spoken.stop_reason == "max_tokens", usage=spoken.usage)[-1]
        assert isinstance(last, ModelReply)
        return last.message
