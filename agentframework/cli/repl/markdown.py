"""A reply's Markdown while it streams: what is finished is rendered once, only the tail again and again.

Rendering costs time in proportion to the text, so a reply that is rendered anew with every piece costs the square
of its length. A block is finished when another one has begun behind it: appended lines can only change the last
open block (CommonMark 0.31, "Phase 1: block structure"). Above: the transcript. Below: rich and its parser.
"""

from collections.abc import Iterable
from typing import Any, ClassVar

from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, HorizontalRule, Markdown, MarkdownElement
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from agentframework.cli.view_text import visible

# Of a long open block only so many lines are rendered while it grows.
TAIL_LINES = 40
_FENCES = ("```", "~~~")

_THEME = Theme(
    {
        "markdown.code": "cyan",
        "markdown.h1": "bold underline",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.link": "underline",
        "markdown.link_url": "dim",
        "markdown.block_quote": "dim",
        "markdown.item.bullet": "dim",
        "markdown.item.number": "dim",
        "markdown.hr": "dim",
    }
)


class _Heading(Heading):
    """Left-aligned at every level."""

    LEVEL_ALIGN: ClassVar[dict[str, Any]] = {}


class _Code(CodeBlock):
    """Indented, in the terminal's own colours, without a background to be copied along."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        syntax = Syntax(code, self.lexer_name, theme="ansi_dark", word_wrap=True, background_color="default")
        yield Padding(syntax, (0, 0, 0, 4 if options.max_width > 50 else 2))


class _Rule(HorizontalRule):
    """Short: a line as wide as the window breaks when the window shrinks."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text("-" * min(20, options.max_width), console.get_style("markdown.hr"))


class _Document(Markdown):
    """Markdown in which HTML is text like any other; rich would leave it out."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "html_block": _Code,
        "hr": _Rule,
    }

    def __init__(self, source: str) -> None:
        super().__init__(source, hyperlinks=False)
        for token in self.parsed:
            for child in token.children or ():
                if child.type == "html_inline":
                    child.type = "text"


def rendered_lines(source: str, console: Console) -> list[str]:
    """``source`` as lines for a terminal as wide as ``console``, with its colours, without trailing blanks.

    Control characters are written out. No blank lines before or after; none at all for blank source.
    """
    if not source.strip():
        return []
    with console.use_theme(_THEME):
        rows = console.render_lines(_Document(visible(source)), pad=False)
        segments: list[Segment] = []
        for row in rows:
            segments.extend(_without_trailing_blanks(row))
            segments.append(Segment.line())
        with console.capture() as capture:
            console.print(Segments(segments), soft_wrap=True, end="")
    return capture.get().strip("\n").split("\n")


def _without_trailing_blanks(row: Iterable[Segment]) -> list[Segment]:
    kept = list(row)
    while kept:
        text, style, _control = kept.pop()
        text = text.rstrip()
        if text:
            return [*kept, Segment(text, style)]
    return kept


class ReplyText:
    """The text of one reply as it arrives. Sources of blocks come out of `take_finished` exactly once."""

    def __init__(self) -> None:
        self._pending = ""
        self._looked_at = 0

    def __bool__(self) -> bool:
        return bool(self._pending.strip())

    def feed(self, text: str) -> None:
        """A further piece."""
        self._pending += text

    def take_finished(self) -> str:
        """The source of all blocks that cannot change any more, or nothing."""
        whole_lines = self._pending.rfind("\n") + 1
        if whole_lines <= self._looked_at:
            return ""
        start = _start_of_last_block(self._pending[:whole_lines])
        self._looked_at = whole_lines
        if start == 0:
            return ""
        cut = _offset_of_line(self._pending, start)
        finished, self._pending = self._pending[:cut], self._pending[cut:]
        self._looked_at -= cut
        return finished

    def tail(self) -> str:
        """The source of the open block; of a very long one its end."""
        lines = self._pending.rstrip("\r").split("\n")
        if len(lines) <= TAIL_LINES:
            return "\n".join(lines)
        opening = [lines[0]] if lines[0].startswith(_FENCES) else []
        return "\n".join([*opening, *lines[-TAIL_LINES:]])

    def end(self) -> str:
        """The source of all that is left; the next piece begins a new reply."""
        rest, self._pending, self._looked_at = self._pending, "", 0
        return rest


def _start_of_last_block(source: str) -> int:
    """The line, from 0, in which the last block begins."""
    # Made visible, since the parser takes a lone carriage return for the end of a line.
    tokens = Markdown(visible(source)).parsed
    starts = [token.map[0] for token in tokens if token.level == 0 and token.map]
    return starts[-1] if starts else 0


def _offset_of_line(text: str, line: int) -> int:
    offset = 0
    for _ in range(line):
        offset = text.index("\n", offset) + 1
    return offset
