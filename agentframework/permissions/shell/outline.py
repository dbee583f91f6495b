"""The structure of a fragment, as tree-sitter-bash sees it.

The grammar gets an outline instead of the text: every word is an `x`, reserved words and operators stay,
newlines that end a command become `;`, redirections are left out. What the grammar is known to misread can
then not reach it, its positions lead back to our tokens, and the outline is small whatever the words hold.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from agentframework.permissions.shell.lexer import CLOSING, OPENING, RESERVED
from agentframework.permissions.shell.tokens import Expression, Fragment, Keyword, Operator, Redirect, ShellWord, Token

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

PREFIXES = frozenset({"time", "!", "coproc"})
_KNOWN = RESERVED | {"in"}
_LEFT_OUT_IN_PATTERNS = frozenset({"(", "|"})
_ENDS = CLOSING | {"x", ")"}
_MAY_FOLLOW_AT_ONCE = frozenset({"then", "do", "done", "fi", "else", "elif", "esac", "}"})


@lru_cache(maxsize=1)
def _parser_factory() -> Callable[[], Parser]:
    """Makes parsers: they cost next to nothing, and one must not be used by two threads at once."""
    import tree_sitter_bash  # noqa: PLC0415
    from tree_sitter import Language, Parser  # noqa: PLC0415

    return partial(Parser, Language(tree_sitter_bash.language()))


class Outline:
    """The syntax tree of one fragment, with the way back from its nodes to the tokens."""

    def __init__(self, fragment: Fragment) -> None:
        self.tokens = fragment.tokens
        self.source = fragment.source
        self._text: list[str] = []
        self._starts: list[int] = []  # where each glyph starts in the outline
        self._owners: list[int] = []  # and the token it stands for
        self._length = 0
        self._last = ""  # the glyph drawn last
        for index, token in enumerate(self.tokens):
            self._draw(index, token)
        tree = _parser_factory()().parse("".join(self._text).encode())
        self.root: Node = tree.root_node

    def span(self, node: Node) -> tuple[int, int]:
        """The tokens `node` covers: index of the first, index after the last."""
        first = bisect_left(self._starts, node.start_byte)
        last = bisect_left(self._starts, node.end_byte)
        if first >= last:
            return len(self.tokens), len(self.tokens)
        return self._owners[first], self._owners[last - 1] + 1

    def _put(self, index: int, glyph: str) -> None:
        self._starts.append(self._length)
        self._owners.append(index)
        self._insert(glyph)

    def _insert(self, glyph: str) -> None:
        self._last = glyph
        self._text.append(glyph + " ")
        self._length += len(glyph) + 1

    def _draw(self, index: int, token: Token) -> None:
        match token:
            case ShellWord():
                if not (token.pattern and self._after_pattern(index)):
                    self._put(index, "x")
            case Operator(text="\n"):
                if not token.pattern and self._ends_command(index):
                    self._put(index, ";")
            case Operator():
                if not (token.pattern and token.text in _LEFT_OUT_IN_PATTERNS):
                    self._put(index, token.text)
            case Keyword():
                self._draw_keyword(index, token)
            case Expression():
                self._put(index, "x")
            case Redirect():
                if self._stands_alone(index):
                    self._put(index, "x")

    def _ends_command(self, index: int) -> bool:
        """Whether a newline is more than a blank; the grammar sometimes loses those that are."""
        if self._last not in _ENDS or not self._owners or self._is_head(self._owners[-1]):
            return False
        while index < len(self.tokens) and isinstance(self.tokens[index], Operator):
            index += 1
        after = self.tokens[index] if index < len(self.tokens) else None
        return not (isinstance(after, Keyword) and after.text == "in")

    def _is_head(self, index: int) -> bool:
        """True for the end of a pattern or of the head of a function: a body follows."""
        token = self.tokens[index]
        before = self.tokens[index - 1] if index else None
        if isinstance(token, Keyword):
            return False
        if isinstance(token, Operator):
            return token.pattern or (isinstance(before, Operator) and before.text == "(")
        return isinstance(before, Keyword) and before.text == "function"

    def _after_pattern(self, index: int) -> bool:
        previous = self.tokens[index - 1]
        return isinstance(previous, Operator) and previous.pattern and previous.text in ("|", "\n")

    def _draw_keyword(self, index: int, token: Keyword) -> None:
        previous = self.tokens[index - 1] if index else None
        if token.text in PREFIXES or token.text not in _KNOWN:
            return  # `time`, `!`, `coproc`, and the options or the name that belong to them
        if token.text in _MAY_FOLLOW_AT_ONCE and self._needs_separator(index, previous):
            self._insert(";")
        self._put(index, token.text)
        if token.text == "in" and self._empty_list(index):
            self._insert("x")

    def _needs_separator(self, index: int, previous: Token | None) -> bool:
        """bash lets a reserved word follow the end of a compound command at once, the grammar does not."""
        match previous:
            case Keyword():
                return previous.text in CLOSING
            case Operator():
                return previous.text == ")" and not previous.pattern
            case Expression():
                return True
            case ShellWord():
                before = self.tokens[index - 2] if index > 1 else None
                return isinstance(before, Keyword) and before.text in ("for", "select")
            case _:
                return False

    def _empty_list(self, index: int) -> bool:
        """True for the `in` of a `for` that lists nothing."""
        following = self.tokens[index + 1] if index + 1 < len(self.tokens) else None
        if not isinstance(following, Operator) or following.text not in (";", "\n"):
            return False
        opening = self.tokens[index - 2] if index > 1 else None
        return isinstance(opening, Keyword) and opening.text in ("for", "select")

    def _stands_alone(self, index: int) -> bool:
        """True for the first redirection of a command that has no words."""
        previous = self.tokens[index - 1] if index else None
        if isinstance(previous, Operator):
            begins = previous.text != ")" or previous.pattern
        else:
            begins = previous is None or (isinstance(previous, Keyword) and previous.text in OPENING)
        if not begins:
            return False
        while index < len(self.tokens) and isinstance(self.tokens[index], Redirect):
            index += 1
        return index == len(self.tokens) or not isinstance(self.tokens[index], ShellWord)
