"""What an answer for the project is written down as: rules that say exactly what was allowed.

One entry for each command of a line and each file it writes, letter for letter. What no rule can say so – words that
are known only at run time, wildcards, text of several lines, arguments that rules do not look at – is left out.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from agentframework.permissions.grants import written_forms
from agentframework.permissions.matching import permits
from agentframework.permissions.rules import parse_rule
from agentframework.permissions.shell.model import CommandLine
from agentframework.permissions.shell_permit import is_transparent, literal_text, permits_command, permittable
from agentframework.permissions.subject import SEARCH_NAMES, Family, Subject
from agentframework.permissions.suggest import path_text


class ProjectRules(Protocol):
    """Where rules of the project are kept."""

    async def add(self, entries: Sequence[str]) -> None:
        """Add allow rules. Raises if that is not possible; the message is for people."""
        ...


def entries_for(subject: Subject) -> tuple[tuple[str, ...], bool]:
    """The rules for this very call, and whether they cover all of it."""
    found = list(_of_line(subject, subject.line) if subject.line is not None else _of_call(subject))
    texts = tuple(dict.fromkeys(text for text in found if text is not None))
    return texts, bool(texts) and None not in found


def _of_line(subject: Subject, line: CommandLine) -> Iterator[str | None]:
    if not line.complete or line.assignments:
        yield None
    for number, command in enumerate(line.commands):
        if is_transparent(line.commands, number):
            continue
        text = literal_text(command)
        yield _checked(f"{subject.tool_name}({text})", subject, number) if text is not None else None
    for redirection in line.redirections:
        if redirection.writes and not redirection.harmless:
            forms = written_forms(redirection, subject.around)
            usable = forms is not None and forms.inside
            yield _literal(f"Edit({path_text(forms.real, subject.around.cwd)})") if forms and usable else None


def _of_call(subject: Subject) -> Iterator[str | None]:
    if subject.family in (Family.READ, Family.EDIT) and subject.tool_name not in SEARCH_NAMES:
        for forms in subject.paths:
            yield _checked(f"{subject.tool_name}({path_text(forms.real, subject.around.cwd)})", subject)
    elif isinstance(subject.value, str) and len(subject.arguments) == 1:
        yield _checked(f"{subject.tool_name}({subject.value})", subject)
    else:
        yield None


def _literal(text: str) -> str | None:
    pattern = text.partition("(")[2].removesuffix(")")
    usable = pattern and pattern == pattern.strip() and "*" not in pattern and pattern.isprintable()
    return text if usable else None


def _checked(text: str, subject: Subject, number: int | None = None) -> str | None:
    """``text`` if it is a rule that covers the call, or the command at ``number`` of its line, literally."""
    if _literal(text) is None:
        return None
    try:
        rule = parse_rule(text, "allow", base=subject.around.cwd, home=subject.around.home)
    except ValueError:
        return None
    if number is None or subject.line is None:
        return text if permits(rule, subject) else None
    return text if permits_command(rule, permittable(subject.line.commands[number])) else None
