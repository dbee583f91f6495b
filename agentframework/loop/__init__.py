"""The turn loop: model request, tool round, and again, until the model has answered."""

from agentframework.loop.conversation import Conversation
from agentframework.loop.conversation_hooks import ConversationHooks
from agentframework.loop.limits import Limits
from agentframework.loop.loop import TurnLoop
from agentframework.loop.loop_guard import LoopGuard
from agentframework.loop.turn import Turn, TurnOutcome, TurnSettings

__all__ = [
    "Conversation",
    "ConversationHooks",
    "Limits",
    "LoopGuard",
    "Turn",
    "TurnLoop",
    "TurnOutcome",
    "TurnSettings",
]
