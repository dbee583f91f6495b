"""Narrow rules to offer with a question, so that the same thing need not be asked again."""

import os
from collections.abc import Iterable, Iterator

from agentframework.permissions.matching import host_of
from agentframework.permissions.shell.model import SimpleCommand
from agentframework.permissions.subject import SHELL_NAMES, Family, Subject
from agentframework.sandbox import is_within

# What these do is said by their first argument, or the first two.
_SUBCOMMANDS = {
    "apt": 1, "brew": 1, "bun": 1, "cargo": 1, "composer": 1, "conda": 1, "deno": 1, "docker": 1, "dotnet": 1,
    "gh": 2, "git": 1, "go": 1, "gradle": 1, "helm": 1, "just": 1, "kubectl": 1, "make": 1, "mvn": 1, "npm": 1,
    "pip": 1, "pip3": 1, "pnpm": 1, "poetry": 1, "rake": 1, "rustup": 1, "systemctl": 1, "terraform": 1, "tox": 1,
    "uv": 1, "yarn": 1,
}  # fmt: skip
_RUNS_ANOTHER = frozenset({("npm", "run"), ("pnpm", "run"), ("yarn", "run"), ("bun", "run"), ("uv", "run")})
_MOST = 5


def suggestions_for(subject: Subject, missing: Iterable[SimpleCommand] = ()) -> tuple[str, ...]:
    """Rules that would cover the call; of a shell line, its ``missing`` commands. None where no narrow one exists."""
    found = dict.fromkeys(rule for rule in _rules(subject, missing) if rule is not None)
    return tuple(found)[:_MOST]


def _rules(subject: Subject, missing: Iterable[SimpleCommand]) -> Iterator[str | None]:
    if subject.tool_name in SHELL_NAMES:
        for command in missing:
            yield _command_rule(subject.tool_name, command)
    elif subject.family in (Family.READ, Family.EDIT):
        name = "Edit" if subject.family is Family.EDIT else "Read"
        for forms in subject.paths:
            yield _rule(name, path_text(forms.real, subject.around.cwd))
    elif subject.tool_name == "WebFetch" and isinstance(subject.value, str):
        host = host_of(subject.value)
        yield f"WebFetch(domain:{host})" if host else None
    elif isinstance(subject.value, str):
        yield _rule(subject.tool_name, subject.value)
    else:
        yield subject.tool_name


def _rule(name: str, pattern: str) -> str | None:
    usable = pattern.strip() == pattern != "" and "*" not in pattern and "\n" not in pattern
    return f"{name}({pattern})" if usable else None


def path_text(real: str, cwd: str) -> str:
    """A place as a file rule names it: relative to the working directory, or absolute with two slashes."""
    if not is_within(real, cwd):
        return f"/{real}"
    text = os.path.relpath(real, cwd)
    return f"./{text}" if text.startswith("~") else text


def _command_rule(name: str, command: SimpleCommand) -> str | None:
    if command.assignments or not all(word.exact for word in command.argv):
        return None
    words = [word.value or "" for word in command.argv]
    if any(not word or any(character.isspace() for character in word) for word in words):
        return None
    count = _SUBCOMMANDS.get(words[0], 0)
    if count and tuple(words[:2]) in _RUNS_ANOTHER:
        count = 2
    leading = words[: count + 1]
    if count and len(leading) == count + 1 and not any(word.startswith("-") for word in leading):
        rule = _rule(name, " ".join(leading))
        return rule and f"{rule[:-1]}:*)"
    return _rule(name, " ".join(words))
