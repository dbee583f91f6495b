"""Programs with all their descendants, with real processes."""

import asyncio
import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tools_builtin._process import Command, Ended, group_alive, run_program

ENVIRONMENT = {"PATH": os.environ["PATH"]}


def _bash(script: str) -> Command:
    return Command(["/bin/bash", "-c", script], "/", ENVIRONMENT)


class _Output:
    """Output of a program that prints its process group first."""

    def __init__(self, when: Callable[[], object] | None = None) -> None:
        self.text = ""
        self._when = when

    def __call__(self, is_stderr: bool, data: bytes) -> None:
        self.text += data.decode()
        if self._when is not None:
            self._when()

    @property
    def group(self) -> int:
        return int(self.text.split()[0])


async def test_both_streams_and_the_code_arrive() -> None:
    got: list[tuple[bool, bytes]] = []
    ended = await run_program(_bash("echo out; echo err >&2; exit 3"), 10, lambda *piece: got.append(piece))
    assert sorted(got) == [(False, b"out\n"), (True, b"err\n")]
    assert ended == Ended(3, False, "none")


@pytest.mark.parametrize(
    "script",
    [
        'bash -c "sleep 300 & sleep 300"',
        "sleep 300 | cat",
        "{ sleep 300 | cat & } ; wait",
        f"{sys.executable} -c \"import subprocess; subprocess.run(['sleep', '300'])\"",
    ],
)
async def test_a_timeout_ends_grandchildren_too(script: str) -> None:
    output = _Output()
    async with asyncio.timeout(3):
        ended = await run_program(_bash(f"echo $$; {script}"), 0.3, output)
    assert ended.timed_out
    assert not group_alive(output.group)


async def test_a_program_that_ignores_sigterm_is_killed_after_the_grace() -> None:
    output = _Output()
    async with asyncio.timeout(5):
        ended = await run_program(_bash("trap '' TERM; echo $$; while :; do sleep 0.1; done"), 0.2, output)
    assert ended == Ended(-9, True, "ended")
    assert not group_alive(output.group)


async def test_a_program_may_clean_up_on_sigterm() -> None:
    output = _Output()
    ended = await run_program(_bash("trap 'echo cleaned; exit 7' TERM; echo $$; sleep 300 & wait"), 0.2, output)
    assert ended == Ended(7, True, "ended")
    assert output.text.endswith("cleaned\n")


@pytest.mark.parametrize("redirect", ["", ">/dev/null", ">/dev/null 2>&1"])
async def test_what_runs_on_in_the_background_is_ended_with_the_leader(redirect: str) -> None:
    output = _Output()
    async with asyncio.timeout(2):
        ended = await run_program(_bash(f"echo $$; sleep 300 {redirect} & echo done"), 10, output)
    assert ended == Ended(0, False, "ended")
    assert output.text.endswith("done\n")
    assert not group_alive(output.group)


async def test_a_process_that_left_the_group_holds_up_nobody(tmp_path: Path) -> None:
    # It ends itself once the test lets it, so that nothing is left either way.
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with asyncio.timeout(2):
        ended = await run_program(_bash(f"setsid cat {gate} & echo done"), 10, _Output())
    assert ended == Ended(0, False, "beyond reach")
    gate.write_text("go on")


async def test_the_end_of_a_process_substitution_is_waited_for() -> None:
    output = _Output()
    ended = await run_program(_bash("echo late > >(sleep 0.05; cat)"), 10, output)
    assert (ended, output.text) == (Ended(0, False, "none"), "late\n")


async def test_cancelling_ends_the_group() -> None:
    running = asyncio.Event()
    output = _Output(running.set)
    task = asyncio.ensure_future(run_program(_bash("echo $$; sleep 300 & sleep 300"), 60, output))
    await asyncio.wait_for(running.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 3)
    assert not group_alive(output.group)


async def test_cancelling_before_the_start_leaves_nothing() -> None:
    task = asyncio.ensure_future(run_program(_bash("sleep 300"), 60, _Output()))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 3)
    _assert_no_children()


async def test_cancelling_twice_kills_at_once() -> None:
    running, told = asyncio.Event(), asyncio.Event()
    output = _Output(lambda: told.set() if "told" in output.text else running.set())
    script = "trap 'echo told' TERM; echo $$; while :; do sleep 0.05; done"
    task = asyncio.ensure_future(run_program(_bash(script), 60, output))
    await asyncio.wait_for(running.wait(), 5)
    task.cancel()
    await asyncio.wait_for(told.wait(), 5)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 0.9)
    _assert_no_children()


def _assert_no_children() -> None:
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


async def test_a_program_that_is_not_there_raises() -> None:
    with pytest.raises(FileNotFoundError):
        await run_program(Command(["/no/such/program"], "/", ENVIRONMENT), 10, _Output())
    with pytest.raises(FileNotFoundError):
        await run_program(Command(["/bin/sh"], "/no/such/directory", ENVIRONMENT), 10, _Output())


async def test_no_program_can_reach_a_terminal_or_read_input() -> None:
    output = _Output()
    async with asyncio.timeout(5):
        await run_program(_bash('cat; read x; echo "[$x]"; (echo hi >/dev/tty) 2>/dev/null || echo none'), 10, output)
    assert output.text == "[]\nnone\n"


def test_the_end_of_the_event_loop_is_the_end_of_the_program() -> None:
    output = _Output()

    async def leave_early() -> None:
        running = asyncio.Event()
        output._when = running.set
        task = asyncio.ensure_future(run_program(_bash("trap '' TERM; echo $$; sleep 300"), 60, output))
        await asyncio.wait_for(running.wait(), 5)
        assert not task.done()

    asyncio.run(leave_early())
    assert not group_alive(output.group)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has child subreapers")
def test_orphans_are_collected_where_we_are_their_parent() -> None:
    # As process 1 of a container: children of ended programs become ours.
    script = textwrap.dedent("""
        import asyncio, ctypes, os, sys
        from tools_builtin._process import Command, run_program
        PR_SET_CHILD_SUBREAPER = 36
        assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
        command = Command(["/bin/sh", "-c", "sleep 300 & sleep 300 & echo done"], "/", {"PATH": os.environ["PATH"]})
        ended = asyncio.run(run_program(command, 10, lambda *piece: None))
        try:
            left = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            left = None
        print(ended.leftover, left)
    """)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=30)
    assert (run.stdout, run.stderr) == ("ended None\n", "")
