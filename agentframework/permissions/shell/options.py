"""Reading the options in front of a command, the way getopt does (POSIX XBD 12.2, GNU long options)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentframework.permissions.shell.model import Word
from agentframework.permissions.shell.wrappers import Wrapper

_NUMBER = re.compile(r"-[-+]?[0-9]+")


@dataclass(slots=True)
class Options:
    """`given` holds each option with its operand, `rest` is the index of the first word after them.

    `doubt` says why the position of the command is not certain, if it is not.
    """

    given: list[tuple[str, Word | None]] = field(default_factory=list)
    rest: int = 0
    doubt: str | None = None

    def operand(self, names: Sequence[str]) -> Word | None:
        """The operand of the last of these options."""
        return next((word for name, word in reversed(self.given) if name in names and word), None)

    def has(self, names: Sequence[str]) -> bool:
        return any(name in names for name, _ in self.given)


def read_options(words: Sequence[Word], wrapper: Wrapper) -> Options:
    """Read the options at the start of `words` (the program itself not among them)."""
    found = Options()
    while found.rest < len(words):
        word = words[found.rest]
        value = word.value
        if value is None or word.glob:
            found.doubt = found.doubt or f"whether {word.text} is an option is known only at run time"
            return found
        if value == "--":
            found.rest += 1
            return found
        if value == "-" or not value.startswith("-"):
            return found
        found.rest += 1
        if wrapper.numeric and _NUMBER.fullmatch(value):
            continue
        if value.startswith("--"):
            _long(value, words, wrapper, found)
        else:
            _letters(value, words, wrapper, found)
    return found


def _long(value: str, words: Sequence[Word], wrapper: Wrapper, found: Options) -> None:
    name, attached, operand = value.partition("=")
    if name in wrapper.long_operands or name in wrapper.code:
        found.given.append((name, Word(operand, operand) if attached else _next(words, name, found)))
    elif name in wrapper.long_flags or name in wrapper.ends:
        found.given.append((name, Word(operand, operand) if attached else None))
    else:
        found.doubt = found.doubt or f"the option {name} is not known"


def _letters(value: str, words: Sequence[Word], wrapper: Wrapper, found: Options) -> None:
    for index, letter in enumerate(value[1:], start=2):
        name = "-" + letter
        rest = value[index:]
        if letter in wrapper.operands or name in wrapper.code:
            found.given.append((name, Word(rest, rest) if rest else _next(words, name, found)))
            return
        if letter in wrapper.attached:
            found.given.append((name, Word(rest, rest) if rest else None))
            return
        if letter in wrapper.flags or name in wrapper.ends:
            found.given.append((name, None))
        else:
            found.doubt = found.doubt or f"the option {name} is not known"


def _next(words: Sequence[Word], name: str, found: Options) -> Word | None:
    if found.rest >= len(words):
        return None
    word = words[found.rest]
    found.rest += 1
    if word.splits or word.glob:
        found.doubt = found.doubt or f"the operand of {name} is known only at run time"
    return word
