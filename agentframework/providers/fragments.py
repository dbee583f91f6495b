"""A history as wire fragments: each message encoded once an API, whatever the length of the conversation.

The bytes of a message depend on the message alone; the one exception, thinking that only the model which wrote it
may see again, has a second entry beside the first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agentframework.messages import AssistantMessage, Message, ToolMessage, UserMessage
from agentframework.providers.pairing import paired


@dataclass(frozen=True, slots=True)
class MessageWire:
    """How one API writes messages.

    ``assistant(message, own, own_model)``: ``own`` says that this API gave the reply, ``own_model`` that the model
    which is asked now wrote it too. An encoder returns nothing for a message that must be left out.
    """

    origin: str
    user: Callable[[UserMessage], bytes]
    tool_results: Callable[[ToolMessage], bytes]
    assistant: Callable[[AssistantMessage, bool, bool], bytes]

    def fragments(self, messages: Sequence[Message], model: str) -> list[bytes]:
        """The fragments of a conversation that is sent to ``model``."""
        origin, found = self.origin, list[bytes]()
        for message in paired(messages):
            if isinstance(message, UserMessage):
                found.append(message.wire(origin, self.user))
            elif isinstance(message, ToolMessage):
                found.append(message.wire(origin, self.tool_results))
            elif message.model == model or message.origin != origin:
                found.append(message.wire(origin, self._assistant))
            else:
                found.append(message.wire(f"{origin}/other-model", self._assistant_of_other_model))
        return found

    def _assistant(self, message: AssistantMessage) -> bytes:
        own = message.origin == self.origin
        return self.assistant(message, own, own)

    def _assistant_of_other_model(self, message: AssistantMessage) -> bytes:
        return self.assistant(message, True, False)
