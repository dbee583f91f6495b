"""Reading of everything that starts with `$`, a backquote, `<(` or `>(` (POSIX XCU 2.6, bash 5.2).

Quotes are read by the subclass in `quoting.py`, command lines inside substitutions by the one in `lexer.py`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from agentframework.permissions.shell.cursor import Cursor, add_literal
from agentframework.permissions.shell.tokens import Fragment, Part, Stop

_BRACED = re.compile(r"[^}$`'\"\\<>]+")
_CALCULATION = re.compile(r"[^()\[\]$`'\"\\]+")
_BACKQUOTED = re.compile(r"[^`\\]+")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HARMLESS_KEY = re.compile(r"[\w .:/-]*")
_SPECIAL_PARAMETERS = "0123456789@*#?$!-"


class ExpansionReader(Cursor, ABC):
    """Reads expansions into parts of the word they stand in."""

    @abstractmethod
    def read_commands(self, *, nested: bool) -> Fragment:
        """Read a command line up to the end of the text or, when nested, up to the `)` that closes it."""

    @abstractmethod
    def read_separately(self, text: str) -> Fragment:
        """Read a text of its own as a command line (the inside of backquotes)."""

    @abstractmethod
    def read_part(self, char: str, parts: list[Part]) -> bool:
        """Read what starts with `char` outside double quotes; False when it ends the word."""

    @abstractmethod
    def double_quoted(self, parts: list[Part]) -> None:
        """Read a string in double quotes."""

    @abstractmethod
    def ansi_c_quoted(self, start: int, parts: list[Part]) -> None:
        """Read `$'...'`, which starts at `start`."""

    def dollar(self, parts: list[Part], *, quoted: bool) -> None:
        start = self.pos
        self.pos += 1
        char = self.peek()
        self.notes.step()
        if char == "(":
            self._dollar_parenthesis(start, parts, quoted=quoted)
        elif char == "{":
            self._braced(parts, quoted=quoted)
        elif char == "[":
            self.notes.bash_only = True
            self.pos += 1
            inner = self.calculation("[", "]")
            parts.append(Part("arithmetic", self.source.text[start : self.pos], quoted, inner))
        elif char == "'" and not quoted:
            self.ansi_c_quoted(start, parts)
        elif char == '"' and not quoted:
            self.notes.bash_only = True
            self.double_quoted(parts)
        elif name := self.match(_NAME):
            parts.append(Part("parameter", name, quoted))
        elif char and char in _SPECIAL_PARAMETERS:
            self.pos += 1
            parts.append(Part("parameter", char, quoted))
        elif quoted:
            parts.append(Part("literal", "$", True))
        else:
            add_literal(parts, "$")

    def _dollar_parenthesis(self, start: int, parts: list[Part], *, quoted: bool) -> None:
        self.pos += 1
        self.notes.enter()
        if self.peek() == "(":
            self._double_parenthesis(start, parts, quoted=quoted)
        else:
            fragment = self.read_commands(nested=True)
            text = self.source.text[start : self.pos]
            parts.append(Part("command", text, quoted, commands=fragment))
        self.notes.leave()

    def _double_parenthesis(self, start: int, parts: list[Part], *, quoted: bool) -> None:
        """`$((`: arithmetic when the inner parentheses belong together, else a subshell in a substitution."""
        content, problems = self.pos, len(self.notes.problems)
        self.pos += 1
        inner = self.calculation("(", ")")
        if self.peek() == ")":
            self.pos += 1
            parts.append(Part("arithmetic", self.source.text[start : self.pos], quoted, inner))
            return
        self.calculation("(", ")")
        del self.notes.problems[problems:]
        text = self.source.text[content : self.pos - 1]
        if "$'" in text or '$"' in text:  # inside "${...}" bash loses the quotes here
            self.notes.problem("a subshell that looks like arithmetic contains a $'...' quote")
        fragment = self.read_separately(text)
        parts.append(Part("command", self.source.text[start : self.pos], quoted, commands=fragment))

    def calculation(self, opening: str, closing: str) -> tuple[Part, ...]:
        """The parts up to the closing bracket of an arithmetic expression or a subscript."""
        parts: list[Part] = []
        depth = 1
        self.notes.enter()
        while True:
            self.notes.step()
            char = self.peek()
            if not char:
                raise Stop(f"a {closing} is missing")
            if char == closing:
                depth -= 1
                if not depth:
                    break
            if char == opening:
                depth += 1
            if char in "$`'\"\\":
                self._in_calculation(char, parts)
            elif found := self.match(_CALCULATION):
                add_literal(parts, found)
            else:
                add_literal(parts, char)
                self.pos += 1
        self.pos += 1
        self.notes.leave()
        return tuple(parts)

    def _in_calculation(self, char: str, parts: list[Part]) -> None:
        doubtful = char == "\\" or self.source.text.startswith("$'", self.pos)
        self.read_part(char, parts)
        if doubtful or (char == "'" and not _HARMLESS_KEY.fullmatch(parts[-1].text)):
            self.notes.problem("an arithmetic expression or subscript contains quoted text")

    def _braced(self, parts: list[Part], *, quoted: bool) -> None:
        """`${...}` up to its closing brace."""
        self.pos += 1
        start = self.pos
        inner: list[Part] = []
        self.notes.enter()
        first = self.peek()
        if first and first in " \t\n|":
            self.notes.problem("a function substitution ${ ...; } runs commands")
        while (char := self.peek()) != "}":
            if not char:
                raise Stop("a ${ is not closed")
            self._inside_braces(char, inner, quoted=quoted)
        parts.append(Part("parameter", self.source.text[start : self.pos], quoted, tuple(inner)))
        self.pos += 1
        self.notes.leave()

    def _inside_braces(self, char: str, inner: list[Part], *, quoted: bool) -> None:
        self.notes.step()
        if found := self.match(_BRACED):
            add_literal(inner, found)
        elif char == "'" and quoted:
            # whether this quotes depends on the operator before it
            self.notes.problem("a single quote stands inside ${...} inside double quotes")
            add_literal(inner, char)
            self.pos += 1
        elif char == "$":
            if quoted and self.source.text.startswith("$'", self.pos):
                self.notes.problem("a single quote stands inside ${...} inside double quotes")
            self.dollar(inner, quoted=quoted)
        elif char == "`":
            self.backquote(inner, quoted=quoted, in_double=False)
            if quoted and '\\"' in inner[-1].text:
                self.notes.problem("a backquote stands inside ${...} inside double quotes")
        elif char in "<>" and (quoted or not self.process(inner)):
            add_literal(inner, char)
            self.pos += 1
        elif char in "'\"\\":
            self.read_part(char, inner)

    def backquote(self, parts: list[Part], *, quoted: bool, in_double: bool) -> None:
        self.notes.step()
        start = self.pos
        self.pos += 1
        removable = '$`\\"' if in_double else "$`\\"
        pieces: list[str] = []
        while (char := self.source.text[self.pos : self.pos + 1]) != "`":
            if not char:
                raise Stop("a backquote is not closed")
            if found := _BACKQUOTED.match(self.source.text, self.pos):
                pieces.append(found[0])
                self.pos = found.end()
                continue
            self.notes.step()
            following = self.source.text[self.pos + 1 : self.pos + 2]
            self.pos += 2
            if following != "\n":
                pieces.append(following if following and following in removable else "\\" + following)
        self.pos += 1
        self.notes.enter()
        fragment = self.read_separately("".join(pieces))
        self.notes.leave()
        parts.append(Part("command", self.source.text[start : self.pos], quoted, commands=fragment))

    def process(self, parts: list[Part]) -> bool:
        """`<(...)` or `>(...)`; False when the `<` or `>` does not start one."""
        start = self.pos
        self.pos += 1
        if self.peek() != "(":
            self.pos = start
            return False
        self.pos += 1
        self.notes.bash_only = True
        self.notes.enter()
        fragment = self.read_commands(nested=True)
        self.notes.leave()
        parts.append(Part("process", self.source.text[start : self.pos], commands=fragment))
        return True
