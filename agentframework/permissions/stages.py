"""The static stages of a decision, in their order: deny rules, the mode's ceiling, must-ask marks, allow rules and
grants, the mode's table. None of them prompts or changes anything.

Each stage is a function of the policy and the call that decides or passes on; further ones take their place in
`_STAGES`. What a person or a hook says about the call comes from outside, see `agentframework.permissions.gate`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from agentframework.errors import ErrorCode
from agentframework.permissions.decisions import Explanation, HookVerdict, StageName
from agentframework.permissions.grants import Grants, call_key, command_key, write_key, written_forms
from agentframework.permissions.matching import permits, permits_edit, restricts
from agentframework.permissions.modes import PermissionMode, mode_outcome, mode_reason
from agentframework.permissions.patterns import Match
from agentframework.permissions.rules import CommandScope, PathScope, Rule, RuleSet
from agentframework.permissions.shell.model import CommandLine, Redirection, SimpleCommand
from agentframework.permissions.shell_files import SeenFiles, files_of, restricts_files
from agentframework.permissions.shell_permit import Coverage, cover, permits_command, permittable
from agentframework.permissions.shell_restrict import Reading, readings_of, restricts_line
from agentframework.permissions.subject import EDIT_NAMES, Family, Subject
from agentframework.permissions.suggest import suggestions_for
from agentframework.tools import RiskClass


@dataclass(frozen=True, slots=True)
class Policy:
    """What is in force when a call is decided."""

    mode: PermissionMode
    rules: RuleSet
    grants: Grants


@dataclass(frozen=True)
class Case:
    """One call before the stages, with what hooks said about it. What takes time is looked up once."""

    policy: Policy
    subject: Subject
    hook: HookVerdict = HookVerdict()

    @cached_property
    def denying(self) -> tuple[Match, Rule | None]:
        """The strictest deny rule."""
        return self._strictest(self.policy.rules.deny)

    @cached_property
    def asking(self) -> tuple[Match, Rule | None]:
        """The strictest ask rule."""
        return self._strictest(self.policy.rules.ask)

    @cached_property
    def _readings(self) -> tuple[Reading, ...]:
        return () if self.subject.line is None else readings_of(self.subject.line)

    @cached_property
    def _files(self) -> SeenFiles | None:
        return None if self.subject.line is None else files_of(self.subject.line, self.subject.around)

    def _strictest(self, rules: Iterable[Rule]) -> tuple[Match, Rule | None]:
        """The first rule that restricts the call for certain, else the first that may."""
        doubtful: Rule | None = None
        for rule in rules:
            match = self._restricts(rule)
            if match is Match.YES:
                return match, rule
            if match is Match.MAYBE and doubtful is None:
                doubtful = rule
        return (Match.NO, None) if doubtful is None else (Match.MAYBE, doubtful)

    def _restricts(self, rule: Rule) -> Match:
        line = self.subject.line
        if line is None:
            return restricts(rule, self.subject)
        if isinstance(rule.scope, PathScope):
            return Match.MAYBE if self._files is None else restricts_files(rule, self._files)
        return restricts_line(rule, line, self._readings) if rule.names(self.subject.tool_name) else Match.NO


Stage = Callable[[Case], Explanation | None]


def forbidden(case: Case) -> Explanation | None:
    """The denial of a deny rule, which nothing can lift."""
    match, rule = case.denying
    if match is not Match.YES or rule is None:
        return None
    return _denied("deny", f"the deny rule {rule.text} forbids it", rule.text)


def settle(case: Case) -> Explanation:
    """What the stages after the deny rules say."""
    for stage in _STAGES:
        found = stage(case)
        if found is not None:
            return found
    return _by_mode(case)


def _denied(stage: StageName, reason: str, rule: str | None = None) -> Explanation:
    return Explanation("deny", reason, stage, rule, ErrorCode.TOOL_DENIED)


def _ceiling(case: Case) -> Explanation | None:
    """`plan` refuses whatever is not reading, whatever the rules say."""
    mode, risk = case.policy.mode, case.subject.risk
    if mode_outcome(mode, risk) == "deny":
        return _denied("mode", mode_reason(mode, risk))
    return None


def _marks(case: Case) -> Explanation | None:
    """Questions that no mode, rule or grant lifts."""
    _, doubtful = case.denying
    if doubtful is not None:
        reason, doubt = f"the deny rule {doubtful.text} may forbid it", _doubt(case.subject.line)
        if case.policy.mode is PermissionMode.PLAN:
            return replace(_denied("mode", reason, doubtful.text), detail=doubt)
        return Explanation("ask", reason, "ask", doubtful.text, detail=doubt)
    match, rule = case.asking
    if rule is not None:
        certain = match is Match.YES
        reason = f"the ask rule {rule.text} {'asks' if certain else 'may ask'} about it"
        return Explanation("ask", reason, "ask", rule.text, detail="" if certain else _doubt(case.subject.line))
    if case.hook.decision == "ask":
        return Explanation("ask", "a hook asks about it", "hook", detail=case.hook.reason)
    return None


def _doubt(line: CommandLine | None) -> str:
    if line is not None and line.unresolved:
        return "; ".join(line.unresolved[:3])
    return "what it does is known only when it runs"


def _permissions(case: Case) -> Explanation | None:
    """Allow rules and grants."""
    policy, subject = case.policy, case.subject
    if subject.line is not None:
        return _permitted_line(policy, subject, subject.line)
    for rule in policy.rules.allow:
        if permits(rule, subject):
            return Explanation("allow", f"the allow rule {rule.text} covers it", "allow", rule.text)
    granted = next((rule.text for rule in policy.grants.rules if permits(rule, subject)), None)
    granted = granted or policy.grants.covering(call_key(subject))
    if granted is not None:
        return Explanation("allow", "it was allowed earlier in this session", "grant", granted)
    return None


def _permitted_line(policy: Policy, subject: Subject, line: CommandLine) -> Explanation | None:
    for rule in (*policy.rules.allow, *policy.grants.rules):
        if not rule.names(subject.tool_name):
            continue
        verbatim = isinstance(rule.scope, CommandScope) and rule.scope.verbatim == line.text.strip()
        if rule.scope is None or verbatim:
            return Explanation("allow", f"the allow rule {rule.text} covers it", "allow", rule.text)
    granted = policy.grants.covering(call_key(subject))
    if granted is not None:
        return Explanation("allow", "it was allowed earlier in this session", "grant", granted)
    coverage = _coverage(policy, subject, line)
    if not line.complete or not coverage.complete or _unpermitted_writes(policy, subject, line):
        return None
    granted = all(policy.grants.named(label) for label in coverage.by)
    return Explanation(
        "allow", "each of its commands is allowed", "grant" if granted else "allow", ", ".join(coverage.by)
    )


def _coverage(policy: Policy, subject: Subject, line: CommandLine) -> Coverage:
    rules = [rule for rule in (*policy.rules.allow, *policy.grants.rules) if rule.names(subject.tool_name)]

    def permitting(command: SimpleCommand) -> str | None:
        spelled = permittable(command)
        for rule in rules:
            if permits_command(rule, spelled):
                return rule.text
        key = command_key(command)
        return None if key is None else policy.grants.covering(key)

    return cover(line, permitting)


def _unpermitted_writes(policy: Policy, subject: Subject, line: CommandLine) -> list[Redirection]:
    return [
        redirection
        for redirection in line.redirections
        if redirection.writes and not redirection.harmless and not _may_write(policy, subject, redirection)
    ]


def _may_write(policy: Policy, subject: Subject, redirection: Redirection) -> bool:
    """The decision that writing this file would get by itself."""
    forms = written_forms(redirection, subject.around)
    if forms is None:
        return False
    if forms.inside and mode_outcome(policy.mode, RiskClass.MODIFY) == "allow":
        return True
    for rule in (*policy.rules.allow, *policy.grants.rules):
        if permits_edit(rule, forms.real) or (forms.inside and rule.scope is None and rule.tool in EDIT_NAMES):
            return True
    key = write_key(redirection, subject.around)
    return key is not None and policy.grants.covering(key) is not None


def _outside(case: Case) -> Explanation | None:
    """Changing files beyond the roots is asked about in every mode."""
    subject = case.subject
    beyond = [forms for forms in subject.paths if not forms.inside]
    if subject.family is Family.EDIT and subject.risk is not RiskClass.INSPECT and beyond:
        places = ", ".join(forms.real for forms in beyond)
        return Explanation("ask", "it changes a file outside the working directory", "mode", detail=places)
    return None


def _by_mode(case: Case) -> Explanation:
    """The mode's table, and a hook that lifts its question."""
    policy, subject = case.policy, case.subject
    outcome = mode_outcome(policy.mode, subject.risk)
    reason = mode_reason(policy.mode, subject.risk)
    if outcome == "ask" and case.hook.decision == "allow":
        return Explanation("allow", "a hook allows it", "hook", detail=case.hook.reason)
    if outcome == "allow":
        return Explanation("allow", reason, "mode")
    if subject.line is None:
        return Explanation("ask", reason, "mode", suggestions=suggestions_for(subject))
    coverage = _coverage(policy, subject, subject.line)
    return Explanation(
        "ask",
        reason,
        "mode",
        detail=_remainder(policy, subject, subject.line, coverage),
        suggestions=suggestions_for(subject, coverage.missing) if subject.line.complete else (),
    )


def _remainder(policy: Policy, subject: Subject, line: CommandLine, coverage: Coverage) -> str:
    """What keeps a line that is allowed in part from being allowed."""
    if not coverage.by:
        return ""
    open_points = [command.text for command in coverage.missing]
    open_points += [f"{item.name}=..." for item in coverage.variables]
    open_points += [redirection.text for redirection in _unpermitted_writes(policy, subject, line)]
    open_points += line.unresolved
    return f"no rule covers {', '.join(open_points)[:300]}" if open_points else ""


_STAGES: tuple[Stage, ...] = (_ceiling, _marks, _permissions, _outside)
