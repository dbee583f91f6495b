"""Real bash with dummy programs, to compare what a line does with what the view of it says."""

import contextlib
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agentframework.permissions.shell import CommandLine, SimpleCommand, Word, parse_command_line

DUMMIES = ("a1", "b2", "c3")
_REAL_WRAPPERS = (
    "env", "xargs", "timeout", "nice", "nohup", "find", "stdbuf", "setsid", "bash", "sh",
)  # fmt: skip
_FIELD, _RECORD = "\x1f", "\x1e"
# One printf per program, so that the records of programs that run at once do not mix.
_DUMMY = f"""#!/bin/sh
s="${{0##*/}}{_FIELD}$PWD"
for x; do s="$s{_FIELD}$x"; done
printf '%s{_RECORD}' "$s" >> "$LOG"
"""


def entries(table: str) -> list[str]:
    """The command lines of a table, one a line; `⏎` stands for a newline inside one."""
    return [line.replace("⏎", "\n") for line in table.strip("\n").split("\n")]


@dataclass(frozen=True)
class Started:
    name: str
    cwd: str
    arguments: tuple[str, ...]


class Machine:
    """A folder with a PATH of three dummy programs and some real wrappers, and a work folder with `d/e` in it."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._parent = self.root.joinpath(*"p" * 40)  # deep, so that no number of `cd ..` leaves the root
        self._runs = 0
        self._bin = self.root / "bin"
        self._bin.mkdir()
        for name in DUMMIES:
            (self._bin / name).write_text(_DUMMY)
            (self._bin / name).chmod(0o755)
        for name in _REAL_WRAPPERS:
            found = shutil.which(name)
            if found:
                (self._bin / name).symlink_to(found)

    @property
    def work(self) -> Path:
        """The work folder of the next line."""
        return self._parent / f"w{self._runs}"

    def run(self, line: str) -> tuple[list[Started], set[str]]:
        """The dummies that `line` starts in bash, and the files that are there afterwards."""
        (self.work / "d" / "e").mkdir(parents=True)
        log = self.root / f"log{self._runs}"
        log.touch()
        self._start(["/bin/bash", "-c", line], self.work, log, 3)
        outcome = self._outcome(log, self.work)
        self._runs += 1  # what an earlier line left running in the background disturbs nobody
        return outcome

    def _start(self, command: Sequence[str], cwd: Path, log: Path, seconds: float) -> None:
        environment = {"PATH": str(self._bin), "LOG": str(log), "FUNCNEST": "4", "LC_ALL": "C.UTF-8"}
        process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
        finally:
            with contextlib.suppress(ProcessLookupError):  # what runs in the background goes too
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _outcome(self, log: Path, work: Path) -> tuple[list[Started], set[str]]:
        records = log.read_bytes().decode(errors="surrogateescape").split(_RECORD)
        fields = [record.split(_FIELD) for record in records if record]
        started = [Started(name, cwd, tuple(arguments)) for name, cwd, *arguments in fields]
        files = {os.path.join(folder, name) for folder, _, names in os.walk(work) for name in names}
        shutil.rmtree(work, ignore_errors=True)
        return started, files

    def run_all(self, lines: Sequence[str]) -> list[tuple[list[Started], set[str]]]:
        """The same for many lines, each in a subshell and a work folder of its own; much faster than one by one.

        Where one of them hangs, the answer ends with that one.
        """
        first = self._runs
        stanzas: list[str] = []
        for line in lines:
            (self.work / "d" / "e").mkdir(parents=True)
            log = self.root / f"log{self._runs}"
            log.touch()
            run = f"export LOG={log}; cd {self.work}; eval -- {shlex.quote(line)}"
            stanzas.append(f"({run}); echo >>{self.root}/done\n")
            self._runs += 1
        done = self.root / "done"
        done.write_text("")
        script = self.root / "script"
        script.write_text("ulimit -t 5\n" + "".join(stanzas), errors="surrogateescape")
        self._start(["/bin/bash", str(script)], self.root, self.root / "log", 20 + len(lines) / 10)
        numbers = range(first, self._runs)
        found = [self._outcome(self.root / f"log{number}", self._parent / f"w{number}") for number in numbers]
        return found[: done.read_text().count("\n") + 1]

    def view(self, line: str) -> CommandLine:
        return parse_command_line(line, cwd=str(self.work))

    def untold(self, line: str) -> str | None:
        """What bash does that a view claiming to be complete does not tell; None when there is nothing."""
        view = self.view(line)
        return None if not view.complete else _untold(view, *self.run(line))

    def first_untold(self, lines: Sequence[str]) -> tuple[str, str] | None:
        """The first of many lines of which that is so, and what it is."""
        left = [line for line in lines if parse_command_line(line, cwd="/w").complete]
        while left:
            views = [
                parse_command_line(line, cwd=str(self._parent / f"w{number}"))
                for number, line in enumerate(left, self._runs)
            ]
            outcomes = self.run_all(left)
            for line, view, outcome in zip(left, views, outcomes, strict=False):
                untold = _untold(view, *outcome)
                if untold is not None:
                    return line, untold
            left = left[len(outcomes) :]
        return None


def _untold(view: CommandLine, started: Sequence[Started], files: set[str]) -> str | None:
    for program in started:
        listed = [command for command in view.commands if _same(command, program)]
        if not listed:
            return f"{program} is not listed in {view.commands}"
        if not any(not command.directories or program.cwd in command.directories for command in listed):
            return f"{program} ran in a directory that is not listed in {listed}"
    written = [item for item in view.redirections if item.writes]
    if any(item.target is None or not item.target.exact or not item.directories for item in written):
        return None
    named = {
        os.path.normpath(os.path.join(directory, item.target.value or ""))
        for item in written
        if item.target is not None
        for directory in item.directories
    }
    return f"{files - named} written, but only {named} listed" if files - named else None


def _same(command: SimpleCommand, program: Started) -> bool:
    return command.name == program.name and _fits(command.arguments, program.arguments)


def _fits(words: Sequence[Word], arguments: Sequence[str]) -> bool:
    if not words:
        return not arguments
    word, rest = words[0], words[1:]
    if word.splits or word.glob:
        return any(_fits(rest, arguments[count:]) for count in range(len(arguments) + 1))
    if not arguments or (word.exact and word.value != arguments[0]):
        return False
    return _fits(rest, arguments[1:])
