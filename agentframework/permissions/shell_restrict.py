"""Deny and ask rules against the commands of a shell line.

A restriction applies if any command fits, however it is spelled and whatever runs it. A word that is known only
while the line runs may be anything here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from agentframework.permissions.git_words import SUBCOMMANDS, split_git
from agentframework.permissions.patterns import Gap, Match, Piece
from agentframework.permissions.rules import CommandScope, Rule
from agentframework.permissions.shell.model import Assignment, CommandLine, SimpleCommand, Word
from agentframework.permissions.through import Through

# It may stand for any subcommand, with options of its own.
_GIT_ALIAS = Word(None, "...", splits=True)
# Comparing unknown words with patterns takes time; in a longer line only what stands before them counts.
_LONGEST_COMPARED = 5_000
# Of commands that are very many words together only the first ones are looked at; the rest may be anything.
_MOST_WORDS = 20_000
_MOST_WORDS_EACH = 40
_REST = Word(None, "...", splits=True)


@dataclass(frozen=True, slots=True)
class Reading:
    """The spellings of one command; ``uncertain`` holds those with unknown words, with gaps for these.

    ``doubtful``: whether it is run at all is not certain.
    """

    texts: frozenset[str]
    uncertain: frozenset[tuple[Piece, ...]]
    doubtful: bool = False


def readings_of(through: Through) -> tuple[Reading, ...]:
    """What the commands of a line look like to restrictions, each different one once."""
    compare = len(through.line.text) <= _LONGEST_COMPARED
    listed = through.line.commands
    most = None if sum(len(command.argv) for command in listed) <= _MOST_WORDS else _MOST_WORDS_EACH
    certain = (_reading(command, compare, most) for command in listed)
    guesses = (*through.doubtful, *through.guessed)
    doubtful = (replace(_reading(command, compare, most), doubtful=True) for command in guesses)
    return tuple(dict.fromkeys((*certain, *doubtful)))


def _reading(command: SimpleCommand, compare: bool, most: int | None) -> Reading:
    texts: set[str] = set()
    uncertain: set[tuple[Piece, ...]] = set()
    for spelled in _spellings(command):
        words = spelled[:most]
        if len(words) < len(spelled):
            words = (*words, _REST)
        texts.update((" ".join(map(text_of, words)), " ".join(word.text for word in words)))
        if any(word.value is None or word.glob for word in words):
            pieces = _with_gaps(words)
            uncertain.add(pieces if compare else (*takewhile(_is_known, pieces), Gap.ANY))
    return Reading(frozenset(texts), frozenset(uncertain))


def restricts_line(rule: Rule, line: CommandLine, readings: Iterable[Reading]) -> Match:
    """Whether a deny or ask rule for the shell applies to ``line``, which has these ``readings``."""
    scope = rule.scope
    if not isinstance(scope, CommandScope) or line.text.strip() == scope.verbatim:
        return Match.YES
    best = Match.NO if line.complete else Match.MAYBE
    for reading in readings:
        if any(glob.matches(text) for glob in scope.globs for text in reading.texts):
            if not reading.doubtful:
                return Match.YES
            best = Match.MAYBE
        elif best is Match.NO and any(glob.could_match(p) for glob in scope.globs for p in reading.uncertain):
            best = Match.MAYBE
    return best


def _spellings(command: SimpleCommand) -> Iterator[Sequence[Word]]:
    """The command as written, without the program's directory, without git's global options, with variables."""
    argv = command.argv
    yield argv
    name = command.name
    if name is not None:
        plain = (Word(name, name), *argv[1:])
        yield plain
        if name == "git":
            _, subcommand, rest = split_git(plain[1:])
            if subcommand is not None:
                yield (plain[0], _GIT_ALIAS if _may_be_alias(subcommand) else subcommand, *rest)
    if command.assignments:
        yield (*as_words(command.assignments), *argv)


def _may_be_alias(subcommand: Word) -> bool:
    return subcommand.value is not None and subcommand.value not in SUBCOMMANDS


def as_words(assignments: Iterable[Assignment]) -> Iterator[Word]:
    """Variables as they stand in front of a command."""
    for item in assignments:
        text = f"{item.name}={text_of(item.value)}"
        yield Word(text, f"{item.name}={item.value.text}")


def text_of(word: Word) -> str:
    """What the program receives if that is known, else the spelling."""
    return word.text if word.value is None else word.value


def _is_known(piece: Piece) -> bool:
    return isinstance(piece, str)


def _with_gaps(words: Sequence[Word]) -> tuple[Piece, ...]:
    """The text of a command with gaps for what is not known."""
    pieces: list[Piece] = []
    for number, word in enumerate(words):
        known = word.value is not None and not word.glob
        # An unknown word may be no word at all: then the blank before it is missing too.
        if number and not (word.splits and not known):
            pieces.append(" ")
        pieces.append(text_of(word) if known else Gap.ANY)
    return tuple(pieces)
