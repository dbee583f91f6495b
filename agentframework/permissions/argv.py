"""Options and operands of one command, read the way GNU getopt reads them.

Options may follow operands, ``--`` ends them, letters may be put together, long names may be cut short. Which
options take an operand is data of whoever asks (`Syntax`); an option that nobody lists counts as one without.
Above: what a command writes, whether it only reads, whether it is dangerous.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agentframework.permissions.shell.model import Word

SHORTEST_LONG = 3  # `--` and one letter


@dataclass(frozen=True, slots=True)
class Named:
    """A word that names a file a program uses. ``whole``: with everything below it."""

    word: Word
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Syntax:
    """Options with an operand: letters, and long names with their dashes. ``attached``: only if it is attached."""

    letters: str = ""
    long: tuple[str, ...] = ()
    attached: str = ""


@dataclass(slots=True)
class Arguments:
    """``options`` in order with their operands (None if they have none), ``operands`` the other words.

    ``plain`` is the index in ``operands`` from which on they stand behind ``--``.
    """

    options: list[tuple[str, Word | None]] = field(default_factory=list[tuple[str, Word | None]])
    operands: list[Word] = field(default_factory=list[Word])
    plain: int | None = None

    def has(self, *names: str) -> bool:
        """True if one of these options is given; long ones also cut short."""
        return any(same_option(given, name) for given, _ in self.options for name in names)

    def values(self, *names: str) -> list[Word]:
        """The operands of these options."""
        return [word for given, word in self.options if word is not None and any(same_option(given, n) for n in names)]


def same_option(given: str, name: str) -> bool:
    """True if ``given`` is the option ``name``, or a long one cut short that may stand for it."""
    if given == name:
        return True
    return given.startswith("--") and len(given) >= SHORTEST_LONG and name.startswith(given)


def read_arguments(words: Sequence[Word], syntax: Syntax) -> Arguments:
    """Sort ``words`` (the program not among them). A word that is not known counts as an operand."""
    found = Arguments()
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        value = word.value
        if value is None or not value.startswith("-") or value == "-":
            found.operands.append(word)
        elif value == "--":
            found.plain = len(found.operands)
            found.operands.extend(words[at:])
            break
        elif value.startswith("--"):
            at += _long(word, value, words[at : at + 1], syntax, found)
        else:
            at += _letters(word, value, words[at : at + 1], syntax, found)
    return found


def _long(word: Word, value: str, following: Sequence[Word], syntax: Syntax, found: Arguments) -> int:
    name, attached, _ = value.partition("=")
    if attached:
        found.options.append((name, part(word, len(name) + 1)))
        return 0
    if following and any(same_option(name, known) for known in syntax.long):
        found.options.append((name, following[0]))
        return 1
    found.options.append((name, None))
    return 0


def _letters(word: Word, value: str, following: Sequence[Word], syntax: Syntax, found: Arguments) -> int:
    for index, letter in enumerate(value[1:], start=2):
        name, rest = f"-{letter}", value[index:]
        if letter in syntax.letters or letter in syntax.attached:
            if rest:
                found.options.append((name, part(word, index)))
                return 0
            takes = bool(following) and letter in syntax.letters
            found.options.append((name, following[0] if takes else None))
            return int(takes)
        found.options.append((name, None))
    return 0


def part(word: Word, start: int) -> Word:
    """The rest of a known word; a ``~`` inside a word is no home directory."""
    value = (word.value or "")[start:]
    return Word(value, value, word.glob)


def texts(words: Iterable[Word]) -> list[str]:
    """The words as texts, as spelled where they are not known."""
    return [word.text if word.value is None else word.value for word in words]
