"""The interactive mode on a real terminal, with a recorded model."""

import os
import re
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from screenkit import Recording, Terminal

Start = Callable[..., Terminal]


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(tmp_path / "recording.jsonl")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
async def start(recording: Recording, project: Path) -> AsyncIterator[Start]:
    started: list[Terminal] = []

    def begin(*arguments: str, cwd: Path = project, **options: Any) -> Terminal:
        started.append(Terminal(["--provider", recording.option, *arguments], cwd, **options))
        return started[-1]

    yield begin
    for terminal in started:
        await terminal.close()


async def test_a_turn_with_an_edit_that_is_allowed(recording: Recording, start: Start, project: Path) -> None:
    (project / "rain.py").write_text("wet = mm >= 0\n")
    recording.answer("I look at **it** first.", ("Read", {"file_path": "rain.py"}))
    edit = {"file_path": "rain.py", "old_string": "mm >= 0", "new_string": "mm > 0"}
    recording.answer("", ("Edit", edit)).answer("Fixed: `rain.py`.", thinking="It was easy.")
    terminal = start()
    await terminal.shows("/help for help", "recorded | default | context 0%")
    terminal.type("fix it\r")
    await terminal.shows("Allow Edit?", "> y  yes, once", "Edit(rain.py)")
    await terminal.shows("Edit asks for permission: default mode asks before changing files")
    await terminal.shows("- mm >= 0", "+ mm > 0")
    assert (project / "rain.py").read_text() == "wet = mm >= 0\n"
    terminal.type("y")
    await terminal.idle()
    assert (project / "rain.py").read_text() == "wet = mm > 0\n"
    shown = terminal.screen.text
    order = [
        "> fix it", "I look at it first.", "* Read(rain.py)", "done", "Allowed once.", "* Edit(rain.py)",
        "1 - wet = mm >= 0", "1 + wet = mm > 0", "~ thought for", "Fixed: rain.py.",
    ]  # fmt: skip
    assert [text for text in order if shown.count(text) < 1] == []
    assert sorted(order, key=shown.index) == order
    assert shown.count("I look at it first.") == shown.count("Fixed: rain.py.") == 1
    terminal.type("/exit\r")
    assert await terminal.exit_code() == 0
    assert terminal.screen.text.rstrip().endswith("Goodbye.")


async def test_every_key_of_a_permission_request(recording: Recording, start: Start, project: Path) -> None:
    def write(name: str) -> tuple[str, dict[str, str]]:
        return ("Write", {"file_path": name, "content": "x"})

    recording.answer("", write("no.txt")).answer("", write("esc.txt")).answer("", write("session.txt"))
    recording.answer("", write("session.txt")).answer("", write("project.txt")).answer("", write("enter.txt"))
    recording.answer("", write("one.md")).answer("", write("two.md")).answer("All done.")
    terminal = start()
    await terminal.idle()
    terminal.type("go\r")

    async def at(name: str) -> None:
        await terminal.shows("> y  yes, once\n", f"yes, by a rule: Edit({name})")

    await at("no.txt")
    terminal.type("n")
    await at("esc.txt")
    terminal.type("\x1b")
    await at("session.txt")
    terminal.type("a")
    await at("project.txt")
    terminal.type("p")
    await at("enter.txt")
    terminal.type("\x1b[B")
    await terminal.shows("> n  no")
    terminal.type("\x1b[A")
    await terminal.shows("> y  yes, once")
    terminal.type("\r")
    await at("one.md")
    terminal.type("e")
    await terminal.shows("? Edit(one.md)", "Enter confirms")
    terminal.type("(\r")
    await terminal.shows("the rule")
    terminal.type("\x01\x0bEdit(*.md)\r")
    await terminal.shows("All done.")
    assert sorted(path.name for path in project.glob("*.[tm]*")) == [
        "enter.txt", "one.md", "project.txt", "session.txt", "two.md",
    ]  # fmt: skip
    assert terminal.screen.text.count("Refused.") == 2


async def test_an_aborted_turn_keeps_what_was_said_and_the_next_prompt_runs(recording, start) -> None:
    recording.answer("The beginning of a long story", holds=True).answer("Hello again.")
    terminal = start()
    await terminal.idle()
    terminal.type("tell me\r")
    await terminal.shows("The beginning of a long story", "answering", "Ctrl-C stops")
    terminal.type("\x03")
    await terminal.shows("[interrupted]", "Ctrl-C again leaves.")
    terminal.type("hello\r")
    await terminal.shows("Hello again.")
    assert terminal.screen.text.count("The beginning of a long story") == 1
    terminal.type("\x04")
    assert await terminal.exit_code() == 0


async def test_a_second_ctrl_c_leaves_also_in_the_middle_of_a_turn(recording, start, project) -> None:
    recording.answer("", ("Bash", {"command": "echo $$ > pid; sleep 600"}))
    terminal = start("--permission-mode", "bypassPermissions")
    await terminal.idle()
    terminal.type("go\r")
    await terminal.until(lambda _screen: (project / "pid").exists() and (project / "pid").read_text().strip())
    terminal.type("\x03\x03")
    assert await terminal.exit_code() == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int((project / "pid").read_text()), 0)


async def test_prompts_typed_while_a_turn_runs_wait_and_are_shown(recording, start, project) -> None:
    recording.answer("", ("Bash", {"command": "until [ -e go ]; do sleep 0.1; done"})).answer("First.")
    recording.answer("Second.").answer("Third.")
    terminal = start("--permission-mode", "bypassPermissions", "one")
    await terminal.shows("* Bash(until", "running")
    terminal.type("two\r")
    terminal.type("three\r")
    await terminal.shows("queued: two", "queued: three")
    terminal.type("/clear\r")
    await terminal.shows("/clear cannot run while a turn is running")
    (project / "go").touch()
    await terminal.shows("Third.")
    await terminal.idle()
    order = ["> one", "First.", "> two", "Second.", "> three", "Third."]
    assert sorted(order, key=terminal.screen.text.index) == order


async def test_an_abort_gives_the_queue_back_to_be_edited(recording, start) -> None:
    recording.answer("Working", holds=True).answer("Fine.")
    terminal = start("one")
    await terminal.shows("Working")
    terminal.type("two\r")
    await terminal.shows("queued: two")
    terminal.type("\x03")
    await terminal.shows("[interrupted]", "> two")
    terminal.type(" more\r")
    await terminal.shows("> two more", "Fine.")


async def test_commands_change_mode_and_model_and_show_in_the_status(recording, start) -> None:
    recording.answer("ok")
    terminal = start()
    await terminal.idle()
    terminal.type("/help\r")
    await terminal.shows("/permissions [clear]", "Ctrl-O           show the last thoughts")
    terminal.type("/mode plan\r")
    await terminal.shows("Mode plan: reads and searches", "recorded | plan | context 0%")
    terminal.type("/model fast\r")
    await terminal.shows("fast answers from now on.", "fast | plan |")
    terminal.type("/mo")
    await terminal.shows("/mode   Show or set", "/model  Show or change")
    terminal.type("\x15/nothing\r")
    await terminal.shows("There is no command /nothing.")
    terminal.type("/usr/bin is a folder\r")
    await terminal.shows("ok")


async def test_forty_columns_with_wide_characters(recording, start, project) -> None:
    wide, listed, code = "日本語の文章です。" * 6, "word " * 20, "x = 1 + " * 12
    recording.answer(f"# 見出し\n\n{wide}\n\n- {listed}\n\n```python\n{code}2\n```\n\nEnd.")
    terminal = start(columns=40, rows=20)
    await terminal.idle()
    terminal.type("日本語で説明して\r")
    await terminal.shows("End.")
    await terminal.idle()
    assert "> 日本語で説明して" in terminal.screen.text
    assert terminal.screen.text.count("日本語の文章です。") >= 4
    assert b"\xef\xbf\xbd" not in terminal.raw
    terminal.type("/help\r")
    await terminal.shows("Ctrl-L")
    assert max(map(len, terminal.screen.lines)) <= 40


async def test_a_narrower_window_leaves_no_rubbish_behind(recording, start) -> None:
    recording.answer(f"{'All of this moves while it is told. ' * 8}", holds=True)
    terminal = start(columns=80, rows=40)
    await terminal.idle()
    terminal.type("tell\r")
    await terminal.shows("answering")
    await terminal.until(lambda screen: " ".join(" ".join(screen.lines).split()).count("All of this") == 8)
    terminal.resize(40, 40)
    await terminal.until(lambda screen: " ".join(" ".join(screen.lines).split()).count("All of this") == 8)
    await terminal.until(lambda screen: "\n".join(screen.lines).count("answering") == 1)
    await terminal.until(lambda screen: "\n".join(screen.lines).count("| default |") == 1)
    terminal.resize(100, 40)
    await terminal.until(lambda screen: max(map(len, screen.lines)) > 80 and "| default |" in screen.lines[-1])
    assert "\n".join(terminal.screen.lines).count("| default |") == 1


async def test_questions_are_answered_by_number_and_in_own_words(recording, start) -> None:
    questions = [
        {"question": "Which colour?", "header": "Colour", "options": ["red", {"label": "blue", "description": "sea"}]},
        {"question": "Anything else?"},
    ]
    recording.answer("", ("AskUserQuestion", {"questions": questions})).answer("Thanks.")
    terminal = start("ask")
    await terminal.shows("? [Colour] Which colour?", "2  blue  sea", "1 more to come")
    terminal.type("2\r")
    await terminal.shows("? Anything else?", "Type your answer")
    terminal.type("no, thanks\r")
    await terminal.shows("Thanks.")
    assert re.search(r"\? Which colour\?\n  blue\n\? Anything else\?\n  no, thanks", terminal.screen.text)


async def test_what_is_being_typed_is_no_answer_to_a_question_that_appears(recording, start, project) -> None:
    recording.answer("", ("Bash", {"command": "until [ -e go ]; do sleep 0.1; done"}))
    recording.answer("", ("Write", {"file_path": "new.txt", "content": "x"})).answer("Done.").answer("Next.")
    terminal = start("--allowed-tools", "Bash", "go")
    await terminal.shows("running")
    terminal.type("hey, what about y")
    (project / "go").touch()
    await terminal.shows("Write asks for permission")
    terminal.type("yy")
    await terminal.shows("> hey, what about yyy")
    assert not (project / "new.txt").exists()
    await terminal.shows("> y  yes, once")
    terminal.type("n")
    await terminal.shows("Refused.", "Done.", "> hey, what about yyy")
    terminal.type("\r")
    await terminal.shows("Next.")


async def test_several_lines_make_one_prompt(recording, start) -> None:
    recording.answer("ok")
    terminal = start()
    await terminal.idle()
    terminal.type("one\\\r")
    await terminal.until(lambda screen: screen.lines[-3:-1] == ["> one", ""])
    terminal.type("two\x1b\r")
    await terminal.until(lambda screen: screen.lines[-4:-1] == ["> one", "  two", ""])
    terminal.type("\x1b[200~three\nfour\x1b[201~\r")
    await terminal.shows("> one\n  two\n  three\n  four", "ok")


async def test_completion_of_files(recording, start, project) -> None:
    (project / "sources").mkdir()
    (project / "sources" / "rain.py").touch()
    recording.answer("ok")
    terminal = start()
    await terminal.idle()
    terminal.type("look at @sou")
    await terminal.shows("sources/")
    terminal.type("\t\r")
    await terminal.shows("> look at @sources/")
    terminal.type("r")
    await terminal.shows("rain.py")
    terminal.type("\t\r\r")
    await terminal.shows("> look at @sources/rain.py", "ok")


async def test_without_colour_nothing_is_coloured(recording, start) -> None:
    recording.answer("**bold** `code`\n\n```python\nx = 1  # y\n```\n")
    terminal = start("hi", NO_COLOR="1")
    await terminal.shows("x = 1")
    await terminal.idle()
    styles = {escape for escape in terminal.screen.escapes if escape.endswith("m")}
    numbers = {int(number) for style in styles for number in re.findall(r"\d+", style)}
    assert numbers <= {0, 1, 2, 3, 4, 7, 22, 23, 24, 27}


async def test_a_dumb_terminal_gets_plain_lines(recording, start, project) -> None:
    recording.answer("Some *text*.", ("Write", {"file_path": "new.txt", "content": "x"})).answer("Done.")
    terminal = start(TERM="dumb")
    await terminal.shows("[recorded | default | context 0%]\n>")
    terminal.type("one\\\ntwo\n")
    await terminal.shows("Some *text*.", "Allow Write?", "y  yes, once")
    terminal.type("what?\n")
    await terminal.shows("Please answer with one of the letters.")
    # What is typed before the question stands there again is thrown away, on purpose.
    await terminal.until(lambda screen: screen.text.count("Allow Write?") == 2 and screen.text.rstrip().endswith("?"))
    terminal.type("yes\n")
    await terminal.shows("Allowed once.", "Done.")
    assert (project / "new.txt").read_text() == "x"
    # The turn is over when it is written down, and not before the prompt says so.
    await terminal.until(lambda screen: screen.text.rstrip().endswith("]\n>"))
    terminal.type("/exit\n")
    assert await terminal.exit_code() == 0
    assert terminal.screen.escapes == set()


async def test_a_dumb_terminal_stops_a_turn_by_ctrl_c(recording, start) -> None:
    recording.answer("A long story", holds=True)
    terminal = start("tell", TERM="dumb")
    await terminal.shows("A long")
    # What a terminal makes of the key, if it is the controlling one.
    terminal.process.send_signal(signal.SIGINT)
    await terminal.shows("Ctrl-C again leaves.")
    terminal.process.send_signal(signal.SIGINT)
    assert await terminal.exit_code() == 130
    assert "[interrupted]" in terminal.screen.text


async def test_the_history_is_kept_at_home_and_nowhere_else(recording, start, project, tmp_path) -> None:
    recording.answer("ok").answer("ok again")
    home = tmp_path / "home"
    home.mkdir()
    terminal = start(HOME=str(home))
    await terminal.idle()
    terminal.type("remember me\r")
    await terminal.shows("ok")
    terminal.type("\x04")
    assert await terminal.exit_code() == 0
    file = home / ".agentframework" / "history"
    assert "remember me" in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(project.iterdir()) == []
    terminal = start(HOME=str(home))
    await terminal.idle()
    terminal.type("\x1b[A")
    await terminal.shows("> remember me")


async def test_without_a_home_one_warning_is_given(recording, start, project) -> None:
    recording.answer("ok")
    terminal = start("hi", HOME="")
    await terminal.shows("ok")
    assert terminal.screen.text.count("HOME is not set, so nothing of this session is kept") == 1
    terminal.type("\x04")
    assert await terminal.exit_code() == 0


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_a_signal_leaves_in_order(recording, start, project, number, code) -> None:
    recording.answer("", ("Bash", {"command": "echo $$ > pid; sleep 600"}))
    terminal = start("--permission-mode", "bypassPermissions", "go")
    await terminal.until(lambda _screen: (project / "pid").exists() and (project / "pid").read_text().strip())
    terminal.process.send_signal(number)
    assert await terminal.exit_code() == code
    assert "Traceback" not in terminal.screen.text
    with pytest.raises(ProcessLookupError):
        os.kill(int((project / "pid").read_text()), 0)


async def test_a_configuration_that_cannot_work_is_a_sentence(recording, start, project) -> None:
    recording.answer("ok")
    terminal = start("--permission-mode", "yolo")
    assert await terminal.exit_code() == 2
    assert "permission_mode must be one of" in terminal.screen.text
    assert "Traceback" not in terminal.screen.text
