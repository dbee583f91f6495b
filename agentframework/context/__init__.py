"""How much of the model's window a conversation takes."""

from agentframework.context.estimate import estimate_message_bytes, estimate_message_tokens

__all__ = ["estimate_message_bytes", "estimate_message_tokens"]
