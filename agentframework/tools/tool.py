"""The contract of a tool.

A tool says what it is (name, description, schema), how risky it is, and which argument the permission rules
look at; it never asks for permission itself. It runs with a small fixed context and returns text, data or a
`ToolResult`.
"""

import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from agentframework._base.abort import AbortSignal
from agentframework.errors import ConfigurationError
from agentframework.messages import ToolSpec
from agentframework.sandbox import Sandbox
from agentframework.tools.info import CUSTOM, ToolInfo

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class RiskClass(StrEnum):
    """What a call can do: look, change files, or run programs."""

    INSPECT = "inspect"
    MODIFY = "modify"
    EXECUTE = "execute"


class AskUnavailableError(Exception):
    """Nobody is there to answer a question; ``str()`` says why."""


class Progress(Protocol):
    """Report of a running tool: a line of text, and how far of how much if known."""

    def __call__(self, text: str, progress: float | None = None, total: float | None = None) -> None: ...


AskPort = Callable[[Sequence[Mapping[str, Any]]], Coroutine[Any, Any, Any]]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a running tool may know and use.

    ``ask`` puts questions to a person and returns the response given to ``resolve_ask`` (None if cancelled);
    it raises `AskUnavailableError` when nobody listens. A sync tool runs in a thread: there ``abort`` may be read
    and ``progress`` called, and ``anyio.from_thread.run(context.ask, questions)`` asks.
    """

    session_id: str
    run_id: str
    turn_id: str
    iteration: int
    tool_use_id: str
    cwd: str
    workspace_root: str
    max_result_bytes: int
    sandbox: Sandbox
    abort: AbortSignal
    progress: Progress
    ask: AskPort


ToolFunction = Callable[[dict[str, Any], ToolContext], Any]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. ``run(arguments, context)`` may be sync (runs in a thread) or async.

    ``risk`` None means unclassified: asked about in the default mode. ``permission_key`` names the argument
    that rules such as ``Read(src/**)`` are matched against; ``function`` is what `tool` decorated; ``info`` says
    where the tool comes from. Text of more than ``max_result_characters`` is cut in the middle (None: the limit for
    all tools).
    Raises `ConfigurationError` for a bad name or a schema that is not of type object.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    run: ToolFunction
    risk: RiskClass | str | None = None
    permission_key: str | None = None
    function: Callable[..., Any] | None = field(default=None, repr=False, compare=False)
    info: ToolInfo = field(default=CUSTOM, kw_only=True)
    max_result_characters: int | None = field(default=None, kw_only=True)
    spec: ToolSpec = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not TOOL_NAME.fullmatch(self.name):
            raise ConfigurationError(
                f"tool name {self.name!r} is not 1 to 64 of A-Z a-z 0-9 _ -", details={"field": "name"}
            )
        if self.input_schema.get("type") != "object":
            raise ConfigurationError(
                f"input_schema of tool {self.name} must have type object", details={"field": "input_schema"}
            )
        if self.risk is not None:
            try:
                risk = RiskClass(self.risk)
            except ValueError:
                raise ConfigurationError(
                    f"risk of tool {self.name} must be inspect, modify, execute or None, not {self.risk!r}"
                ) from None
            object.__setattr__(self, "risk", risk)
        object.__setattr__(self, "spec", ToolSpec(self.name, self.description, self.input_schema))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function that `tool` decorated, as if it were not decorated. ``TypeError`` if there is none."""
        if self.function is None:
            raise TypeError(f"tool {self.name} was not made from a function; use run(arguments, context)")
        return self.function(*args, **kwargs)
