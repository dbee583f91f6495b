import fcntl
import importlib.util
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "agentframework", "demo"]
LIMIT_S = 90.0
QUESTION = "Allow it? "
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def _environment(temporary: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "TMPDIR": str(temporary), "TERM": "xterm"}


@pytest.fixture
def temporary(tmp_path: Path) -> Iterator[Path]:
    """The folder that the demo takes for the system's temporary one; it must be empty afterwards."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


def run(
    temporary: Path, *options: str, stdin: int = subprocess.DEVNULL, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *options],
        stdin=stdin,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LIMIT_S,
        env=_environment(temporary),
        cwd=cwd or temporary.parent,
    )


class Terminal:
    """The demo on a terminal of its own."""

    def __init__(self, temporary: Path, *options: str, columns: int = 80) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.process = subprocess.Popen(
            [*COMMAND, *options],
            stdin=slave,
            stdout=slave,
            stderr=subprocess.PIPE,
            env=_environment(temporary),
            cwd=temporary.parent,
            start_new_session=True,
        )
        os.close(slave)
        self._read = b""
        self._seen = 0

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_exc: object) -> None:
        self.process.kill()
        self.process.wait(LIMIT_S)
        assert self.process.stderr is not None
        self.process.stderr.close()
        os.close(self._master)

    @property
    def text(self) -> str:
        """All that was shown so far."""
        return self._read.decode("utf-8", "replace").replace("\r\n", "\n")

    def wait_for(self, text: str) -> None:
        """Read until ``text`` is shown after what was waited for before."""
        deadline = time.monotonic() + LIMIT_S
        while (place := self.text.find(text, self._seen)) < 0:
            assert self._more(deadline), f"{text!r} was not shown:\n{self.text}"
        self._seen = place + len(text)

    def _more(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, deadline - time.monotonic()))
        try:
            data = os.read(self._master, 65_536) if ready else b""
        except OSError:  # Linux: nobody has the other side open any more
            data = b""
        self._read += data
        return bool(data)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def finish(self) -> int:
        """The exit code, once everything is read."""
        deadline = time.monotonic() + LIMIT_S
        while self._more(deadline):
            pass
        return self.process.wait(LIMIT_S)

    def complaints(self) -> bytes:
        assert self.process.stderr is not None
        return self.process.stderr.read()


def in_order(text: str, parts: Sequence[str]) -> None:
    place = 0
    for part in parts:
        found = text.find(part, place)
        assert found >= 0, f"{part!r} is missing after {text[:place][-200:]!r}:\n{text}"
        place = found + len(part)


STORY = (
    "replayed from a recording",
    "> The test fails. Find the bug and fix it.",
    "* Read(rain.py)",
    "? Bash asks for permission",
    "* Bash(python3 test_rain.py)",
    "5.0 != 6",
    "FAILED (failures=1)",
    "Exit code 1",
    "? Edit asks for permission",
    "* Edit(rain.py)",
    "-     for amount in days[1:]:",
    "+     for amount in days:",
    "* Bash(python3 test_rain.py)",
    "OK",
    "The test passes.",
    "> Explain rain.py to me, letter by letter.",
    "Gladly. The file begins",
    "[interrupted]",
    "are kept in the history",
    "Done; the folder is gone.",
)


def test_without_a_terminal_the_demo_answers_itself_and_ends_well(temporary: Path) -> None:
    done = run(temporary, "--no-local")
    assert (done.returncode, done.stderr) == (0, "")
    in_order(done.stdout, STORY)
    assert done.stdout.count("Nobody can answer here") == 3
    assert "\x1b" not in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 80


def test_a_closed_stdin_is_no_terminal(temporary: Path) -> None:
    command = " ".join(f"'{word}'" for word in [*COMMAND, "--no-local"])
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {command} <&-"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=_environment(temporary),
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_who_leaves_ends_the_demo_quietly(temporary: Path) -> None:
    command = " ".join(f"'{word}'" for word in [*COMMAND, "--no-local"])
    script = f"{{ {command}; echo code $? >&2; }} | head -n 2"
    done = subprocess.run(
        ["/bin/sh", "-c", script],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env=_environment(temporary),
    )
    assert "agentframework demo" in done.stdout
    assert done.stderr == "code 141\n"


def test_hostile_files_where_the_demo_is_started_are_left_alone(temporary: Path) -> None:
    project = temporary.parent / "project"
    project.mkdir()
    for name in ("rich", "unittest", "rain"):
        (project / f"{name}.py").write_text("raise SystemExit('hijacked')", encoding="utf-8")
    done = run(temporary, "--no-local", cwd=project)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--help"], 0, "--no-local"),
        (["--nonsense"], 2, "--nonsense"),
        (["--model", "/no/such.gguf"], 2, "/no/such.gguf"),
    ],
)
def test_options_are_explained_or_refused_at_once(temporary: Path, options: list[str], code: int, said: str) -> None:
    done = run(temporary, *options)
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="the local model is not installed")
def test_the_local_model_reads_a_file_through_a_tool(temporary: Path) -> None:
    done = run(temporary)
    assert (done.returncode, done.stderr) == (0, "")
    first = ("135 million parameters", "> Read README.md and tell me its title.", "* Read(README.md)", "# Rain Diary")
    if "That takes too long" in done.stdout:  # a busy machine: the demo must go on all the same
        in_order(done.stdout, ("135 million parameters", "That takes too long", *STORY))
    else:
        second = ("> Summarise notes.txt in one sentence.", "* Read(notes.txt)", "It rained on five days")
        in_order(done.stdout, (*first, "Rain Diary", *second, *STORY))


def test_a_person_is_asked_and_a_yes_for_the_session_is_not_asked_again(temporary: Path) -> None:
    with Terminal(temporary, "--no-local") as terminal:
        terminal.wait_for("command: python3 test_rain.py")
        terminal.wait_for(QUESTION)
        terminal.type("what?\n")
        terminal.wait_for("Please answer y, n or a.")
        terminal.wait_for(QUESTION)
        terminal.type("a\n")
        terminal.wait_for("? Edit")
        terminal.wait_for(QUESTION)
        terminal.type("y\n")
        assert terminal.finish() == 0
        in_order(_COLOUR.sub("", terminal.text), STORY)
        assert terminal.text.count("asks for permission") == 2
        assert terminal.text.count("Exit code 1") == 1
        assert terminal.complaints() == b""


def test_after_a_no_nothing_is_run_and_the_model_does_not_claim_it(temporary: Path) -> None:
    with Terminal(temporary, "--no-local") as terminal:
        terminal.type("y\ny\ny\n")  # what was typed ahead answers nothing
        terminal.wait_for(QUESTION)
        terminal.type("n\n")
        assert terminal.finish() == 0
        shown = _COLOUR.sub("", terminal.text)
        in_order(shown, ("Refused.", "* Bash(python3 test_rain.py)", "not run", "I may not do that", STORY[-1]))
        assert "FAILED" not in shown
        assert "The test passes" not in shown


def test_the_end_of_input_is_a_no(temporary: Path) -> None:
    with Terminal(temporary, "--no-local") as terminal:
        terminal.wait_for(QUESTION)
        terminal.type("\x04")
        terminal.wait_for("so the answer is no")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.finish() == 143


def test_forty_columns_without_colour_are_enough(temporary: Path) -> None:
    with Terminal(temporary, "--no-local", "--plain", columns=40) as terminal:
        for _ in range(3):
            terminal.wait_for(QUESTION)
            terminal.type("y\n")
        assert terminal.finish() == 0
        assert "\x1b" not in terminal.text
        assert max(len(line) for line in terminal.text.splitlines()) <= 40


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_demo_cleanly(temporary: Path, number: signal.Signals, code: int) -> None:
    with Terminal(temporary, "--no-local") as terminal:
        terminal.wait_for(QUESTION)
        assert len(list(temporary.iterdir())) == 1
        terminal.process.send_signal(number)
        assert terminal.finish() == code
        assert terminal.complaints() == b""
