"""State of one turn while it runs, and what it amounts to afterwards."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from agentframework._base.abort import AbortSignal
from agentframework.errors import ConfigurationError
from agentframework.messages import Message, ToolCall, ToolSummary, Usage


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a run. None means unbounded (not for the byte limits).

    ``max_iterations`` counts model requests of one turn, ``max_tool_calls_per_turn`` the calls of one reply;
    bytes are UTF-8. Raises `ConfigurationError` for a bound below 1.
    """

    max_iterations: int | None = 8
    max_tool_calls_per_turn: int | None = 8
    max_tool_argument_bytes: int = 262_144
    max_tool_result_bytes: int = 2_097_152

    def __post_init__(self) -> None:
        for item in fields(self):
            value: Any = getattr(self, item.name)
            unbounded = value is None and item.name in ("max_iterations", "max_tool_calls_per_turn")
            if not unbounded and not (isinstance(value, int) and value >= 1):
                raise ConfigurationError(
                    f"limits.{item.name} must be a number of at least 1, not {value!r}",
                    details={"field": f"limits.{item.name}"},
                )


@dataclass(slots=True)
class ActiveTool:
    """A call that is running now."""

    tool_use_id: str
    tool_name: str
    first_arg: str


@dataclass(slots=True)
class Turn:
    """What a running turn knows. ``record`` is told each message that joins the conversation; ``request`` is what the
    user asked for, in words."""

    turn_id: str
    run_id: str
    driver_id: str
    abort: AbortSignal
    record: Callable[[Message], None]
    request: str = ""
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
