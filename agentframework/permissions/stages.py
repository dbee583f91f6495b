"""The static stages of a decision, in their order: deny rules, the mode's ceiling, must-ask marks, allow rules and
grants, the mode's table. None of them prompts or changes anything.

Each stage is a function of the call that decides or passes on; further ones take their place in `_STAGES`. What a
person or a hook says about the call comes from outside, see `agentframework.permissions.gate`.
"""

from collections.abc import Callable
from dataclasses import replace

from agentframework.errors import ErrorCode
from agentframework.permissions.case import Case
from agentframework.permissions.decisions import Explanation, StageName, Step
from agentframework.permissions.grants import call_key
from agentframework.permissions.modes import PermissionMode, mode_outcome, mode_reason
from agentframework.permissions.patterns import Match
from agentframework.permissions.permitted import permission_for, remainder
from agentframework.permissions.rules import CommandScope
from agentframework.permissions.shell.model import CommandLine
from agentframework.permissions.suggest import suggestions_for

Stage = Callable[[Case], Explanation | None]
_PASSED = "nothing to say"


def settle(case: Case) -> Explanation:
    """What the stages say, with the steps that led to it."""
    steps = [Step("arguments", "they fit the tool's schema")]
    for name, stage in _STAGES:
        found = stage(case)
        if found is not None:
            return replace(found, steps=(*steps, Step(name, found.reason)), line=case.subject.line)
        steps.append(Step(name, _PASSED))
    raise RuntimeError("the last stage decides every call")


def restrict(case: Case) -> Explanation | None:
    """The denial of a deny rule, which nothing can lift."""
    found = _forbidden(case)
    if found is None:
        return None
    steps = (Step("arguments", "they fit the tool's schema"), Step("deny rules", found.reason))
    return replace(found, steps=steps, line=case.subject.line)


def _forbidden(case: Case) -> Explanation | None:
    match, rule = case.denying
    if match is not Match.YES or rule is None:
        return None
    return _denied("deny", f"the deny rule {rule.shown} forbids it", rule.text)


def _denied(stage: StageName, reason: str, rule: str | None = None) -> Explanation:
    return Explanation("deny", reason, stage, rule, ErrorCode.TOOL_DENIED)


def _ceiling(case: Case) -> Explanation | None:
    """`plan` refuses whatever is not reading, whatever the rules say."""
    mode, risk = case.policy.mode, case.subject.risk
    if case.policy.governed and mode_outcome(mode, risk) == "deny" and not case.reads_only:
        return _denied("mode", mode_reason(mode, risk))
    return None


def _safeguards(case: Case) -> Explanation | None:
    """Questions that no mode, rule or grant lifts; a mere doubt is lifted by a yes to this very call."""
    alarm = case.alarm if case.policy.governed else None
    if alarm is None or not (alarm.certain or not _allowed_as_it_stands(case)):
        return None
    return Explanation("ask", alarm.reason, "safeguard", detail=alarm.detail, every_time=alarm.certain)


def _allowed_as_it_stands(case: Case) -> bool:
    """True if a person has allowed this call letter for letter: by a rule or a grant that says all of it."""
    line, policy = case.subject.line, case.policy
    if policy.grants.covering(call_key(case.subject)) is not None:
        return True
    if line is None:
        return False
    scopes = (rule.scope for rule in (*policy.rules.allow, *policy.grants.rules) if rule.names(case.subject.tool_name))
    return any(isinstance(scope, CommandScope) and scope.verbatim == line.text.strip() for scope in scopes)


def _doubtful_denial(case: Case) -> Explanation | None:
    """A deny rule that may apply; what is known only at run time must not escape it."""
    _, rule = case.denying
    if rule is None:
        return None
    reason, doubt = f"the deny rule {rule.shown} may forbid it", _doubt(case.subject.line)
    if case.policy.governed and case.policy.mode is PermissionMode.PLAN:
        return replace(_denied("mode", reason, rule.text), detail=doubt)
    return Explanation("ask", reason, "ask", rule.text, detail=doubt)


def _asking(case: Case) -> Explanation | None:
    match, rule = case.asking
    if rule is None:
        return None
    certain = match is Match.YES
    reason = f"the ask rule {rule.shown} {'asks' if certain else 'may ask'} about it"
    return Explanation("ask", reason, "ask", rule.text, detail="" if certain else _doubt(case.subject.line))


def _required(case: Case) -> Explanation | None:
    """The host's policy wants every call, or this one, approved."""
    return None if case.required is None else Explanation("ask", case.required, "policy", every_time=True)


def _hook(case: Case) -> Explanation | None:
    if case.hook.decision == "ask":
        return Explanation("ask", "a hook asks about it", "hook", detail=case.hook.reason)
    return None


def _doubt(line: CommandLine | None) -> str:
    if line is not None and line.unresolved:
        return "; ".join(line.unresolved[:3])
    return "what it does is known only when it runs"


def _by_mode(case: Case) -> Explanation:
    """The mode's table, and a hook that lifts its question."""
    policy, subject = case.policy, case.subject
    if not policy.governed:
        return Explanation("allow", "no mode is set, and nothing else stops it", "mode")
    outcome = mode_outcome(policy.mode, subject.risk)
    reason = mode_reason(policy.mode, subject.risk)
    if outcome == "ask" and case.hook.decision == "allow":
        return Explanation("allow", "a hook allows it", "hook", detail=case.hook.reason)
    if outcome == "allow":
        return Explanation("allow", reason, "mode")
    if outcome == "deny":
        return _denied("mode", reason)
    if subject.line is None:
        return Explanation("ask", reason, "mode", suggestions=suggestions_for(subject))
    suggestions = suggestions_for(subject, case.coverage.missing) if subject.line.complete else ()
    return Explanation("ask", reason, "mode", detail=remainder(case), suggestions=suggestions)


_STAGES: tuple[tuple[str, Stage], ...] = (
    ("deny rules", _forbidden),
    ("the mode's ceiling", _ceiling),
    ("safeguards", _safeguards),
    ("deny rules in doubt", _doubtful_denial),
    ("ask rules", _asking),
    ("the policy", _required),
    ("hooks", _hook),
    ("allow rules and grants", permission_for),
    ("the mode", _by_mode),
)
