"""Tool use for models without native tool calling: the next action is decoded under a JSON schema.

The schema has one variant per tool, ``{"tool": "Read", "arguments": {…}}``, and one for the reply,
``{"answer": "…"}``. `build_prompt` turns a `ModelRequest` into chat messages and that schema, `chat_body` into
the body of a ``/chat/completions`` request for any server with ``response_format: json_schema``, and
`ActionDecoder` turns the JSON as it streams back into the chunks of the provider protocol. Nothing here does I/O.
"""

from agentframework.providers.constrained.decode import ActionDecoder
from agentframework.providers.constrained.prompt import (
    ConstrainedOptions,
    ConstrainedPrompt,
    build_prompt,
    chat_body,
)

__all__ = ["ActionDecoder", "ConstrainedOptions", "ConstrainedPrompt", "build_prompt", "chat_body"]
