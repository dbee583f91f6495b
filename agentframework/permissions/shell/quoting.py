"""Reading of single words: quotes, escapes and everything that starts with `$`, a backquote, `<(` or `>(`.

The rules are those of POSIX XCU 2.2, 2.3 and 2.6 with the additions of bash 5.2. Command lines inside
substitutions are read by the subclass that knows about statements.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod

from agentframework.permissions.shell.ansi_c import decode
from agentframework.permissions.shell.tokens import Fragment, Notes, Part, Redirect, ShellWord, Source, Stop

_BARE = re.compile(r"[^ \t\n;&|()<>$`'\"\\]+")
_WHOLE_WORD = re.compile(r"[A-Za-z0-9_./:,@%+-]+(?=[ \t\n;|])")  # the bulk of ordinary words
_DOUBLE = re.compile(r'[^"$`\\]+')
_HEREDOC = re.compile(r"[^$`\\]+")
_BRACED = re.compile(r"[^}$`'\"\\<>]+")
_CALCULATION = re.compile(r"[^()\[\]$`'\"\\]+")
_BACKQUOTED = re.compile(r"[^`\\]+")
_ANSI_C = re.compile(r"(?:[^'\\]|\\.)*", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SUBSCRIPTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\[")
_ARRAY_PREFIX = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_BLANKS = re.compile(r"[ \t\n]+")
_HARMLESS_KEY = re.compile(r"[\w .:/-]*")
_SPECIAL_PARAMETERS = "0123456789@*#?$!-"


class WordReader(ABC):
    """A cursor over shell text; the text is shared with the tokens that are cut from it."""

    def __init__(self, text: str, notes: Notes) -> None:
        self.source = Source(text)
        self.pos = 0
        self.notes = notes
        self.pending: list[Redirect] = []  # here-documents whose bodies start after the next newline

    @abstractmethod
    def read_commands(self, *, nested: bool) -> Fragment:
        """Read a command line up to the end of the text or, when nested, up to the `)` that closes it."""

    @abstractmethod
    def read_separately(self, text: str) -> Fragment:
        """Read a text of its own as a command line (the inside of backquotes)."""

    # -- the cursor ----------------------------------------------------------------------------------------

    def peek(self) -> str:
        """The next character, "" at the end; a backslash-newline in front of it is taken out of the text."""
        text, pos = self.source.text, self.pos
        while text.startswith("\\\n", pos):
            text = self._join(pos)
        return text[pos : pos + 1]

    def match(self, pattern: re.Pattern[str]) -> str:
        """Step over what `pattern` matches here, across line continuations; "" when it does not match."""
        while True:
            found = pattern.match(self.source.text, self.pos)
            if found is None:
                return ""
            if not self.source.text.startswith("\\\n", found.end()):
                self.pos = found.end()
                return found[0]
            self._join(found.end())

    def _join(self, pos: int) -> str:
        self.notes.step(1 + len(self.source.text) // 10_000)
        text = self.source.text
        self.source.text = text = text[:pos] + text[pos + 2 :]
        return text

    def skip_lines(self) -> None:
        """Step over blanks and newlines inside brackets that may hold several lines."""
        if "\n" in self.match(_BLANKS) and self.pending:
            raise Stop("a here-document starts inside brackets")

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
            elif not self._read_part(char, parts):
                break
            char = self.peek()
        if self.pos == start:
            return None
        return ShellWord(start, self.pos, self.source.text[start : self.pos], tuple(parts))

    def _read_part(self, char: str, parts: list[Part]) -> bool:
        if char == "'":
            self._single(parts)
        elif char == '"':
            self._double(parts)
        elif char == "\\":
            self._escape(parts)
        elif char == "$":
            self._dollar(parts, quoted=False)
        elif char == "`":
            self._backquote(parts, quoted=False, in_double=False)
        elif char in "<>":
            return self._process(parts)
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

    def _double(self, parts: list[Part]) -> None:
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
            self._dollar(parts, quoted=True)
        elif char == "`":
            self._backquote(parts, quoted=True, in_double=plain is _DOUBLE)
        elif char == "\\":
            following = self.source.text[self.pos + 1 : self.pos + 2]
            value = following if following and following in escapable else char + following
            parts.append(Part("literal", value, True))
            self.pos += 1 + len(following)
        else:
            parts.append(Part("literal", self.match(plain), True))

    # -- expansions ----------------------------------------------------------------------------------------

    def _dollar(self, parts: list[Part], *, quoted: bool) -> None:
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
            inner = self._calculation("[", "]")
            parts.append(Part("arithmetic", self.source.text[start : self.pos], quoted, inner))
        elif char == "'" and not quoted:
            self._ansi_c(start, parts)
        elif char == '"' and not quoted:
            self.notes.bash_only = True
            self._double(parts)
        elif name := self.match(_NAME):
            parts.append(Part("parameter", name, quoted))
        elif char and char in _SPECIAL_PARAMETERS:
            self.pos += 1
            parts.append(Part("parameter", char, quoted))
        elif quoted:
            parts.append(Part("literal", "$", True))
        else:
            add_literal(parts, "$")

    def _ansi_c(self, start: int, parts: list[Part]) -> None:
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
        inner = self._calculation("(", ")")
        if self.peek() == ")":
            self.pos += 1
            parts.append(Part("arithmetic", self.source.text[start : self.pos], quoted, inner))
            return
        self._calculation("(", ")")
        del self.notes.problems[problems:]
        fragment = self.read_separately(self.source.text[content : self.pos - 1])
        parts.append(Part("command", self.source.text[start : self.pos], quoted, commands=fragment))

    def _calculation(self, opening: str, closing: str) -> tuple[Part, ...]:
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
        self._read_part(char, parts)
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
            self._dollar(inner, quoted=quoted)
        elif char == "`":
            self._backquote(inner, quoted=quoted, in_double=False)
            if quoted and '\\"' in inner[-1].text:
                self.notes.problem("a backquote stands inside ${...} inside double quotes")
        elif char in "<>" and (quoted or not self._process(inner)):
            add_literal(inner, char)
            self.pos += 1
        elif char in "'\"\\":
            self._read_part(char, inner)

    def _backquote(self, parts: list[Part], *, quoted: bool, in_double: bool) -> None:
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

    def _process(self, parts: list[Part]) -> bool:
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

    # -- arrays --------------------------------------------------------------------------------------------

    def _subscript(self) -> Part:
        start = self.pos - 1
        inner = self._calculation("[", "]")
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


def add_literal(parts: list[Part], text: str) -> None:
    """Append unquoted text, merging it with unquoted text before it (they are one token for the shell)."""
    if not text:
        return
    if parts and parts[-1].kind == "literal" and not parts[-1].quoted:
        text = parts.pop().text + text
    parts.append(Part("literal", text))
