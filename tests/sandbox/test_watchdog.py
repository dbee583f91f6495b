import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentframework.sandbox import watchdog
from agentframework.sandbox.process import CANCEL_GRACE_S, Command, run_program

WAIT_S = 30
HOST = """
import asyncio, sys
from agentframework.sandbox.process import Command, run_program
command = Command(["/bin/sh", "-c", sys.argv[1]], ".", {"PATH": "/usr/bin:/bin"}, keep_together=True)
asyncio.run(run_program(command, None, lambda is_stderr, data: None))
"""
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def comes_true(condition) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")
    except OSError:
        return True


def written(path: Path) -> bool:
    return path.exists() and path.read_text().endswith("\n")


def program(script: str, folder: Path) -> Command:
    return Command(["/bin/sh", "-c", script], str(folder), {"PATH": "/usr/bin:/bin"}, keep_together=True)


def ignore(is_stderr: bool, data: bytes) -> None:
    """Output that nobody reads."""


@linux
def test_nothing_outlives_a_host_that_is_killed(tmp_path: Path) -> None:
    child, stray = (f"sh -c 'echo $$ > {name}; exec sleep 300'" for name in ("child", "stray"))
    script = f"echo $$ > leader; {child} & setsid {stray} & wait"
    host = subprocess.Popen([sys.executable, "-c", HOST, script], cwd=tmp_path)
    places = [tmp_path / name for name in ("leader", "child", "stray")]
    comes_true(lambda: all(written(place) for place in places))
    host.kill()
    host.wait()
    comes_true(lambda: all(gone(int(place.read_text())) for place in places))


@linux
@pytest.mark.parametrize("stream", ["", " >/dev/null 2>&1"])
async def test_what_left_the_group_is_ended_with_the_program(tmp_path: Path, stream: str) -> None:
    script = f"setsid sh -c 'echo $$ > stray; exec sleep 300'{stream} & while [ ! -s stray ]; do sleep 0.01; done"
    ended = await run_program(program(script, tmp_path), WAIT_S, ignore)
    assert (ended.returncode, ended.leftover) == (0, "ended")
    assert gone(int((tmp_path / "stray").read_text()))


@linux
async def test_what_left_the_group_is_ended_by_a_cancellation_too(tmp_path: Path) -> None:
    script = "setsid sh -c 'trap \"\" TERM; echo $$ > stray; exec sleep 300' & sleep 300"
    task = asyncio.ensure_future(run_program(program(script, tmp_path), None, ignore))
    async with asyncio.timeout(WAIT_S):
        while not written(tmp_path / "stray"):  # noqa: ASYNC110 - nothing could set an event
            await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert gone(int((tmp_path / "stray").read_text()))
    assert CANCEL_GRACE_S < 2


async def test_a_watchdog_goes_with_its_program(tmp_path: Path) -> None:
    seen: list[frozenset[int]] = []
    await run_program(program("echo x", tmp_path), WAIT_S, lambda is_stderr, data: seen.append(watchdog.running()))
    (dogs,) = seen
    assert len(dogs) == 1
    assert not watchdog.running()
    with pytest.raises(ProcessLookupError):
        os.kill(next(iter(dogs)), 0)


async def test_a_program_that_cannot_be_started_leaves_no_watchdog(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await run_program(Command(["/nowhere"], str(tmp_path), {}), 1, ignore)
    assert not watchdog.running()


def test_without_a_shell_there_is_no_watchdog_and_nothing_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watchdog, "_SHELL", "/nowhere")
    dog = watchdog.Watchdog("")
    dog.watch(1)
    dog.dismiss()
    assert not watchdog.running()
