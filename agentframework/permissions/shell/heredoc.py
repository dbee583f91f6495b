"""Here-documents: cutting their bodies out of the lines that follow the operator.

POSIX XCU 2.7.4: bodies are read in the order of their operators, a quoted delimiter makes the body plain data,
`<<-` strips leading tabs. In a body that is expanded a backslash-newline joins lines before they are compared
with the delimiter, as bash 5.2 does.
"""

from __future__ import annotations

from agentframework.permissions.shell.tokens import Notes, Part, Redirect


def delimiter(redirect: Redirect) -> tuple[str, bool] | None:
    """The delimiter and whether it is quoted; None when it holds an expansion."""
    word = redirect.target
    text = word.literal
    if text is None or "\n" in text:
        return None
    return text, any(part.quoted for part in word.parts)


def read_body(text: str, pos: int, redirect: Redirect, notes: Notes, *, nested: bool) -> tuple[str, bool, int]:
    """The body that starts at `pos`, whether it is to be expanded, and where the text goes on."""
    found = delimiter(redirect)
    if found is None:
        notes.problem("the delimiter of a here-document cannot be read")
        return "", False, pos
    end_mark, quoted = found
    strip = redirect.operator == "<<-"
    lines: list[str] = []
    while pos < len(text):
        line, pos, ended = _logical_line(text, pos, joined=not quoted)
        if strip:
            line = line.lstrip("\t")
        if line == end_mark:
            return "".join(lines), not quoted, pos
        if nested and line.startswith(end_mark) and ")" in line[len(end_mark) :]:
            notes.problem("a here-document ends on the line that closes its substitution")
        lines.append(line + "\n" if ended else line)
    notes.problem("a here-document is not ended")
    return "".join(lines), not quoted, pos


def _logical_line(text: str, pos: int, *, joined: bool) -> tuple[str, int, bool]:
    """The line at `pos`, where the next one starts, and whether a newline ended it."""
    pieces: list[str] = []
    while True:
        end = text.find("\n", pos)
        line = text[pos:] if end < 0 else text[pos:end]
        pos = len(text) if end < 0 else end + 1
        if joined and end >= 0 and (len(line) - len(line.rstrip("\\"))) % 2:
            pieces.append(line[:-1])
            continue
        pieces.append(line)
        return "".join(pieces), pos, end >= 0


def literal_body(body: tuple[Part, ...]) -> str | None:
    """The body's text when nothing in it is expanded, else None."""
    if all(part.kind == "literal" for part in body):
        return "".join(part.text for part in body)
    return None
