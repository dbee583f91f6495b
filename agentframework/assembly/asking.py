"""One question to a provider beside the conversation: what hooks of kind ``prompt`` and the mode ``auto`` need.

Nothing of it is shown or kept, so only the whole reply counts.
"""

from typing import Any

from agentframework.errors import StreamInterruptedError
from agentframework.messages import AssistantMessage
from agentframework.providers.protocol import ModelReply, ModelRequest, Provider


async def whole_answer(provider: Provider, request: ModelRequest) -> str:
    """The text of the reply. Raises as `whole_reply` does."""
    return (await whole_reply(provider, request)).text


async def whole_reply(provider: Provider, request: ModelRequest) -> AssistantMessage:
    """The reply. Raises the provider's errors, `StreamInterruptedError` if it ends without one."""
    chunks: Any = provider.stream(request)
    try:
        async for chunk in chunks:
            if isinstance(chunk, ModelReply):
                return chunk.message
    finally:
        # Generators have one, other async iterators need not.
        if (close := getattr(chunks, "aclose", None)) is not None:
            await close()
    raise StreamInterruptedError(f"{provider.name} ended its answer without a reply")
