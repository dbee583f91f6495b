"""The system prompt as named sections, each with its place.

The same sections give the same bytes: the prefix of a request must not change from one turn to the next without need,
or the prompt cache is lost.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from sys import intern

ROLE, WORKPLACE, TOOLS, INSTRUCTIONS, APPENDED = 10, 20, 30, 40, 90


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the prompt. Lower ``priority`` comes first, ties by ``name``; a blank ``text`` leaves it out."""

    name: str
    priority: int
    text: str


def join_sections(sections: Iterable[Section]) -> str:
    """The prompt that the sections make."""
    ordered = sorted(sections, key=lambda section: (section.priority, section.name))
    # One text for all sessions of a directory: a host may have thousands.
    return intern("\n\n".join(text for section in ordered if (text := section.text.strip())))
