"""A cursor over shell text that takes line continuations out as it goes (POSIX XCU 2.2.1)."""

from __future__ import annotations

import re

from agentframework.permissions.shell.tokens import Notes, Part, Redirect, Source, Stop

_BLANKS = re.compile(r"[ \t\n]+")


class Cursor:
    """Where reading stands; the text is shared with the tokens that are cut from it."""

    def __init__(self, text: str, notes: Notes) -> None:
        self.source = Source(text)
        self.pos = 0
        self.notes = notes
        self.pending: list[Redirect] = []  # here-documents whose bodies start after the next newline

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


def add_literal(parts: list[Part], text: str) -> None:
    """Append unquoted text, merging it with unquoted text before it (they are one token for the shell)."""
    if not text:
        return
    if parts and parts[-1].kind == "literal" and not parts[-1].quoted:
        text = parts.pop().text + text
    parts.append(Part("literal", text))
