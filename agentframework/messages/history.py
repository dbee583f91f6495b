"""Timeline entries and turn results: what sessions hand out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agentframework._base.clock import now
from agentframework._base.ids import new_id
from agentframework.messages.calls import ToolSummary
from agentframework.messages.message import Message
from agentframework.messages.usage import ContextState, Usage


def _entry_id() -> str:
    return new_id("entry")


@dataclass(frozen=True, slots=True)
class SystemNote:
    """A line for the reader of the history ("Interrupted by user."); never sent to the model."""

    text: str
    kind: Literal["info", "error"] = "info"
    role: Literal["system"] = "system"


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One entry of the timeline.

    ``category`` ``"chat"``: ``type`` is the role and ``data`` the message (only these go to the model, and
    of them not the `SystemNote`). ``"event"``: ``type`` is ``tool-start``, ``tool-end``, ``tool-summary``,
    ``usage-summary`` and the like, ``data`` a JSON-able dict.
    """

    category: Literal["chat", "event"]
    type: str
    data: Message | SystemNote | dict[str, Any]
    id: str = field(default_factory=_entry_id)
    timestamp: float = field(default_factory=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnResult:
    """What a finished turn amounts to, whichever face ran it."""

    response: str
    usage: Usage
    stop_reason: str | None = None
    structured_output: Any = None
    interrupted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult(TurnResult):
    """Result of an agent's run. ``messages`` is the whole conversation, ``iterations`` counts this run's requests."""

    messages: tuple[Message, ...]
    iterations: int
    stopped_after_tool_execution: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutionResult(TurnResult):
    """Result of a session's turn. ``history`` is the session's live timeline; JSON leaves it out."""

    tool_summaries: tuple[ToolSummary, ...] = ()
    context_state: ContextState
    history: Sequence[HistoryEntry] = field(default=(), compare=False, repr=False, metadata={"json": False})
