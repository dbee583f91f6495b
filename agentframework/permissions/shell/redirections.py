"""From redirections as written to the files they open (POSIX XCU 2.7, bash `&>`, `>&word`, `{name}>`)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentframework.permissions.shell.expand import expand
from agentframework.permissions.shell.heredoc import literal_body
from agentframework.permissions.shell.model import Redirection, Word
from agentframework.permissions.shell.scope import Scope
from agentframework.permissions.shell.tokens import Redirect

_DESCRIPTOR = re.compile(r"[0-9]+-?|-")
_PLAIN = re.compile(r"[\w./:@%+, -]*")
_READING = frozenset({"<", "<>"})
_WRITING = frozenset({">", ">>", ">|", "&>", "&>>", "<>", ">&"})
_TEXT = frozenset({"<<", "<<-", "<<<"})


def resolve(redirect: Redirect, scope: Scope, text: str) -> Redirection:
    """The redirection with its target expanded."""
    operator = redirect.operator
    fd = _descriptor(redirect)
    piped = len(redirect.target.parts) == 1 and redirect.target.parts[0].kind == "process"
    if operator in _TEXT or operator == "<&" or piped:
        return Redirection(operator, None, False, False, fd, text, scope.directories)
    words = expand(redirect.target, scope)
    target = words[0] if len(words) == 1 else Word(None, redirect.target.text)
    if operator == ">&":
        copies = _DESCRIPTOR.fullmatch(target.value) if target.value is not None else fd != 1
        if copies:
            return Redirection(operator, None, False, False, fd, text, scope.directories)
    return Redirection(
        operator, target, operator in _READING, operator in _WRITING, fd, text, scope.directories
    )


def expanded_twice(redirect: Redirect, scope: Scope) -> bool:
    """True when bash may run what the *value* of the target holds.

    bash 5.2 expands the file name after `>&` a second time, so `>& '$(reboot)'` reboots.
    """
    if redirect.operator != ">&" or _descriptor(redirect) != 1:
        return False
    return any(
        not (_PLAIN.fullmatch(word.value) if word.value is not None else not word.foreign)
        for word in expand(redirect.target, scope)
    )


def _descriptor(redirect: Redirect) -> int | None:
    if redirect.fd:
        return int(redirect.fd) if redirect.fd.isdigit() else None
    if redirect.operator.startswith("&"):
        return None
    return 0 if redirect.operator.startswith("<") else 1


def literal_stdin(redirects: Sequence[Redirect], scope: Scope) -> str | None:
    """The text a here-document or here-string feeds to descriptor 0, None when there is none or it is not known."""
    found: str | None = None
    for redirect in redirects:
        if _descriptor(redirect) != 0:
            continue
        found = None
        if redirect.operator == "<<<":
            words = expand(redirect.target, scope)
            if len(words) == 1 and words[0].exact and not words[0].splits:
                found = words[0].value
        elif redirect.operator in ("<<", "<<-") and redirect.body is not None:
            found = literal_body(redirect.body)
    return found
