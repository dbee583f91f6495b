"""Composes the system prompt.

The same inputs give the same bytes: no date, no counters, nothing that would change the prefix of the request
from one turn to the next and cost the prompt cache.
"""

from collections.abc import Collection
from sys import intern

_ROLE = (
    "You are an agent inside a program. You help its user by reading, searching and changing files and by "
    "running commands with the tools you are given. Look before you change something, make the smallest change "
    "that does the job, and check the result. Say what you did in a few plain words. If something is refused, "
    "do not try to get it another way: say what you would need."
)

_FILES = "Prefer the file tools over shell commands for reading, searching and editing files."


def compose_system_prompt(
    cwd: str, tool_names: Collection[str], *, replace: str | None = None, append: str | None = None
) -> str:
    """The system prompt of a session: ``replace`` instead of ours, ``append`` after either."""
    if replace is not None:
        sections = [replace]
    else:
        sections = [_ROLE, f"Working directory: {cwd}"]
        if {"Bash", "Read"} <= set(tool_names):
            sections.append(_FILES)
    if append:
        sections.append(append)
    # One text for all sessions of a directory: a host may have thousands.
    return intern("\n\n".join(section.strip() for section in sections if section.strip()))
