"""Reading of single words with their quotes and escapes (POSIX XCU 2.2 and 2.3, bash 5.2)."""

from __future__ import annotations

import re

from agentframework.permissions.shell.ansi_c import decode
from agentframework.permissions.shell.cursor import add_literal
from agentframework.permissions.shell.expansions import ExpansionReader
from agentframework.permissions.shell.tokens import Part, ShellWord, Stop

_BARE = re.compile(r"[^ \t\n;&|()<>$`'\"\\]+")
_WHOLE_WORD = re.compile(r"[A-Za-z0-9_./:,@%+-]+(?=[ \t\n;|])")  # the bulk of ordinary words
_DOUBLE = re.compile(r'[^"$`\\]+')
_HEREDOC = re.compile(r"[^$`\\]+")
_ANSI_C = re.compile(r"(?:[^'\\]|\\.)*", re.DOTALL)
_SUBSCRIPTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_ARRAY_PREFIX = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")


class WordReader(ExpansionReader):
    """Reads words, array literals and the bodies of here-documents."""

    # -- words ---------------------------------------------------------------------------------------------

    def read_word(self, *, assignable: bool = False) -> ShellWord | None:
        """The word that starts here, None at a blank, an operator or the end."""
        self.notes.step()
        char, start = self.peek(), self.pos
        if found := _WHOLE_WORD.match(self.source.text, start):
            self.pos = found.end()
            return ShellWord(start, self.pos, found[0], (Part("literal", found[0]),))
        parts: list[Part] = []
        if assignable and self.match(_SUBSCRIPTED):
            add_literal(parts, self.source.text[start : self.pos - 1])
            parts.append(self._subscript())
            char = self.peek()
        while char:
            if char == "(" and self._starts_array(start):
                parts.append(self._array())
            elif not self.read_part(char, parts):
                break
            char = self.peek()
        if self.pos == start:
            return None
        return ShellWord(start, self.pos, self.source.text[start : self.pos], tuple(parts))

    def read_part(self, char: str, parts: list[Part]) -> bool:
        if char == "'":
            self._single(parts)
        elif char == '"':
            self.double_quoted(parts)
        elif char == "\\":
            self._escape(parts)
        elif char == "$":
            self.dollar(parts, quoted=False)
        elif char == "`":
            self.backquote(parts, quoted=False, in_double=False)
        elif char in "<>":
            return self.process(parts)
        else:
            found = self.match(_BARE)
            add_literal(parts, found)
            brace = "{" in found and found.replace("{}", "")
            if brace and (brace != "{" or self.peek() not in (" ", "\t", "\n")):
                self.notes.bash_only = True  # bash may expand these braces, other shells leave them alone
            return bool(found)
        return True

    def _starts_array(self, start: int) -> bool:
        text = self.source.text
        if self.pos == start or text[self.pos - 1] != "=":
            return False
        return bool(_ARRAY_PREFIX.fullmatch(text, start, self.pos))

    def _single(self, parts: list[Part]) -> None:
        self.notes.step()
        end = self.source.text.find("'", self.pos + 1)
        if end < 0:
            raise Stop("a single quote is not closed")
        parts.append(Part("literal", self.source.text[self.pos + 1 : end], True))
        self.pos = end + 1

    def _escape(self, parts: list[Part]) -> None:
        self.notes.step()
        self.pos += 2
        parts.append(Part("literal", self.source.text[self.pos - 1 : self.pos] or "\\", True))
        self.pos = min(self.pos, len(self.source.text))

    def double_quoted(self, parts: list[Part]) -> None:
        self.pos += 1
        self.notes.enter()
        parts.append(Part("literal", "", True))
        while (char := self.peek()) != '"':
            if not char:
                raise Stop("a double quote is not closed")
            self._inside_double(char, parts, _DOUBLE, '$`"\\')
        self.pos += 1
        self.notes.leave()

    def read_heredoc_body(self) -> tuple[Part, ...]:
        """The parts of the body of a here-document whose delimiter is not quoted."""
        parts: list[Part] = []
        while char := self.peek():
            self._inside_double(char, parts, _HEREDOC, "$`\\")
        return tuple(parts)

    def _inside_double(self, char: str, parts: list[Part], plain: re.Pattern[str], escapable: str) -> None:
        self.notes.step()
        if char == "$":
            self.dollar(parts, quoted=True)
        elif char == "`":
            self.backquote(parts, quoted=True, in_double=plain is _DOUBLE)
        elif char == "\\":
            following = self.source.text[self.pos + 1 : self.pos + 2]
            value = following if following and following in escapable else char + following
            parts.append(Part("literal", value, True))
            self.pos += 1 + len(following)
        else:
            parts.append(Part("literal", self.match(plain), True))

    def ansi_c_quoted(self, start: int, parts: list[Part]) -> None:
        self.notes.bash_only = True
        found = _ANSI_C.match(self.source.text, self.pos + 1)
        end = found.end() if found else self.pos + 1
        if not self.source.text.startswith("'", end):
            raise Stop("a $'...' quote is not closed")
        value = decode(self.source.text[self.pos + 1 : end])
        self.pos = end + 1
        if value is None:
            parts.append(Part("unknown", self.source.text[start : self.pos], True))
        else:
            parts.append(Part("literal", value, True))

    # -- arrays --------------------------------------------------------------------------------------------

    def _subscript(self) -> Part:
        start = self.pos - 1
        inner = self.calculation("[", "]")
        return Part("subscript", self.source.text[start : self.pos], parts=inner)

    def _array(self) -> Part:
        """The parenthesised list of `name=( ... )`."""
        start = self.pos
        self.pos += 1
        self.notes.bash_only = True
        self.notes.enter()
        inner: list[Part] = []
        while (char := self.peek()) != ")":
            if char == "#":
                end = self.source.text.find("\n", self.pos)
                self.pos = len(self.source.text) if end < 0 else end
            elif char == "[":
                self.pos += 1
                inner.append(self._subscript())
            elif char and char in " \t\n":
                self.skip_lines()
            elif word := self.read_word():
                inner.extend(word.parts)
            else:
                raise Stop("an array literal is not closed")
        self.pos += 1
        self.notes.leave()
        return Part("array", self.source.text[start : self.pos], parts=tuple(inner))
