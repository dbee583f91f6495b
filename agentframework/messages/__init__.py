"""What a conversation is made of: content parts, messages, tool specs, usage, results, history entries.

Above: `agentframework.errors` and `agentframework._base`. Everything else builds on these types; there is no
second tree of them.
"""

from agentframework.messages.calls import ToolSpec, ToolSummary
from agentframework.messages.content import (
    AssistantPart,
    DocumentPart,
    ImageBlock,
    ImagePart,
    OpaquePart,
    TextPart,
    ThinkingPart,
    ToolCall,
    ToolResultPart,
    UserPart,
    as_user_part,
    image_type,
    part_from_dict,
)
from agentframework.messages.history import ExecutionResult, HistoryEntry, RunResult, SystemNote, TurnResult
from agentframework.messages.message import AssistantMessage, Message, ToolMessage, UserMessage, user_text
from agentframework.messages.usage import ContextState, ModelPrice, Usage

__all__ = [
    "AssistantMessage",
    "AssistantPart",
    "ContextState",
    "DocumentPart",
    "ExecutionResult",
    "HistoryEntry",
    "ImageBlock",
    "ImagePart",
    "Message",
    "ModelPrice",
    "OpaquePart",
    "RunResult",
    "SystemNote",
    "TextPart",
    "ThinkingPart",
    "ToolCall",
    "ToolMessage",
    "ToolResultPart",
    "ToolSpec",
    "ToolSummary",
    "TurnResult",
    "Usage",
    "UserMessage",
    "UserPart",
    "as_user_part",
    "image_type",
    "part_from_dict",
    "user_text",
]
