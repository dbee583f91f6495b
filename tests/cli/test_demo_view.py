import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentframework.cli.output import BrokenOutputError
from agentframework.cli.view import Screen, SessionView
from agentframework.cli.view_text import WordFlow, one_line, visible
from agentframework.events import Diff, DiffLine, PermissionRequest, ToolEnd, ToolStart


class Paper:
    """Collects what a screen writes."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, data: bytes) -> None:
        self.text += data.decode()


@pytest.fixture
def paper() -> Paper:
    return Paper()


@pytest.fixture
def screen(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("COLUMNS", "40")
    return Screen(plain=True, write=paper.write)


def request(**arguments: object) -> PermissionRequest:
    return PermissionRequest("s", "t", 1, 0.0, "p1", "Bash", arguments, "c1", "why", (), None)


def start(id: str, name: str, first: str) -> ToolStart:
    return ToolStart("s", "t", 1, 0.0, id, name, {}, first)


def end(id: str, name: str, first: str, result: str, diff: Diff | None = None) -> ToolEnd:
    return ToolEnd("s", "t", 1, 0.0, id, name, {}, first, "success", result, 10.0, diff)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("a\rb", r"a\x0db"),
        ("a\r\nb\tc", "a\nb    c"),
        ("\u202egpj.exe", r"\u202egpj.exe"),
        ("\x9b1m", r"\x9b1m"),
        ("\ud800", r"\ud800"),
        ("Zwölf 日本 🙂", "Zwölf 日本 🙂"),
    ],
)
def test_nothing_that_steers_a_terminal_gets_through(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_call_is_one_line() -> None:
    assert one_line("a\n  b\x1b\tc ") == r"a b\x1b c"


@given(st.lists(st.text(alphabet="ab \n日", max_size=12)), st.integers(2, 12))
def test_flowing_text_keeps_its_words_and_the_width(pieces: list[str], width: int) -> None:
    flow = WordFlow(lambda: width)
    written = "".join(flow.feed(piece) for piece in pieces) + flow.finish()
    whole = "".join(pieces)
    assert written.split() == whole.split()
    assert re.sub(r"[ \n]", "", written) == re.sub(r"[ \n]", "", whole)
    longest = max((len(word) for word in whole.split()), default=0)
    for line in written.split("\n"):
        if longest <= width:
            assert len(line) <= width or line.isspace() or len(line.strip()) <= width
    assert not flow.started


@given(st.text(alphabet="ab \n", max_size=60), st.data())
def test_flowing_text_looks_the_same_however_it_is_cut(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    whole, parts = WordFlow(lambda: 10), WordFlow(lambda: 10)
    assert whole.feed(text) + whole.finish() == parts.feed(text[:cut]) + parts.feed(text[cut:]) + parts.finish()


def test_streamed_text_is_broken_between_words(screen: Screen, paper: Paper) -> None:
    for piece in ("This is a sen", "tence that is longer than", " a line of forty columns."):
        screen.text(piece)
    screen.end_text()
    assert paper.text == "This is a sentence that is longer than a\nline of forty columns.\n"


def test_a_line_ends_the_text_before_it(screen: Screen, paper: Paper) -> None:
    screen.text("Half a sen")
    screen.line("[interrupted]")
    assert paper.text == "Half a sen\n[interrupted]\n"


def test_a_long_command_is_shown_whole_before_it_is_allowed(screen: Screen, paper: Paper) -> None:
    command = "echo " + "x" * 100 + "; rm -rf important"
    SessionView(screen).permission(request(command=command))
    assert re.sub(r"\s", "", command) in re.sub(r"\s", "", paper.text)
    assert max(len(line) for line in paper.text.splitlines()) <= 40


def test_an_argument_too_long_to_show_says_so(screen: Screen, paper: Paper) -> None:
    SessionView(screen).permission(request(content="x" * 5_000))
    assert "[... 5000 characters in all]" in " ".join(paper.text.split())


def test_an_edit_is_shown_before_it_is_allowed(screen: Screen, paper: Paper) -> None:
    SessionView(screen).permission(request(file_path="a.py", old_string="one\ntwo", new_string="three"))
    lines = [line.strip() for line in paper.text.splitlines()]
    assert lines[1:] == ["file_path: a.py", "old_string:", "- one", "- two", "new_string:", "+ three"]


def test_a_diff_has_numbers_and_signs(screen: Screen, paper: Paper) -> None:
    lines = (
        DiffLine("hunk", "@@ -1,2 +1,2 @@", 1),
        DiffLine("context", "same", 1),
        DiffLine("remove", "old", 2),
        DiffLine("add", "new", 2),
    )
    screen.diff(Diff("a.py", lines))
    assert paper.text.splitlines() == [
        "  a.py",
        "         @@ -1,2 +1,2 @@",
        "     1   same",
        "     2 - old",
        "     2 + new",
    ]


def test_results_of_calls_side_by_side_name_their_call(screen: Screen, paper: Paper) -> None:
    view = SessionView(screen)
    for event in (start("a", "Read", "x"), start("b", "Grep", "y")):
        view.tool_start(event)
    for event in (end("a", "Read", "x", "one"), end("b", "Grep", "y", "two")):
        view.tool_end(event)
    assert [line for line in paper.text.splitlines() if not line.startswith("  done")] == [
        "* Read(x)",
        "* Grep(y)",
        "* Read(x)",
        "  | one",
        "* Grep(y)",
        "  | two",
    ]


def test_long_results_are_cut_and_say_so(screen: Screen, paper: Paper) -> None:
    screen.block("\n".join(str(number) for number in range(100)), limit=3)
    assert paper.text.splitlines() == ["  | 0", "  | ... 97 more lines ...", "  | 98", "  | 99"]


def test_after_a_failed_write_nothing_raises_and_the_owner_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_data: bytes) -> None:
        raise BrokenOutputError("gone")

    told: list[str] = []
    screen = Screen(plain=True, write=broken)
    screen.on_fault = lambda: told.append("fault")
    screen.line("a")
    screen.text("b c")
    screen.end_text()
    assert isinstance(screen.fault, BrokenOutputError)
    assert told == ["fault"]
