"""The gate: one ordered decision for every call of a round.

arguments, deny rules, the host's policy, hooks, the mode's ceiling, must-ask marks, allow rules and grants, the mode's
table, and for what is then still open a batch approval, the policy's approval or a prompt. Whatever goes wrong on the
way denies the call; `decide` itself never fails. The static part alone is `PermissionGate.explain`.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from agentframework._base.abort import AbortedError
from agentframework.errors import ConfigurationError, ErrorCode
from agentframework.events import PermissionDecision, ToolApprovalResult, WarningEvent
from agentframework.events.sink import EventSink
from agentframework.permissions.answers import Answered, Answerer, PermissionAnswer
from agentframework.permissions.approval import Approval, approve_round
from agentframework.permissions.auto import Classifier, Review, Verdict
from agentframework.permissions.decisions import Decision, Explanation, GateCall, HookPort, StageName, TurnScope
from agentframework.permissions.entries import entries_for
from agentframework.permissions.fence import ReadFence
from agentframework.permissions.grants import Grant, Grants
from agentframework.permissions.host_policy import approval_of_policy
from agentframework.permissions.judge import NO_DOUBT, Doubt, GateOptions, Judge, Judged, denied, fault
from agentframework.permissions.modes import PermissionMode, parse_mode
from agentframework.permissions.paths import absolute, real_path
from agentframework.permissions.policy import Policy
from agentframework.permissions.prompts import PermissionQuestion, PromptBroker
from agentframework.permissions.reads import LOOKING
from agentframework.permissions.rules import RuleSet, parse_rule
from agentframework.permissions.shell import parse_command_line
from agentframework.permissions.subject import SHELL_NAMES, Family, family_of_tool, subject_of
from agentframework.sandbox import Sandbox
from agentframework.tools import RiskClass, Tool
from agentframework.tools.profile import profile_of

_MOST_CHANGES = 8
_MOVES = frozenset({"cd", "popd", "pushd"})
_DEFAULTS = GateOptions()
_AUTO = PermissionMode.AUTO
_DENIALS_TO_STOP = 2
_STOP = (
    "it has denied several calls in a row, so stop trying to do this another way: tell the user what you wanted to do "
    "and why, or go on with something else"
)
_REFUSED = "the user did not approve this action"
_YES_OF: Mapping[Answerer, str] = {"person": "the user allowed it", "hook": "a hook allowed it"}

T = TypeVar("T")


class PermissionGate:
    """Decides calls for one session. ``mode`` and ``rules`` may be changed between decisions; with ``no_bypass`` the
    mode ``bypassPermissions`` is refused."""

    __slots__ = (
        "_before_round",
        "_classifier",
        "_governed",
        "_grants",
        "_judge",
        "_mode",
        "_project_rules",
        "_prompts",
        "_protected",
        "_reads",
        "_sandbox",
        "_sink",
        "no_bypass",
        "rules",
    )

    def __init__(
        self,
        *,
        mode: PermissionMode | str,
        rules: RuleSet,
        sandbox: Sandbox,
        prompts: PromptBroker,
        sink: EventSink,
        hooks: HookPort | None = None,
        options: GateOptions = _DEFAULTS,
    ) -> None:
        self._mode = parse_mode(mode)
        self.no_bypass = False
        self.rules = rules
        self._prompts = prompts
        self._sink = sink
        self._grants = Grants()
        self._sandbox = sandbox
        self._project_rules = options.project_rules
        self._before_round = options.before_round
        self._reads = options.read_only_commands
        self._governed = options.governed
        self._protected = _places(options.protected, sandbox.roots[0])
        self._judge = Judge(self._policy, sandbox, hooks, options)
        port = options.classifier
        self._classifier = None if port is None else Classifier(port, deadline_s=options.classifier_deadline_s)

    def _policy(self) -> Policy:
        return Policy(self._mode, self.rules, self._grants, self._reads, self._protected, self._governed)

    @property
    def mode(self) -> PermissionMode:
        """The mode in force; setting an unknown one raises `ConfigurationError`."""
        return self._mode

    @mode.setter
    def mode(self, mode: PermissionMode | str) -> None:
        wanted = parse_mode(mode)
        if self.no_bypass and wanted is PermissionMode.BYPASS_PERMISSIONS:
            raise ConfigurationError(
                "the settings switch the mode bypassPermissions off (permissions.disableBypassPermissionsMode)",
                details={"field": "permission_mode"},
            )
        self._mode = wanted

    @property
    def grants(self) -> tuple[Grant, ...]:
        """What was allowed for the session, in order."""
        return tuple(self._grants)

    def clear_grants(self) -> None:
        """Ask again about everything that was allowed for the session."""
        self._grants.clear()

    def sandbox_for(self, tool: Tool) -> Sandbox:
        """The sandbox for one run of ``tool``: for tools that read and search, one that Read deny rules hold in."""
        return ReadFence(self._sandbox, self.rules) if family_of_tool(tool) is Family.READ else self._sandbox

    def explain(self, item: GateCall) -> Explanation:
        """What the static stages say about the call as it stands. Asks nobody, changes nothing, never raises."""
        return self._judge.explain(item, item.call.arguments)

    async def decide(self, calls: Sequence[GateCall], scope: TurnScope) -> list[Decision]:
        """One decision for each call of a round, in order. Questions of one round are open at the same time.

        Raises nothing but ``CancelledError``.
        """
        self._before_round()
        unsure = _doubts(calls)
        judged = await _together(
            [
                self._judge.judge(item, item.call.arguments, scope, doubt)
                for item, doubt in zip(calls, unsure, strict=True)
            ]
        )
        judged = await self._review(judged, scope)
        if scope.tool_approval is None:
            decisions = await _together([self._close(one, scope) for one in judged])
        else:
            decisions = await self._approve(judged, scope)
        return [self._record(item, decision) for item, decision in zip(calls, decisions, strict=True)]

    async def _review(self, judged: list[Judged], scope: TurnScope) -> list[Judged]:
        """In `auto`, the classifier's word on what only the mode asks about."""
        classifier = self._classifier
        if classifier is None or self._mode is not PermissionMode.AUTO or not any(one.left_to_mode for one in judged):
            return judged
        verdicts = await _together([self._verdict(classifier, one, scope) for one in judged])
        found: list[Judged] = []
        for one, verdict in zip(judged, verdicts, strict=True):
            if isinstance(verdict, Verdict):
                finding = _finding(verdict, classifier.count(verdict, scope.request))
                now = self._judge.explain(one.item, one.arguments, one.unsure)
                # What has changed while the model thought (rules, the mode, files) binds.
                verdict = finding if replace(one, finding=now).left_to_mode and self._mode is _AUTO else now
            found.append(one if verdict is None else replace(one, finding=verdict))
        return found

    async def _verdict(self, classifier: Classifier, one: Judged, scope: TurnScope) -> Verdict | Explanation | None:
        if not one.left_to_mode:
            return None
        review = Review(one.item.call.name, one.arguments, self._sandbox.roots[0], scope.request, self.rules)
        try:
            return await classifier.judge(review, scope.abort)
        except AbortedError:
            return denied("abort", "the turn was aborted")
        except Exception as error:
            return fault(error)

    async def _approve(self, judged: Sequence[Judged], scope: TurnScope) -> list[Decision]:
        """Everything not refused yet, answered by one call of the host's callback."""
        waiting = [one for one in judged if one.open]
        if scope.tool_approval is None or not waiting:
            return [one.decision() for one in judged]
        calls = [replace(one.item.call, arguments=one.arguments) for one in waiting]
        try:
            answer = await approve_round(scope.tool_approval, calls, scope.abort)
            approvals = tuple(one.as_dict() for one in answer.approvals)
            self._sink.emit(ToolApprovalResult, approvals, answer.stop_after_execution)
        except AbortedError:
            refusal = denied("abort", "the turn was aborted")
        except Exception as error:
            refusal = fault(error)
        else:
            answers = iter(answer.approvals)
            stop = answer.stop_after_execution
            decisions = [await self._approved(one, next(answers)) if one.open else one.decision() for one in judged]
            return [replace(decision, stop_after_execution=stop) for decision in decisions]
        return [one.refused(refusal) if one.open else one.decision() for one in judged]

    async def _approved(self, judged: Judged, approval: Approval) -> Decision:
        if approval.approve:
            return await self._allowed(judged, "approval", "the host approved it")
        return judged.refused(denied("approval", "the host did not approve it", approval.reason))

    async def _close(self, judged: Judged, scope: TurnScope) -> Decision:
        """Ask about the call if it is still open."""
        if judged.finding.outcome != "ask":
            return judged.decision()
        try:
            answer = await approval_of_policy(judged.item, judged.arguments, scope)
            if answer is None:
                return await self._ask(judged, scope)
            if answer.outcome != "allow":
                return judged.refused(answer)
            return await self._allowed(judged, "approval", answer.reason)
        except AbortedError:
            return judged.refused(denied("abort", "the turn was aborted"))
        except Exception as error:
            return judged.refused(fault(error))

    async def _ask(self, judged: Judged, scope: TurnScope) -> Decision:
        for _ in range(_MOST_CHANGES):
            finding = judged.finding
            if not self._prompts.someone_listens:
                reason = f"{finding.reason}, and nobody listens for permission_request"
                return judged.refused(denied("prompt", reason, finding.detail, ErrorCode.TOOL_APPROVAL_REQUIRED))
            call = judged.item.call
            question = _question(call.name, call.id, judged)
            answered = await self._prompts.request_permission(question, scope.driver_id, scope.abort)
            answer = answered.answer
            if not answer.allow:
                return replace(
                    judged.refused(denied("prompt", _REFUSED, answer.message or "")), answerer=answered.by
                )
            approved: Mapping[str, Any] = judged.arguments
            if answer.updated_input is not None and answer.updated_input != approved:
                approved = dict(answer.updated_input)
                judged = await self._judge.judge(judged.item, approved, scope, judged.unsure)
            if judged.open and judged.arguments == approved:
                return await self._allowed(judged, "prompt", _YES_OF[answered.by], answered)
            if judged.finding.outcome != "ask":
                return judged.decision()
        return judged.refused(denied("prompt", "its input was changed too many times"))

    async def _allowed(
        self, judged: Judged, stage: StageName, reason: str, answered: Answered | None = None
    ) -> Decision:
        """The yes of a person or host, unless rules or files have changed since the question was put."""
        now = self._judge.explain(judged.item, judged.arguments, judged.unsure)
        if now.outcome not in ("allow", "ask"):
            return judged.refused(now)
        granted: Grant | None = None
        if answered is not None and answered.answer.scope != "once":
            if now.every_time:
                self._warn("it is asked about every time; the call was allowed this once")
            else:
                granted = await self._grant(judged, answered.answer)
        by = "nobody" if answered is None else answered.by
        rule = None if granted is None else granted.text
        return Decision("allow", judged.arguments, reason, stage, rule=rule, answerer=by)

    async def _grant(self, judged: Judged, answer: PermissionAnswer) -> Grant | None:
        if answer.scope == "once" or judged.item.tool is None:
            return None
        around = self._judge.around(judged.unsure)
        if answer.rule is None:
            subject = subject_of(judged.item.tool, judged.arguments, around)
            granted = self._grants.add_call(subject, answer.scope)
            entries, complete = entries_for(subject)
        else:
            try:
                rule = parse_rule(answer.rule, "allow", base=around.cwd, home=around.home)
            except ValueError as error:
                self._warn(f"the rule {answer.rule!r} {error}; the call was allowed this once")
                return None
            granted = self._grants.add_rule(rule, answer.scope)
            entries, complete = (rule.text,), True
        if answer.scope == "project":
            await self._keep(entries, complete)
        return granted

    async def _keep(self, entries: tuple[str, ...], complete: bool) -> None:
        """Write an answer down for the project; what cannot be written holds for the session."""
        if self._project_rules is None:
            self._warn("this session keeps no rules of the project; what was allowed holds until the session ends")
            return
        if not complete:
            self._warn("no rule says exactly what was allowed; the rest of it holds until the session ends")
        try:
            if entries:
                await self._project_rules.add(entries)
        except Exception as error:
            self._warn(f"the project's rules were not changed: {error}; what was allowed holds until the session ends")

    def _warn(self, message: str) -> None:
        self._sink.emit(WarningEvent, message, "permissions")

    def _record(self, item: GateCall, decision: Decision) -> Decision:
        verdict = decision.kind if decision.kind in ("allow", "redirect") else "deny"
        named = (item.call.id, item.call.name, verdict, decision.reason, decision.stage, decision.rule)
        try:
            self._sink.emit(PermissionDecision, *named, decision.decided_by)
        except Exception as error:
            found = fault(error)
            return Decision("deny", decision.arguments, found.reason, found.stage, found.code, detail=found.detail)
        return decision


def _places(paths: Iterable[str], cwd: str) -> tuple[str, ...]:
    """Protected places, as named and where they really are."""
    named = [absolute(path, cwd) for path in paths]
    return tuple(dict.fromkeys((*named, *map(real_path, named))))


def _question(name: str, call_id: str, judged: Judged) -> PermissionQuestion:
    found = judged.finding
    question = PermissionQuestion(name, judged.arguments, call_id, found.message, found.suggestions)
    return replace(question, scopes=("once",)) if found.every_time else question


def _finding(verdict: Verdict, denials: int) -> Explanation:
    """A verdict as the finding about a call."""
    if verdict.decision == "allow":
        return Explanation("allow", "the classifier allows it", "classifier", detail=verdict.reason)
    if verdict.decision == "ask":
        return Explanation("ask", "the classifier leaves it to a person", "classifier", detail=verdict.reason)
    if denials >= _DENIALS_TO_STOP:
        return denied("classifier", f"the classifier denies it; {_STOP}", verdict.reason)
    return denied("classifier", "the classifier denies it", verdict.reason)


def _doubts(calls: Sequence[GateCall]) -> list[Doubt]:
    """For each call what an earlier one of the round may do before it runs."""
    found: list[Doubt] = []
    now = NO_DOUBT
    for item in calls:
        found.append(now)
        if len(calls) > 1:
            moved = now.moved or (item.call.name in SHELL_NAMES and _moves(item.call.arguments))
            now = Doubt(moved, now.changed or _changes(item))
    return found


def _changes(item: GateCall) -> bool:
    """True if the call may change files."""
    if item.tool is None or profile_of(item.tool).risk_class is RiskClass.INSPECT:
        return False
    if item.call.name not in SHELL_NAMES:
        return True
    try:
        line = parse_command_line((item.call.arguments or {})["command"])
    except Exception:
        return True
    writes = any(one.writes and not one.harmless for one in line.redirections)
    return writes or not line.complete or not all(command.name in LOOKING for command in line.commands)


def _moves(arguments: Mapping[str, Any] | None) -> bool:
    try:
        line = parse_command_line((arguments or {})["command"])
    except Exception:
        return True
    return not line.complete or any(command.name in _MOVES for command in line.commands)


async def _together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of all, in order; one alone needs no task."""
    if len(work) == 1:
        return [await work[0]]
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one) for one in work]
    return [task.result() for task in tasks]
