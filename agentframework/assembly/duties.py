"""What a session does for its MCP servers: it passes their questions on to a person, and lets its model answer them.

A handler of the host goes before. A model's answer costs tokens and may carry the host's secrets to a server's words,
so each request for one passes the gate, as a call of a tool named `SAMPLING_TOOL`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentframework._base.abort import AbortSignal
from agentframework._base.bounded import cut_end
from agentframework._base.ids import new_id
from agentframework.assembly.asking import whole_reply
from agentframework.errors import McpOperationError
from agentframework.mcp import normalize_mcp_content_blocks
from agentframework.mcp.elicitation import questions_of, result_of
from agentframework.messages import AssistantMessage, ImagePart, Message, TextPart, ToolCall, UserMessage
from agentframework.permissions import PermissionGate, PromptBroker
from agentframework.permissions.decisions import GateCall, TurnScope
from agentframework.providers.protocol import ModelRequest, Provider
from agentframework.tools import AskUnavailableError, Tool, ToolContext, ToolResult

SAMPLING_TOOL = "McpSampling"
MAX_SAMPLES = 100
"""Answers of the model for one server and session."""
MAX_SAMPLE_TOKENS = 8_192
_SHOWN = 4_000
_STOPS = {"end_turn": "endTurn", "max_tokens": "maxTokens", "stop_sequence": "stopSequence"}


class ServerDuties:
    """Answers for the servers of one session. ``current`` names who answers at the moment."""

    def __init__(
        self, current: Callable[[], tuple[Provider, str]], gate: PermissionGate, prompts: PromptBroker
    ) -> None:
        self._current = current
        self._gate = gate
        self._prompts = prompts
        self._samples: dict[str, int] = {}

    async def elicit(self, server_id: str, params: Any) -> dict[str, Any]:
        """A person's answer; cancelled if nobody is there."""
        questions = questions_of(server_id, params)
        try:
            response = await self._prompts.ask(questions, None, AbortSignal()) if questions else None
        except AskUnavailableError:
            response = None
        return result_of(params, questions, response)

    async def sample(self, server_id: str, params: Any) -> dict[str, Any]:
        """A message of the model. Raises `McpOperationError` if it is not allowed, and the provider's errors."""
        used = self._samples.get(server_id, 0)
        if used >= MAX_SAMPLES:
            raise McpOperationError(f"MCP server {server_id} had {used} answers of the model; a session gives no more")
        self._samples[server_id] = used + 1
        messages = _messages(params.messages)
        system = params.system_prompt or ""
        await self._ask_the_gate(server_id, messages, system)
        provider, model = self._current()
        await provider.start()
        request = ModelRequest(
            model=model,
            messages=messages,
            system=system,
            max_output_tokens=max(1, min(int(params.max_tokens), MAX_SAMPLE_TOKENS)),
        )
        reply = await whole_reply(provider, request)
        return {
            "role": "assistant",
            "content": {"type": "text", "text": reply.text},
            "model": model,
            "stopReason": _STOPS.get(reply.stop_reason or "", "endTurn"),
        }

    async def _ask_the_gate(self, server_id: str, messages: Sequence[Message], system: str) -> None:
        shown = [{"role": one.role, "text": cut_end(one.text, _SHOWN)} for one in messages]  # type: ignore[union-attr]
        arguments: Mapping[str, Any] = {"server": server_id, "system": cut_end(system, _SHOWN), "messages": shown}
        call = ToolCall(new_id("call"), SAMPLING_TOOL, arguments)
        (decision,) = await self._gate.decide([GateCall(call, _TOOL)], TurnScope(None, AbortSignal()))
        if decision.kind != "allow":
            raise McpOperationError(f"the user did not allow the answer of a model ({decision.reason})")


async def _never(_arguments: dict[str, Any], _context: ToolContext) -> ToolResult:
    raise AssertionError("it stands for a request in the gate and is never run")


_TOOL = Tool(
    SAMPLING_TOOL,
    "Lets the model of this session answer a question of an MCP server.",
    {"type": "object"},
    _never,
    None,
    None,
)


def _messages(given: Sequence[Any]) -> list[Message]:
    """The server's messages as ours: texts and images, others in words; what the assistant said, as text."""
    messages: list[Message] = []
    for message in given:
        content = message.content if isinstance(message.content, list) else [message.content]
        parts = normalize_mcp_content_blocks(content)
        if message.role == "assistant":
            texts = tuple(part for part in parts if isinstance(part, TextPart))
            messages.append(AssistantMessage(texts or (TextPart("[an image]"),)))
        else:
            messages.append(UserMessage(tuple[TextPart | ImagePart, ...](parts)))
    return messages
