"""Wildcard patterns of rules: ``*`` stands for any text, every other character for itself.

Besides "does it match" there is "could it match": a command may hold words that are known only while it runs,
and a rule that forbids something must not be escaped through them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from functools import cached_property

_LONGEST_UNCERTAIN_TEXT = 2_000


class Match(IntEnum):
    """Whether a rule applies; MAYBE when only the running program will tell."""

    NO = 0
    MAYBE = 1
    YES = 2


class Gap(Enum):
    """Unknown text: ``ANY`` of any length, ``ONE`` a single character."""

    ANY = "any"
    ONE = "one"


Piece = str | Gap


@dataclass(frozen=True)
class Glob:
    """A pattern with ``*``. ``lines`` False keeps ``*`` from crossing a newline."""

    pattern: str
    lines: bool = True

    @cached_property
    def _parts(self) -> list[str]:
        return self.pattern.split("*")

    def matches(self, text: str) -> bool:
        """True if the whole of ``text`` fits. Takes time linear in the text for each ``*``."""
        head, *rest = self._parts
        if not rest:
            return text == head
        *middle, tail = rest
        if len(text) < len(head) + len(tail) or not text.startswith(head) or not text.endswith(tail):
            return False
        covered: list[str] = []
        at, end = len(head), len(text) - len(tail)
        for part in middle:
            found = text.find(part, at, end)
            if found < 0:
                return False
            covered.append(text[at:found])
            at = found + len(part)
        covered.append(text[at:end])
        return self.lines or not any("\n" in stretch for stretch in covered)

    def could_match(self, pieces: Sequence[Piece]) -> bool:
        """True if some text that ``pieces`` may become fits. Very long texts count as fitting."""
        tokens = _tokens(pieces)
        for expected, token in zip(self._parts[0], tokens, strict=False):
            if isinstance(token, Gap):
                break
            if token != expected:
                return False  # most patterns are for another program: no need to compare further
        if len(tokens) > _LONGEST_UNCERTAIN_TEXT:
            tokens = [*tokens[:_LONGEST_UNCERTAIN_TEXT], Gap.ANY]
        return intersect(_tokens(_pieces(self.pattern)), tokens)


def _pieces(pattern: str) -> list[Piece]:
    pieces: list[Piece] = []
    for number, part in enumerate(pattern.split("*")):
        if number:
            pieces.append(Gap.ANY)
        pieces.append(part)
    return pieces


def _tokens(pieces: Sequence[Piece]) -> list[Piece]:
    """One entry per character or gap."""
    tokens: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Gap):
            tokens.append(piece)
        else:
            tokens.extend(piece)
    return tokens


def intersect(first: Sequence[Piece], second: Sequence[Piece]) -> bool:
    """True if one text fits both patterns, given as single characters and gaps."""
    # reach[j]: first[:i] and second[:j] can have produced the same text.
    reach = [False] * (len(second) + 1)
    reach[0] = True
    for j, token in enumerate(second):
        reach[j + 1] = reach[j] and token is Gap.ANY
    for token in first:
        reach = _advance(reach, token, second)
    return reach[-1]


def _advance(reach: list[bool], token: Piece, second: Sequence[Piece]) -> list[bool]:
    following = [reach[0] and token is Gap.ANY]
    for j, other in enumerate(second):
        if token is Gap.ANY or other is Gap.ANY:
            # A gap takes nothing, or one more token of the other side.
            here = reach[j + 1] or following[j]
        else:
            here = reach[j] and (token is Gap.ONE or other is Gap.ONE or token == other)
        following.append(here)
    return following


def glob_pieces(text: str) -> list[Piece]:
    """The pieces of a shell or path wildcard: ``*``, ``?`` and ``[...]`` (any one character)."""
    pieces: list[Piece] = []
    at = 0
    while at < len(text):
        character = text[at]
        if character == "*":
            pieces.append(Gap.ANY)
        elif character == "?":
            pieces.append(Gap.ONE)
        elif character == "[" and text.find("]", at + 2) > 0:
            pieces.append(Gap.ONE)
            at = text.find("]", at + 2)
        else:
            pieces.append(character)
        at += 1
    return pieces
