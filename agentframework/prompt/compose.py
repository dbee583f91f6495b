"""Composes the system prompt.

The same inputs give the same bytes: no date, no counters, nothing that would change the prefix of the request
from one turn to the next and cost the prompt cache.
"""

from collections.abc import Collection

from agentframework.prompt.sections import APPENDED, ROLE, TOOLS, WORKPLACE, Section

_ROLE = (
    "You are an agent inside a program. You help its user by reading, searching and changing files and by "
    "running commands with the tools you are given. Look before you change something, make the smallest change "
    "that does the job, and check the result. Say what you did in a few plain words. If something is refused, "
    "do not try to get it another way: say what you would need."
)

_FILES = "Prefer the file tools over shell commands for reading, searching and editing files."


def prompt_sections(
    cwd: str, tool_names: Collection[str], *, replace: str | None = None, append: str | None = None
) -> tuple[Section, ...]:
    """The sections of a session's own: ``replace`` instead of ours, ``append`` after all others."""
    if replace is not None:
        own = [Section("role", ROLE, replace)]
    else:
        own = [Section("role", ROLE, _ROLE), Section("workplace", WORKPLACE, f"Working directory: {cwd}")]
        if {"Bash", "Read"} <= set(tool_names):
            own.append(Section("tools", TOOLS, _FILES))
    return (*own, Section("appended", APPENDED, append)) if append else tuple(own)
