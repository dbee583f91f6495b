"""From a typed line to a command's name and arguments. Pure text; which names exist is not known here."""

import re
from typing import NamedTuple

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]*")


class SlashLine(NamedTuple):
    """A line that is a command."""

    name: str
    args: str


def normalise_name(name: str) -> str:
    """The name meant by ``name``: without blanks around it, leading slashes, and further words."""
    words = name.strip().lstrip("/").split(maxsplit=1)
    return words[0] if words else ""


def looks_like_command(line: str) -> bool:
    """True for ``/word …``; a path such as ``/usr/bin/env`` and a comment such as ``// this`` are none."""
    text = line.strip()
    if not text.startswith("/"):
        return False
    words = text[1:].split(maxsplit=1)
    return bool(words) and text[1] == words[0][0] and _NAME.fullmatch(words[0]) is not None


def split_line(line: str) -> SlashLine | None:
    """Name and arguments of a line that looks like a command; None for any other."""
    if not looks_like_command(line):
        return None
    name, *rest = line.strip()[1:].split(maxsplit=1)
    return SlashLine(name, rest[0] if rest else "")
