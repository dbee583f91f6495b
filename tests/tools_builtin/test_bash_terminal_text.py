"""What is left of a program's bytes once they are text for a model."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools_builtin._kept_text import KeptText
from tools_builtin._terminal_text import MAX_HELD_BACK, TerminalText, shown


def _in_pieces(data: bytes, size: int) -> str:
    terminal = TerminalText()
    pieces = [terminal.feed(data[at : at + size]) for at in range(0, len(data), size)]
    return "".join(pieces) + terminal.finish()


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07shown", "shown"),
        ("\x1b]8;;http://x.test/\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice control\x1b\\after", "after"),
        ("\x9b31mred\x9b0m", "red"),
        ("bold\x1b(B\x1b[m\x0f end", "bold end"),
        ("10%\r50%\r100%", "100%"),
        ("long line\rX", "Xong line"),
        ("downloading 5 MB\r\x1b[Kdone", "done"),
        ("downloading 5 MB\x1b[2K\rdone", "done"),
        ("windows\r\nlines\r\n", "windows\nlines\n"),
        ("passwort\bd", "password"),
        ("\b\bstart", "start"),
        ("bell\x07", "bell"),
        ("a\x00b", "a\\x00b"),
        ("a\x0b\bd", "ad"),
        ("\x1b]never ends", "never ends"),
        ("cut off \x1b[", "cut off "),
        ("tab\tstays", "tab\tstays"),
    ],
)
def test_text_is_what_a_terminal_would_show(raw: str, text: str) -> None:
    assert shown(raw) == text
    assert _in_pieces(raw.encode(), 1) == text


@pytest.mark.parametrize("size", [1, 2, 3, 4095, 4096])
def test_characters_survive_any_cut_of_the_bytes(size: int) -> None:
    text = "日" * 3000 + "\n" + "🙂" * 2000 + "\n"
    assert _in_pieces(text.encode(), size) == text


@pytest.mark.parametrize(
    ("raw", "text"),
    [(b"\xf0", "\ufffd"), (b"caf\xe9\n", "caf\ufffd\n"), (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd")],
)
def test_bytes_that_are_no_utf8_become_replacement_characters(raw: bytes, text: str) -> None:
    assert _in_pieces(raw, 1) == text


@given(st.binary(max_size=400), st.integers(1, 7))
def test_any_bytes_give_printable_text_of_strict_json(data: bytes, size: int) -> None:
    text = _in_pieces(data, size)
    json.dumps(text).encode()
    text.encode()
    assert all(character in "\n\t" or not character < " " for character in text)
    assert not any("\x7f" <= character <= "\x9f" for character in text)


@given(st.text(st.sampled_from("ab\r\b\n\x1b[K2m]\x07é日"), max_size=120), st.integers(1, 9))
def test_the_cut_of_the_stream_does_not_change_the_text(raw: str, size: int) -> None:
    data = raw.encode()
    assert _in_pieces(data, size) == _in_pieces(data, max(1, len(data)))


def test_a_line_without_end_is_passed_on_and_not_hoarded() -> None:
    terminal = TerminalText()
    first = terminal.feed(b"x" * 1_000_000)
    assert len(first) >= 1_000_000 - MAX_HELD_BACK
    assert len(first) + len(terminal.finish()) == 1_000_000


def test_a_sequence_at_the_cut_of_an_overlong_line_stays_whole() -> None:
    terminal = TerminalText()
    first = terminal.feed(b"x" * MAX_HELD_BACK + b"\x1b[3")
    assert first + terminal.feed(b"1mred\n") == "x" * MAX_HELD_BACK + "red\n"


def test_text_within_the_limit_is_kept_whole() -> None:
    kept = KeptText()
    for number in range(2900):
        kept.add(f"line {number:04}\n")
    assert kept.render(30_000) == "".join(f"line {number:04}\n" for number in range(2900))


@given(st.lists(st.text("ab\n", max_size=30), max_size=40), st.integers(100, 400))
def test_what_is_left_out_is_counted(pieces: list[str], limit: int) -> None:
    kept = KeptText(head=150, tail=120)
    for piece in pieces:
        kept.add(piece)
    whole = "".join(pieces)
    rendered = kept.render(limit)
    assert len(rendered) <= limit
    assert kept.total == len(whole)
    head, note, rest = rendered.partition("\n\n[... ")
    if not note:
        assert rendered == whole
        return
    counts, _, tail = rest.partition(" left out ...]\n\n")
    characters, lines = (int(word.strip("(")) for word in counts.split()[::2])
    left_out = whole[len(head) : len(whole) - len(tail)]
    assert whole == head + left_out + tail
    assert (characters, lines) == (len(left_out), left_out.count("\n"))
