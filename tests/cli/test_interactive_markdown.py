from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from agentframework.cli.repl.markdown import TAIL_LINES, ReplyText, rendered_lines

SAMPLE = """# Title

A paragraph of
two lines.

1. one

2. two
   - nested

```python
def f():

    return 1
```

| a | b |
|---|---|
| 1 | 2 |

> quote

<details>
text
</details>

Setext
------

last line"""


def console(width: int = 60) -> Console:
    return Console(file=StringIO(), width=width, force_terminal=False, highlight=False)


def shown(source: str, width: int = 60) -> list[str]:
    return rendered_lines(source, console(width))


def pieces(source: str, size: int) -> tuple[list[str], str]:
    """Blocks that came out while ``source`` arrived, and what was left at the end."""
    reply = ReplyText()
    blocks: list[str] = []
    for start in range(0, len(source), size):
        reply.feed(source[start : start + size])
        finished = reply.take_finished()
        if finished:
            blocks.append(finished)
    return blocks, reply.end()


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_blocks_come_out_once_and_in_order(size: int) -> None:
    blocks, rest = pieces(SAMPLE, size)
    assert "".join(blocks) + rest == SAMPLE


def test_only_the_last_block_is_held_back() -> None:
    blocks, rest = pieces(SAMPLE, 1)
    assert rest == "Setext\n------\n\nlast line"
    assert len(blocks) == 7
    assert any(block.startswith("```python") and block.rstrip().endswith("```") for block in blocks)
    assert any(block.startswith("1. one") and "nested" in block for block in blocks)


def test_rendered_by_blocks_the_text_is_the_same_as_rendered_whole() -> None:
    blocks, rest = pieces(SAMPLE, 1)
    by_blocks = [line for block in [*blocks, rest] for line in shown(block) if line]
    assert by_blocks == [line for line in shown(SAMPLE) if line]


@given(st.text(alphabet="a *_`#>-1.|\n\r\\<[]()~日", max_size=120), st.integers(1, 9))
def test_nothing_is_lost_however_the_text_is_cut(source: str, size: int) -> None:
    blocks, rest = pieces(source, size)
    whole = ReplyText()
    whole.feed(source)
    assert "".join(blocks) + rest == whole.end()


def test_the_tail_of_a_long_block_is_bounded_and_keeps_its_fence() -> None:
    reply = ReplyText()
    reply.feed("```python\n" + "".join(f"x{number} = 1\n" for number in range(5_000)))
    assert reply.take_finished() == ""
    tail = reply.tail().split("\n")
    assert tail[0] == "```python"
    assert len(tail) == TAIL_LINES + 1
    assert tail[-2] == "x4999 = 1"


def test_a_half_line_end_is_not_shown_as_a_control_character() -> None:
    reply = ReplyText()
    reply.feed("one\r")
    assert reply.tail() == "one"
    reply.feed("\ntwo")
    assert shown(reply.end()) == ["one two"]


def test_control_characters_are_written_out() -> None:
    assert shown("a \x1b[31m b") == ["a \\x1b[31m b"]


def test_html_is_shown_as_text() -> None:
    assert shown("a <b>bold</b> word") == ["a <b>bold</b> word"]
    assert [line.strip() for line in shown("<div>\nkept\n</div>")] == ["<div>", "kept", "</div>"]


def test_headings_stand_at_the_left() -> None:
    assert shown("# One\n\n## Two") == ["One", "", "Two"]


def test_links_show_where_they_lead() -> None:
    assert shown("[here](https://example.org/x)") == ["here (https://example.org/x)"]


@pytest.mark.parametrize("width", [12, 40, 80])
def test_no_line_is_wider_than_the_window_or_ends_in_blanks(width: int) -> None:
    lines = shown(SAMPLE + "\n\n" + "日本語の文章です。" * 20 + "\n\n---\n\n" + "```\n" + "x" * 200 + "\n```", width)
    assert [line for line in lines if cell_len(line) > width or line != line.rstrip()] == []


def test_blank_text_is_no_line() -> None:
    assert shown(" \n\n ") == []
