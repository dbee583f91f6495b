"""The turn loop: model request, tool round, and again, until the model has answered."""

from agentframework.loop.conversation import Conversation
from agentframework.loop.conversation_hooks import ConversationHooks
from agentframework.loop.loop import TurnLoop
from agentframework.loop.turn import Limits, Turn, TurnOutcome

__all__ = ["Conversation", "ConversationHooks", "Limits", "Turn", "TurnLoop", "TurnOutcome"]
