"""The parts of the interactive mode that need no terminal: completion, history, rows, what a line becomes."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.layout.screen import Char, Screen
from rich.cells import cell_len

from agentframework import InteractiveSession, builtin_commands
from agentframework._base.owner import TaskOwner
from agentframework.cli.repl.application import row_width, rows_above_cursor
from agentframework.cli.repl.completion import LineCompleter
from agentframework.cli.repl.driver import Driver
from agentframework.cli.repl.history import open_history
from agentframework.cli.repl.live import elapsed
from agentframework.cli.repl.picture import painted
from agentframework.cli.repl.strays import strays_shown
from agentframework.cli.view import Screen as OurScreen
from agentframework.slash import CommandInfo
from agentframework.testing import ScriptedProvider, say

# --- completion ---------------------------------------------------------------------------------------------


def completed(cwd: Path, text: str, *, enabled: bool = True) -> list[str]:
    commands = [CommandInfo("mode", "", subcommands=("plan", "acceptEdits")), CommandInfo("model", "")]
    completer = LineCompleter(str(cwd), lambda: commands, lambda: enabled)
    return [item.text for item in completer.get_completions(Document(text), CompleteEvent())]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("/", ["mode", "model"]),
        ("/MODE", ["mode", "model"]),
        ("/mode ", ["plan", "acceptEdits"]),
        ("/mode ACC", ["acceptEdits"]),
        ("/model x", []),
        ("/nothing ", []),
        ("say /mo", []),
        ("/mode plan more", []),
        ("", []),
    ],
)
def test_commands_and_their_words_are_completed_at_the_beginning(tmp_path: Path, text: str, found: list[str]) -> None:
    assert completed(tmp_path, text) == found


def test_files_are_completed_behind_an_at_sign(tmp_path: Path) -> None:
    for name in ("Readme.md", "rain.py", ".hidden", "src/deep.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert completed(tmp_path, "see @") == ["src/", "rain.py", "Readme.md"]
    assert completed(tmp_path, "see @r") == ["rain.py", "Readme.md"]
    assert completed(tmp_path, "(@src/d") == ["deep.py"]
    assert completed(tmp_path, "@.h") == [".hidden"]
    assert completed(tmp_path, f"@{tmp_path}/src/") == ["deep.py"]
    assert completed(tmp_path, "@nowhere/x") == []
    assert completed(tmp_path, "mail me@r") == []


def test_nothing_is_completed_in_an_answer(tmp_path: Path) -> None:
    assert completed(tmp_path, "/", enabled=False) == []


def test_a_full_folder_is_offered_in_part(tmp_path: Path) -> None:
    for number in range(80):
        (tmp_path / f"file{number}").touch()
    assert len(completed(tmp_path, "@file")) == 50


# --- history ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("environment", [{}, {"HOME": ""}])
def test_without_a_home_nothing_is_kept(environment: dict[str, str]) -> None:
    history, warning = open_history(environment)
    assert warning == "HOME is not set, so nothing of this session is kept"
    history.append_string("x")


def test_a_home_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / ".agentframework").write_text("a file in the way")
    history, warning = open_history({"HOME": str(tmp_path)})
    assert warning is not None
    assert str(tmp_path / ".agentframework") in warning
    history.append_string("x")


def test_a_disk_that_fills_up_later_costs_the_entry_only(tmp_path: Path) -> None:
    history, warning = open_history({"HOME": str(tmp_path)})
    assert warning is None
    (tmp_path / ".agentframework" / "history").unlink()
    (tmp_path / ".agentframework").rmdir()
    history.append_string("x")
    assert history.get_strings() == ["x"]


def test_the_folder_and_the_file_are_private(tmp_path: Path) -> None:
    open_history({"HOME": str(tmp_path)})
    folder = tmp_path / ".agentframework"
    modes = [path.stat().st_mode & 0o777 for path in (folder, folder / "history")]
    assert modes == [0o700, 0o600]


# --- rows ---------------------------------------------------------------------------------------------------


def drawn(*rows: str) -> Screen:
    screen = Screen()
    for number, row in enumerate(rows):
        column = 0
        for letter in row:
            screen.data_buffer[number][column] = Char(letter)
            column += cell_len(letter)
    return screen


def test_blanks_at_the_end_of_a_row_do_not_count() -> None:
    screen = drawn("abc  ", "", "日本")
    assert [row_width(screen, row) for row in range(3)] == [3, 0, 4]


@pytest.mark.parametrize(
    ("columns", "cursor", "above"),
    [(80, (3, 2), 3), (40, (3, 2), 5), (20, (3, 2), 8), (20, (3, 45), 10), (10, (0, 5), 0)],
)
def test_rows_that_a_narrower_window_breaks_are_counted(columns: int, cursor: tuple[int, int], above: int) -> None:
    screen = drawn("x" * 79, "", "y" * 41, "> ")
    assert rows_above_cursor(screen, *cursor, columns) == above


def test_a_painted_line_never_breaks() -> None:
    console = OurScreen(plain=True, write=lambda _data: None).console
    for width in (1, 5, 20):
        for text in ("short", "日本語の文章です", "two\nlines \x1b[31m", "x" * 100):
            line = painted(console, text, width=width)
            assert cell_len(line) <= width
            assert "\n" not in line
            assert "\x1b" not in line


@pytest.mark.parametrize(("seconds", "text"), [(0.04, "0.0 s"), (9.96, "10.0 s"), (59.4, "59 s"), (185, "3 min 05 s")])
def test_times_are_as_exact_as_a_person_wants_them(seconds: float, text: str) -> None:
    assert elapsed(seconds) == text


# --- what others print --------------------------------------------------------------------------------------


async def test_what_is_printed_from_anywhere_is_shown_line_by_line() -> None:
    shown: list[str] = []
    whole, before = asyncio.Event(), sys.stdout

    def show(line: str) -> None:
        shown.append(line)
        if len(shown) == 4:
            whole.set()

    with strays_shown(show):
        print("one\ntwo")
        print("three", file=sys.stderr)
        await asyncio.to_thread(print, "four")
        async with asyncio.timeout(20):
            await whole.wait()
        print("begun", end="")
        assert shown == ["one", "two", "three", "four"]
    assert shown[-1] == "begun"
    assert sys.stdout is before


# --- what a line becomes --------------------------------------------------------------------------------------


class Desk:
    """A driver on a real session, and everything it shows."""

    def __init__(self, cwd: Path, *steps: Any) -> None:
        self.said: list[str] = []
        self.left: list[int] = []
        self.changed = asyncio.Event()
        self.session = InteractiveSession(
            cwd=cwd, provider=ScriptedProvider(*steps), command_modules=builtin_commands(), default_tools=[]
        )
        self.owner = TaskOwner()
        self.driver = Driver(
            self.session, self, self.owner, leave=self.left.append, changed=self.changed.set, keys="the keys"
        )

    def prompt(self, text: str, *, typed: bool) -> None:
        self.said.append(f"> {text}" if typed else f">> {text}")

    def message(self, text: str, style: str = "") -> None:
        self.said.append(text)

    def turn_over(self) -> None:
        self.said.append("over")

    async def idle(self) -> None:
        async with asyncio.timeout(20):
            while self.driver.busy:
                self.changed.clear()
                await self.changed.wait()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Any]:
    made: list[Desk] = []

    def make(*steps: Any) -> Desk:
        made.append(Desk(tmp_path, *steps))
        return made[-1]

    yield make
    for one in made:
        await one.session.shutdown()
        await one.owner.close()


async def test_prompts_of_one_person_wait_each_for_its_own_turn(desk) -> None:
    hold = asyncio.Event()
    one = desk(say("a", hold), "b", "c")
    one.driver.enter("first")
    one.driver.enter("second")
    one.driver.enter("third")
    await asyncio.sleep(0)
    assert one.driver.queue == ["second", "third"]
    hold.set()
    await one.idle()
    assert one.said == ["> first", "over", ">> second", "over", ">> third", "over"]


async def test_blank_lines_are_nothing(desk) -> None:
    one = desk()
    one.driver.enter(" \n ")
    assert not one.driver.busy
    assert one.said == []


async def test_a_failed_turn_does_not_hold_up_the_next(desk) -> None:
    one = desk(RuntimeError("broken"), "b")
    one.driver.enter("first")
    one.driver.enter("second")
    await one.idle()
    assert one.said == ["> first", "over", ">> second", "over"]


async def test_a_path_is_a_prompt_and_a_word_with_a_slash_a_command(desk) -> None:
    one = desk("a")
    one.driver.enter("/etc/hosts is what?")
    await one.idle()
    assert one.said == ["> /etc/hosts is what?", "over"]
    one.driver.enter("/cle")
    await one.idle()
    assert one.said[-1] == "There is no command /cle. Did you mean /clear? /help lists them all."
    one.driver.enter("/help clear")
    await one.idle()
    assert one.said[-1] == "/clear  Forget the conversation and begin a new one"


async def test_help_is_followed_by_the_keys_of_the_terminal(desk) -> None:
    one = desk()
    one.driver.enter("/help")
    await one.idle()
    assert one.said[-1] == "the keys"


async def test_exit_leaves_and_nothing_is_begun_afterwards(desk) -> None:
    one = desk()
    one.driver.enter("/exit")
    await one.idle()
    assert one.left == [0]
    one.driver.enter("more")
    one.driver.leave(1)
    assert (one.left, one.driver.busy) == ([0], False)


async def test_an_interrupt_stops_the_turn_and_gives_the_queue_back(desk) -> None:
    hold = asyncio.Event()
    one = desk(say("a", hold))
    one.driver.enter("first")
    one.driver.enter("second")
    one.driver.enter("third")
    await asyncio.sleep(0)
    assert one.driver.interrupt() == "second\nthird"
    await one.idle()
    assert one.said == ["> first", "over"]
    assert one.left == []
    assert one.driver.interrupt() == ""
    assert one.left == [130]

