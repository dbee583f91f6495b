"""Which calls a rule covers, for everything but shell lines.

Restricting and permitting are two questions. A restriction that cannot be judged answers MAYBE, which leads to
a question; a permission that cannot be judged does not apply.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

from agentframework.permissions.patterns import Glob, Match
from agentframework.permissions.rules import DomainScope, PathScope, Rule, TextScope
from agentframework.permissions.subject import SEARCH_NAMES, Family, Subject


def restricts(rule: Rule, subject: Subject) -> Match:
    """Whether a deny or ask rule applies to a call that is no shell line."""
    if rule.scope is None:
        return Match.YES if rule.names(subject.tool_name) else Match.NO
    if isinstance(rule.scope, PathScope):
        return _restricts_path(rule, rule.scope, subject)
    if not rule.names(subject.tool_name):
        return Match.NO
    if subject.key is None:
        return Match.MAYBE
    if subject.value is None:
        return Match.NO
    if not isinstance(subject.value, str):
        return Match.MAYBE
    if isinstance(rule.scope, DomainScope):
        host = host_of(subject.value)
        return Match.MAYBE if host is None else _yes(_host_within(host, rule.scope.domain))
    if isinstance(rule.scope, TextScope):
        return _yes(rule.scope.glob.matches(subject.value))
    return Match.NO


def _yes(matched: bool) -> Match:
    return Match.YES if matched else Match.NO


def _restricts_path(rule: Rule, scope: PathScope, subject: Subject) -> Match:
    if not _shares_path_rules(rule, subject):
        return Match.NO
    if rule.tool in SEARCH_NAMES:
        sought = subject.arguments.get("pattern")
        if isinstance(sought, str) and Glob(rule.text[len(rule.tool) + 1 : -1].strip()).matches(sought):
            return Match.YES
    if not subject.paths:
        return Match.MAYBE
    places = {place for forms in subject.paths for place in (*forms.spellings, forms.real)}
    return _yes(any(pattern.matches_any(places) for pattern in scope.patterns))


def _shares_path_rules(rule: Rule, subject: Subject) -> bool:
    """Edit, Write and their like share rules; a rule for a search tool is for that tool only."""
    if rule.tool in SEARCH_NAMES:
        return rule.tool == subject.tool_name
    return rule.family is subject.family


def permits(rule: Rule, subject: Subject) -> bool:
    """Whether an allow rule covers a call that is no shell line."""
    if rule.scope is None:
        return rule.names(subject.tool_name)
    if isinstance(rule.scope, PathScope):
        return _shares_path_rules(rule, subject) and permits_paths(rule.scope, [forms.real for forms in subject.paths])
    if not rule.names(subject.tool_name) or not isinstance(subject.value, str):
        return False
    if isinstance(rule.scope, DomainScope):
        host = host_of(subject.value)
        return host is not None and _host_within(host, rule.scope.domain)
    return isinstance(rule.scope, TextScope) and rule.scope.glob.matches(subject.value)


def permits_paths(scope: PathScope, real_paths: Iterable[str]) -> bool:
    """Whether an allow rule's patterns cover every one of these places (none at all: no)."""
    places = list(real_paths)
    return bool(places) and all(any(pattern.matches(place) for pattern in scope.patterns) for place in places)


def permits_edit(rule: Rule, real: str) -> bool:
    """Whether an allow rule lets a file at ``real`` be written, by whatever means."""
    return isinstance(rule.scope, PathScope) and rule.family is Family.EDIT and permits_paths(rule.scope, [real])


def host_of(url: str) -> str | None:
    """The host that every URL reader would see in ``url``, in lower case; None if they may differ."""
    if not url.isascii() or "\\" in url or any(character <= " " for character in url):
        return None
    try:
        host = urlsplit(url).hostname
    except ValueError:
        return None
    host = (host or "").rstrip(".")
    return host if host and "%" not in host else None


def _host_within(host: str, domain: str) -> bool:
    return host == domain or host.endswith(f".{domain}")
