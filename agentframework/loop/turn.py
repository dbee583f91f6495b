"""State of one turn while it runs, and what it amounts to afterwards."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from agentframework._base.abort import AbortSignal
from agentframework.loop.limits import Limits
from agentframework.messages import Message, ToolCall, ToolSummary, Usage
from agentframework.permissions import BatchApproval, PolicyPort


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSettings:
    """What holds for one turn in place of the conversation's own; None leaves that.

    ``tool_approval`` is asked once a round, see `agentframework.permissions.TurnScope`; ``policy`` is the host's.
    """

    model: str | None = None
    effort: str | None = None
    system: str | None = None
    limits: Limits | None = None
    tool_approval: BatchApproval | None = None
    policy: PolicyPort | None = None


AS_THE_CONVERSATION = TurnSettings()


@dataclass(slots=True)
class ActiveTool:
    """A call that is running now."""

    tool_use_id: str
    tool_name: str
    first_arg: str


@dataclass(slots=True)
class Turn:
    """What a running turn knows.

    ``record`` is told each message that joins the conversation; ``request`` is what the user asked for, in words, and
    ``prompt_id`` the message in which they did.
    ``at_boundary`` is called after each round of tools, for messages that are to join the turn there.
    """

    turn_id: str
    run_id: str
    driver_id: str
    abort: AbortSignal
    record: Callable[[Message], None]
    request: str = ""
    settings: TurnSettings = AS_THE_CONVERSATION
    prompt_id: str | None = None
    at_boundary: Callable[[], Awaitable[None]] | None = None
    began: float = field(default_factory=monotonic)
    iteration: int = 0
    usage: Usage = field(default_factory=Usage)
    live_text: list[str] = field(default_factory=list[str])
    replies: list[str] = field(default_factory=list[str])
    summaries: list[ToolSummary] = field(default_factory=list[ToolSummary])
    active: dict[str, ActiveTool] = field(default_factory=dict[str, ActiveTool])
    stop_blocks: int = 0

    def note_calls(self, calls: tuple[ToolCall, ...]) -> None:
        """Remember calls for the result's summary."""
        self.summaries.extend(ToolSummary(call.name, call.arguments_json) for call in calls)


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn ended: the last reply's text, why the model stopped, and the value if one was asked for."""

    response: str
    stop_reason: str | None
    structured_output: Any = None

    @property
    def by_host(self) -> bool:
        """Whether it was ended after a round of tools, so that the model has not answered."""
        return self.stop_reason in ("hook", "stop_after_execution", "loop_detected")
