"""How much of the model's window a conversation takes, and how it is kept within bounds.

Above: messages. Below: the turn loop, which sends what fits.
"""

from agentframework.context.estimate import estimate_message_bytes, estimate_message_tokens
from agentframework.context.manager import ContextManager, Fitted
from agentframework.context.options import ContextOptions

__all__ = ["ContextManager", "ContextOptions", "Fitted", "estimate_message_bytes", "estimate_message_tokens"]
