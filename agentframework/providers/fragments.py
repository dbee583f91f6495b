"""A history as wire fragments: each message encoded once an API, whatever the length of the conversation.

The bytes of a message depend on the message alone. Two exceptions have a second entry beside the first: thinking
that only the model which wrote it may see again, and prompts that end in ``/no_think``.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agentframework.messages import AssistantMessage, ToolMessage, UserMessage
from agentframework.providers.acceptable import without_thinking
from agentframework.providers.pairing import paired
from agentframework.providers.protocol import ModelRequest


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

    def fragments(self, request: ModelRequest) -> list[bytes]:
        """The fragments of the request's conversation."""
        origin, model, found = self.origin, request.model, list[bytes]()
        user_key, user = (f"{origin}/no-think", self._direct_user) if request.no_think else (origin, self.user)
        for message in paired(request.messages):
            if isinstance(message, UserMessage):
                found.append(message.wire(user_key, user))
            elif isinstance(message, ToolMessage):
                found.append(message.wire(origin, self.tool_results))
            elif message.model == model or message.origin != origin:
                found.append(message.wire(origin, self._assistant))
            else:
                found.append(message.wire(f"{origin}/other-model", self._assistant_of_other_model))
        return found

    def _direct_user(self, message: UserMessage) -> bytes:
        return self.user(without_thinking(message))

    def _assistant(self, message: AssistantMessage) -> bytes:
        own = message.origin == self.origin
        return self.assistant(message, own, own)

    def _assistant_of_other_model(self, message: AssistantMessage) -> bytes:
        return self.assistant(message, True, False)
