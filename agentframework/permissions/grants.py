"""What a person allowed for the rest of the session: this very call, or a rule of their own.

A grant of a call is exact. Of a shell line it covers the line and each of its commands, letter for letter and in
the same directory; of a file tool the tool and the file; of any other tool the tool and all its arguments.
"""

import hashlib
import json
import os
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Literal

from agentframework.permissions.paths import PathForms
from agentframework.permissions.rules import Rule
from agentframework.permissions.shell.model import Redirection, SimpleCommand
from agentframework.permissions.shell_files import known_path
from agentframework.permissions.subject import SEARCH_NAMES, SHELL_NAMES, Family, Subject, Surroundings
from agentframework.permissions.suggest import path_text

Keep = Literal["session", "project"]


@dataclass(frozen=True, slots=True)
class Grant:
    """One grant: ``text`` for people, in the form of a rule, and how long it is meant to last."""

    text: str
    scope: Keep
    rule: Rule | None
    keys: frozenset[Hashable]


class Grants:
    """The grants of one session, in the order given."""

    __slots__ = ("_grants",)

    def __init__(self) -> None:
        self._grants: list[Grant] = []

    def __iter__(self) -> Iterator[Grant]:
        return iter(tuple(self._grants))

    def add_call(self, subject: Subject, scope: Keep) -> Grant:
        """Allow this very call from now on."""
        return self._add(Grant(call_text(subject), scope, None, frozenset(_keys(subject))))

    def add_rule(self, rule: Rule, scope: Keep) -> Grant:
        """Allow what ``rule`` covers from now on."""
        return self._add(Grant(rule.text, scope, rule, frozenset()))

    def _add(self, grant: Grant) -> Grant:
        if grant not in self._grants:
            self._grants.append(grant)
        return grant

    def clear(self) -> None:
        """Take all grants back."""
        self._grants.clear()

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules among the grants."""
        return tuple(grant.rule for grant in self._grants if grant.rule is not None)

    def named(self, text: str) -> bool:
        """True if ``text`` is that of a grant."""
        return any(grant.text == text for grant in self._grants)

    def covering(self, key: Hashable) -> str | None:
        """The text of a grant that holds ``key``."""
        return next((grant.text for grant in self._grants if key in grant.keys), None)


def call_text(subject: Subject) -> str:
    """The call in the form of a rule, for display."""
    if subject.line is not None:
        return f"{subject.tool_name}({subject.line.text.strip()})"
    if subject.paths and subject.tool_name not in SEARCH_NAMES:
        places = (path_text(forms.real, subject.around.cwd) for forms in subject.paths)
        return f"{subject.tool_name}({', '.join(places)})"
    if isinstance(subject.value, str):
        return f"{subject.tool_name}({subject.value})"
    return subject.tool_name


def call_key(subject: Subject) -> Hashable:
    """What makes two calls the same call."""
    if subject.line is not None:
        return ("line", subject.around.shell_directory, subject.line.text.strip())
    if subject.paths and subject.family is not Family.OTHER and subject.tool_name not in SEARCH_NAMES:
        return ("file", subject.tool_name, tuple(forms.real for forms in subject.paths))
    text = json.dumps(subject.arguments, sort_keys=True, ensure_ascii=True, default=repr)
    return ("call", subject.tool_name, hashlib.sha256(text.encode()).hexdigest())


def command_key(command: SimpleCommand) -> Hashable | None:
    """What makes two commands the same; None if a word is known only while it runs."""
    words = (*command.argv, *(item.value for item in command.assignments))
    if any(word.value is None for word in words) or not command.directories:
        return None
    variables = tuple((item.name, item.append, item.subscript) for item in command.assignments)
    return ("command", command.via, command.directories, variables, tuple((w.value, w.glob, w.tilde) for w in words))


def write_key(redirection: Redirection, around: Surroundings) -> Hashable | None:
    """What makes two redirections write to the same place; None if the place is not known."""
    forms = written_forms(redirection, around)
    return None if forms is None else ("write", forms.real)


def written_forms(redirection: Redirection, around: Surroundings) -> PathForms | None:
    """The file a redirection opens; None if that is not certain."""
    target = redirection.target
    path = None if target is None or target.glob else known_path(target, around)
    if path is None or not (os.path.isabs(path) or redirection.cwd):
        return None
    return around.forms_in_shell(path, redirection.cwd or "/")


def _keys(subject: Subject) -> Iterator[Hashable]:
    yield call_key(subject)
    line = subject.line
    if subject.tool_name not in SHELL_NAMES or line is None or not line.complete or line.assignments:
        return
    for key in (
        *(command_key(command) for command in line.commands),
        *(write_key(redirection, subject.around) for redirection in line.redirections if redirection.writes),
    ):
        if key is not None:
            yield key
