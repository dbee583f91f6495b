"""Runs the command without a person, and reads what it writes as strictly as a machine would."""

import asyncio
import json
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from screenkit import Recording

from agentframework.errors import AgentFrameworkError
from agentframework.providers.recording_format import error_to_json

WAIT_S = 60


class Exchanges(Recording):
    """A recording that may also hold failures."""

    def fail(self, error: AgentFrameworkError) -> "Exchanges":
        """The next request fails."""
        self._lines.append({"event": "model_exchange", "request": {"model": "recorded"}, "error": error_to_json(error)})
        return self

    def runs(self, script: str) -> "Exchanges":
        """The next reply runs ``script``, with ``$$`` in the file ``pid``; then the model says that it is done."""
        call = ("Bash", {"command": f"echo $$ > pid.new; mv pid.new pid; {script}"})
        self.answer("Running. ", call).answer("Done.")
        return self

    def runs_stubborn(self, folder: Path, script: str) -> "Exchanges":
        """The same, but heedless of SIGTERM before it is there to be seen."""
        (folder / "stubborn.sh").write_text(f"trap '' TERM\necho $$ > pid.new\nmv pid.new pid\n{script}\n")
        self.answer("Running. ", ("Bash", {"command": "bash stubborn.sh"})).answer("Done.")
        return self


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        return records(self.out)

    @property
    def last(self) -> dict[str, Any]:
        return self.records[-1]

    def is_quiet(self) -> bool:
        """No trace of an exception that nobody handled."""
        traces = ("Traceback", "Exception ignored", "was destroyed", "never retrieved")
        return not any(trace in self.err for trace in traces)


class Command:
    """Starts ``agentframework`` in a directory, with an environment that holds nothing else."""

    def __init__(self, cwd: Path, environment: dict[str, str], exchanges: Exchanges | None = None) -> None:
        self.cwd = cwd
        self.environment = environment
        self.exchanges = exchanges
        self._started: list[asyncio.subprocess.Process] = []

    @property
    def argv(self) -> list[str]:
        provider = [] if self.exchanges is None else ["--provider", self.exchanges.option]
        return [sys.executable, "-m", "agentframework", *provider]

    async def start(
        self, *arguments: str, stdin: int = asyncio.subprocess.DEVNULL, **options: Any
    ) -> asyncio.subprocess.Process:
        """A running process."""
        options.setdefault("stdout", asyncio.subprocess.PIPE)
        options.setdefault("stderr", asyncio.subprocess.PIPE)
        options.setdefault("limit", 2**26)
        return await self._exec(*self.argv, *arguments, stdin=stdin, **options)

    async def _exec(self, *argv: str, **options: Any) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(*argv, cwd=self.cwd, env=self.environment, **options)
        self._started.append(process)
        return process

    async def close(self) -> None:
        """End what a failed test left behind."""
        for process in self._started:
            if process.returncode is None:
                process.kill()
                await process.communicate()

    async def __call__(self, *arguments: str, piped: bytes | None = None) -> Finished:
        """Run to the end."""
        stdin = asyncio.subprocess.DEVNULL if piped is None else asyncio.subprocess.PIPE
        return await finish(await self.start(*arguments, stdin=stdin), piped)

    async def start_shell(self, line: str) -> asyncio.subprocess.Process:
        """A running line of bash in which ``AF`` stands for the command."""
        line = line.replace("AF", shlex.join(self.argv))
        pipe = asyncio.subprocess.PIPE
        return await self._exec("bash", "-c", line, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe)

    async def shell(self, line: str) -> Finished:
        """Run a line of bash to its end."""
        return await finish(await self.start_shell(line))

    async def tool_pid(self, process: asyncio.subprocess.Process) -> int:
        """What `Exchanges.runs` started in ``process``, once it runs."""
        return int(await appears(self.cwd / "pid", process))


async def finish(process: asyncio.subprocess.Process, piped: bytes | None = None) -> Finished:
    """The end of a process, with all that it has still to say."""
    async with asyncio.timeout(WAIT_S):
        out, err = await process.communicate(piped)
    assert process.returncode is not None
    return Finished(process.returncode, (out or b"").decode(), (err or b"").decode())


def records(text: str) -> list[dict[str, Any]]:
    """Lines of strict JSON, and nothing else."""

    def refuse(name: str) -> NoReturn:
        raise ValueError(f"{name} is no JSON")

    assert not text or text.endswith("\n")
    assert not {"\u2028", "\u2029", "\x85"} & set(text)
    return [json.loads(line, parse_constant=refuse) for line in text.split("\n")[:-1]]


def of(kind: str, found: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [record for record in found if record["type"] == kind]


async def until(process: asyncio.subprocess.Process, kind: str) -> list[dict[str, Any]]:
    """Records up to and with the first of that kind."""
    assert process.stdout is not None
    seen: list[dict[str, Any]] = []
    async with asyncio.timeout(WAIT_S):
        while not seen or seen[-1]["type"] != kind:
            line = await process.stdout.readline()
            assert line, f"no {kind} in {[record['type'] for record in seen]}"
            seen += records(line.decode())
    return seen


async def appears(path: Path, process: asyncio.subprocess.Process) -> str:
    """The content of a file that ``process`` makes, once it is there."""
    async with asyncio.timeout(WAIT_S):
        while not path.exists():
            assert process.returncode is None, (await finish(process)).err
            await asyncio.sleep(0.01)
    return path.read_text()


async def goes(pid: int) -> None:
    """The end of a process that is nobody's here, such as one that a watchdog ends."""
    async with asyncio.timeout(WAIT_S):
        while alive(pid):  # noqa: ASYNC110 - nothing could set an event
            await asyncio.sleep(0.01)


async def comes_to(pid: int, *, state: str = "", handles: signal.Signals | None = None) -> None:
    """Wait until Linux says that a process is in ``state``, or that it ``handles`` a signal."""
    async with asyncio.timeout(WAIT_S):
        while True:
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            status = dict(line.split(":\t", 1) for line in lines)
            caught = int(status["SigCgt"], 16)
            if status["State"].startswith(state) and (handles is None or caught >> (handles - 1) & 1):
                return
            await asyncio.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
