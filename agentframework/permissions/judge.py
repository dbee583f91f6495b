"""Judging one call without asking anybody: the static stages, and the hooks between them.

Above: `agentframework.permissions.gate`, which asks about what is left open. A fault anywhere is a denial.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from agentframework._base.abort import AbortedError, AbortSignal, run_abortable
from agentframework.errors import ErrorCode
from agentframework.messages import ToolCall
from agentframework.permissions.auto import DEADLINE_S, ClassifierPort
from agentframework.permissions.case import Case
from agentframework.permissions.check import unusable
from agentframework.permissions.decisions import (
    Decision,
    Explanation,
    GateCall,
    HookPort,
    HookVerdict,
    Kind,
    StageName,
    TurnScope,
)
from agentframework.permissions.entries import ProjectRules
from agentframework.permissions.host_policy import judge_by_policy, required_by
from agentframework.permissions.policy import Policy
from agentframework.permissions.stages import restrict, settle
from agentframework.permissions.subject import Surroundings, subject_of
from agentframework.sandbox import Sandbox

_NO_WORD = HookVerdict()


@dataclass(frozen=True, slots=True)
class GateOptions:
    """The rarer settings.

    ``home`` is what ``~`` means; ``shell_directory`` tells where the shell tool stands now (None: not known), by
    default what the sandbox says; ``tool_names`` are named to a model that calls another.
    ``read_only_commands``: shell lines that only read run unasked. ``protected`` are further places, absolute or
    relative to the working directory, whose change is asked about in every mode. ``project_rules`` keeps answers for
    the project. ``classifier`` judges in the mode ``auto``. ``governed`` False leaves out what only a mode asks or
    refuses, the safeguards among it: what no rule, hook or policy stops, runs.
    ``before_round`` may bring the rules up to date, and never raises.
    """

    home: str | None = None
    shell_directory: Callable[[], str | None] | None = None
    tool_names: Callable[[], Iterable[str]] = tuple
    max_tool_argument_bytes: int = 262_144
    read_only_commands: bool = False
    protected: Sequence[str] = ()
    project_rules: ProjectRules | None = None
    classifier: ClassifierPort | None = None
    classifier_deadline_s: float = DEADLINE_S
    governed: bool = True
    before_round: Callable[[], object] = bool


class Doubt(NamedTuple):
    """What earlier calls of the round may do first: move the shell to another directory, change files."""

    moved: bool = False
    changed: bool = False


NO_DOUBT = Doubt()


@dataclass(frozen=True, slots=True)
class Judged:
    """A call after the static stages and hooks, with the arguments it would run with.

    ``unsure``: what an earlier call of the round may do first.
    """

    item: GateCall
    arguments: Mapping[str, Any]
    finding: Explanation
    unsure: Doubt = NO_DOUBT
    blocked: bool = False

    @property
    def open(self) -> bool:
        """True if it is not refused (yet)."""
        return self.finding.outcome in ("allow", "ask")

    @property
    def left_to_mode(self) -> bool:
        """True if nothing but the mode asks about it."""
        return self.finding.outcome == "ask" and self.finding.stage == "mode"

    def refused(self, finding: Explanation) -> Decision:
        """The decision that refuses the call for this finding."""
        return replace(self, finding=finding).decision()

    def decision(self) -> Decision:
        """The decision if nothing more is asked: only what is allowed runs."""
        found = self.finding
        kind: Kind = "deny"
        if found.outcome in ("allow", "invalid", "redirect"):
            kind = found.outcome
        elif self.blocked:
            kind = "blocked"
        code = None if kind == "allow" else found.code or ErrorCode.TOOL_DENIED
        return Decision(kind, self.arguments, found.reason, found.stage, code, found.rule, found.detail)


def denied(stage: StageName, reason: str, detail: str = "", code: ErrorCode = ErrorCode.TOOL_DENIED) -> Explanation:
    """A refusal that no rule made."""
    return Explanation("deny", reason, stage, code=code, detail=detail)


def fault(error: Exception) -> Explanation:
    """The refusal for a check that could not be carried out."""
    return denied("fault", "the permission check failed, so it is denied", f"{type(error).__name__}: {error}")


class Judge:
    """Static stages and hooks for one session; ``policy`` gives what is in force at the moment."""

    __slots__ = ("_hooks", "_options", "_policy", "_sandbox")

    def __init__(
        self, policy: Callable[[], Policy], sandbox: Sandbox, hooks: HookPort | None, options: GateOptions
    ) -> None:
        self._policy = policy
        self._sandbox = sandbox
        self._hooks = hooks
        self._options = options

    def around(self, unsure: Doubt) -> Surroundings:
        """Where a call would take effect now."""
        directory: str | None = self._sandbox.shell_directory
        if self._options.shell_directory is not None:
            directory = self._options.shell_directory()
        directory = None if unsure.moved else directory
        return Surroundings(self._sandbox, directory, self._options.home, settled=not unsure.changed)

    def explain(
        self,
        item: GateCall,
        arguments: Mapping[str, Any] | None,
        unsure: Doubt = NO_DOUBT,
        hook: HookVerdict = _NO_WORD,
        required: str | None = None,
    ) -> Explanation:
        """All static stages, with what hooks have said and why the host's policy requires an approval."""
        try:
            found = self._restrict(item, arguments, unsure)
            if isinstance(found, Explanation):
                return found
            if hook is _NO_WORD and required is None:
                return settle(found)
            return settle(replace(found, hook=hook, required=required))
        except Exception as error:
            return fault(error)

    def _restrict(self, item: GateCall, arguments: Mapping[str, Any] | None, unsure: Doubt) -> Explanation | Case:
        """The stages before the hooks: why the call is refused, or the call prepared for the others."""
        options = self._options
        problem = unusable(item, arguments, options.tool_names(), options.max_tool_argument_bytes)
        if problem is not None:
            return problem
        if item.tool is None or arguments is None:
            raise TypeError("a call without tool or arguments passed the check")
        case = Case(self._policy(), subject_of(item.tool, arguments, self.around(unsure)))
        return restrict(case) or case

    async def judge(
        self, item: GateCall, arguments: Mapping[str, Any] | None, scope: TurnScope, unsure: Doubt
    ) -> Judged:
        """Static stages, the host's policy and hooks. Hooks see the input once; what they make of it is judged from
        the start."""
        used = arguments if arguments is not None else {}
        if self._hooks is None and scope.policy is None:
            return Judged(item, used, self.explain(item, arguments, unsure), unsure)
        verdict = _NO_WORD
        try:
            found = await self._before_hooks(item, arguments, scope, unsure)
            if self._hooks is not None and found.outcome in ("allow", "ask"):
                verdict = await _hear(self._hooks, replace(item.call, arguments=used), scope.abort)
                if verdict.decision == "deny":
                    refusal = denied("hook", "a hook blocked it", verdict.reason)
                    return Judged(item, used, refusal, unsure, blocked=True)
                if verdict.updated_input is not None:
                    used = dict(verdict.updated_input)
                    found = await self._before_hooks(item, used, scope, unsure)
        except AbortedError:
            return Judged(item, used, denied("abort", "the turn was aborted"), unsure)
        except Exception as error:
            return Judged(item, used, fault(error), unsure)
        if found.outcome in ("allow", "ask"):
            found = self.explain(item, used, unsure, verdict, required_by(found))
        return Judged(item, used, found, unsure)

    async def _before_hooks(
        self, item: GateCall, arguments: Mapping[str, Any] | None, scope: TurnScope, unsure: Doubt
    ) -> Explanation:
        """The stages that come before the hooks: why the call is refused, or that it goes on."""
        found = self._restrict(item, arguments, unsure)
        if isinstance(found, Explanation):
            return found
        return await judge_by_policy(item, arguments or {}, scope)


async def _hear(hooks: HookPort, call: ToolCall, abort: AbortSignal) -> HookVerdict:
    verdict: object = await run_abortable(hooks.pre_tool_use(call), abort)
    if not isinstance(verdict, HookVerdict) or verdict.decision not in ("allow", "ask", "deny", None):
        raise TypeError(f"a hook answered {verdict!r:.200}")
    return verdict
