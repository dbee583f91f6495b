"""What allow rules and grants permit, for a call as a whole and for the parts of a shell line."""

from agentframework.permissions.case import Case
from agentframework.permissions.coverage import READ_ONLY
from agentframework.permissions.decisions import Explanation
from agentframework.permissions.grants import call_key, write_key, written_forms
from agentframework.permissions.matching import permits, permits_edit
from agentframework.permissions.modes import mode_outcome
from agentframework.permissions.policy import Policy
from agentframework.permissions.read_only import reads_only_from
from agentframework.permissions.rules import CommandScope
from agentframework.permissions.shell.model import CommandLine, Redirection
from agentframework.permissions.subject import EDIT_NAMES, Subject
from agentframework.tools import RiskClass


def permission_for(case: Case) -> Explanation | None:
    """The allow rule or grant that covers the call, if one does."""
    policy, subject = case.policy, case.subject
    if subject.line is not None:
        return _permitted_line(case, subject.line)
    for rule in policy.rules.allow:
        if permits(rule, subject):
            return Explanation("allow", f"the allow rule {rule.shown} covers it", "allow", rule.text)
    granted = next((rule.text for rule in policy.grants.rules if permits(rule, subject)), None)
    granted = granted or policy.grants.covering(call_key(subject))
    if granted is not None:
        return Explanation("allow", "it was allowed earlier in this session", "grant", granted)
    return None


def _permitted_line(case: Case, line: CommandLine) -> Explanation | None:
    policy, subject = case.policy, case.subject
    for rule in (*policy.rules.allow, *policy.grants.rules):
        if not rule.names(subject.tool_name):
            continue
        verbatim = isinstance(rule.scope, CommandScope) and rule.scope.verbatim == line.text.strip()
        if rule.scope is None or verbatim:
            return Explanation("allow", f"the allow rule {rule.shown} covers it", "allow", rule.text)
    granted = policy.grants.covering(call_key(subject))
    if granted is not None:
        return Explanation("allow", "it was allowed earlier in this session", "grant", granted)
    coverage = case.coverage
    if not line.complete or not coverage.complete or _unpermitted_writes(policy, subject, line):
        return None
    if READ_ONLY in coverage.by and not _reads_inside(line, subject):
        return None
    rules = [label for label in coverage.by if label != READ_ONLY]
    if not rules and not any(one.writes and not one.harmless for one in line.redirections):
        return Explanation("allow", "it only reads", "read-only")
    granted = bool(rules) and all(policy.grants.named(label) for label in rules)
    text = ", ".join(rules) or None
    return Explanation("allow", "each of its commands is allowed", "grant" if granted else "allow", text)


def _reads_inside(line: CommandLine, subject: Subject) -> bool:
    return all(not one.reads or reads_only_from(one, subject.around) for one in line.redirections)


def _unpermitted_writes(policy: Policy, subject: Subject, line: CommandLine) -> list[Redirection]:
    """Also connections, which no rule for commands or files covers."""
    return [
        redirection
        for redirection in line.redirections
        if redirection.connects
        or (redirection.writes and not redirection.harmless and not _may_write(policy, subject, redirection))
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


def remainder(case: Case) -> str:
    """What keeps a line that is allowed in part from being allowed."""
    policy, subject, coverage, line = case.policy, case.subject, case.coverage, case.subject.line
    if line is None or not coverage.by:
        return ""
    open_points = [command.text for command in coverage.missing]
    open_points += [f"{item.name}=..." for item in coverage.variables]
    open_points += [redirection.text for redirection in _unpermitted_writes(policy, subject, line)]
    open_points += line.unresolved
    return f"no rule covers {', '.join(open_points)[:300]}" if open_points else ""
