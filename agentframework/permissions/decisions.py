"""What goes into the gate and what comes out of it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from agentframework._base.abort import AbortSignal
from agentframework.errors import ErrorCode
from agentframework.events.tool import DecidedBy
from agentframework.messages import ToolCall
from agentframework.permissions.answers import Answerer
from agentframework.permissions.modes import Outcome
from agentframework.permissions.shell import CommandLine
from agentframework.tools import Tool, ToolContext

Kind = Literal["allow", "deny", "redirect", "invalid", "blocked"]
StageName = Literal[
    "arguments", "deny", "policy", "hook", "mode", "safeguard", "ask", "allow", "grant", "read-only", "classifier",
    "approval", "prompt", "abort", "fault",
]  # fmt: skip


_DECIDED_BY: Mapping[StageName, DecidedBy] = {
    "arguments": "nobody", "deny": "rule", "policy": "rule", "hook": "hook", "mode": "mode", "safeguard": "nobody",
    "ask": "rule", "allow": "rule", "grant": "rule", "read-only": "read-only", "classifier": "classifier",
    "approval": "handler", "prompt": "nobody", "abort": "nobody", "fault": "nobody",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class GateCall:
    """A call of the model, and the tool of that name (None: there is none)."""

    call: ToolCall
    tool: Tool | None


BatchApproval = Callable[[Sequence[ToolCall]], "Mapping[str, Any] | Awaitable[Mapping[str, Any]]"]


@dataclass(frozen=True, slots=True)
class TurnScope:
    """For whom a round is decided: who drives the turn, and what stops it.

    ``tool_approval`` answers for all calls of a round at once, in place of the prompts. ``request`` is what the user
    asked for last, in words. ``policy`` is the host's own; ``context`` gives it what a call's tool would be told.
    """

    driver_id: str | None
    abort: AbortSignal
    tool_approval: BatchApproval | None = None
    request: str = ""
    policy: "PolicyPort | None" = None
    context: Callable[[GateCall], ToolContext] | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What happens to a call.

    ``allow`` runs it with ``arguments``; for all others ``message`` is for the model and ``code`` is set: ``deny``,
    ``redirect`` (do something else instead, as ``detail`` says), ``invalid`` (unknown tool, unusable arguments),
    ``blocked`` (by a hook). ``reason`` holds nothing of the arguments, ``detail`` may. ``rule`` is the rule or grant
    that decided. ``answerer``: who answered the question, if one was put. ``stop_after_execution``: end the run when
    this round has run.
    """

    kind: Kind
    arguments: Mapping[str, Any]
    reason: str
    stage: StageName
    code: ErrorCode | None = None
    rule: str | None = None
    detail: str = ""
    stop_after_execution: bool = False
    answerer: Answerer = "nobody"

    @property
    def decided_by(self) -> DecidedBy:
        """Whose word it was."""
        return self.answerer if self.stage == "prompt" else _DECIDED_BY[self.stage]

    @property
    def message(self) -> str:
        """Reason and detail."""
        return with_detail(self.reason, self.detail)


@dataclass(frozen=True, slots=True)
class Step:
    """One stage that was tried, and what it said; the last one decided."""

    name: str
    said: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What the static stages say about a call: allowed, denied, to be asked about, or not usable at all.

    ``reason`` holds nothing of the arguments, ``detail`` may. ``suggestions`` are narrow rules that would cover it
    the next time. ``every_time``: it is asked about each time, whatever was allowed before. ``steps`` are the stages
    tried, in order; ``line`` is how a shell command was understood.
    """

    outcome: Outcome | Literal["invalid", "redirect"]
    reason: str
    stage: StageName
    rule: str | None = None
    code: ErrorCode | None = None
    detail: str = ""
    suggestions: tuple[str, ...] = ()
    every_time: bool = False
    steps: tuple[Step, ...] = field(default=(), compare=False, repr=False)
    line: CommandLine | None = field(default=None, compare=False, repr=False)

    @property
    def message(self) -> str:
        """Reason and detail."""
        return with_detail(self.reason, self.detail)


def with_detail(reason: str, detail: str) -> str:
    """One sentence of both."""
    return f"{reason}: {detail}" if detail else reason


@dataclass(frozen=True, slots=True)
class HookVerdict:
    """A hook's word before a call: deny it, ask a person, allow it (which lifts only the mode's question), or None.

    ``updated_input`` replaces the arguments; they are then judged from the start.
    """

    decision: Literal["allow", "deny", "ask"] | None = None
    reason: str = ""
    updated_input: Mapping[str, Any] | None = None


class HookPort(Protocol):
    """What the gate knows of hooks."""

    async def pre_tool_use(self, call: ToolCall) -> HookVerdict:
        """The verdict of all hooks for this call, with the arguments that are about to be used."""
        ...


@dataclass(frozen=True, slots=True)
class PolicyVerdict:
    """What a host's policy says of a call.

    Before it is decided: ``deny`` and ``redirect`` are final, ``ask`` wants an approval, None leaves it to the gate.
    As the answer to an approval: ``allow``, ``deny`` or ``redirect``. ``message`` goes to the model, and is what a
    redirected one is to do instead; ``reason`` holds nothing of the arguments; ``rule`` names what decided.
    """

    decision: Literal["allow", "deny", "redirect", "ask"] | None = None
    reason: str = ""
    message: str = ""
    rule: str | None = None


class PolicyPort(Protocol):
    """What the gate knows of a host's policy. Whatever it raises denies the call."""

    async def judge(self, item: GateCall, arguments: Mapping[str, Any], scope: TurnScope) -> PolicyVerdict:
        """Static lists and rules: asked about every call that no deny rule forbids, before hooks, and once more
        about arguments that a hook or a person has changed."""
        ...

    async def approve(self, item: GateCall, arguments: Mapping[str, Any], scope: TurnScope) -> PolicyVerdict | None:
        """The answer to a call that has to be asked about; None leaves it to the prompts."""
        ...
