import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest
from headlesskit import WAIT_S, Command, Exchanges, alive, comes_to, finish, goes, of, records, until

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc to look at processes")

STREAM = ("--output-format", "stream-json")


@pytest.mark.parametrize(
    ("number", "code", "output"),
    [(signal.SIGINT, 130, "stream-json"), (signal.SIGTERM, 143, "json"), (signal.SIGHUP, 129, "text")],
)
async def test_a_signal_ends_the_turn_in_order(
    replayed: Command, exchanges: Exchanges, number: signal.Signals, code: int, output: str
) -> None:
    exchanges.runs("sleep 90")
    process = await replayed.start("-p", "go", "--allowed-tools", "Bash", "--output-format", output)
    tool = await replayed.tool_pid(process)
    process.send_signal(number)
    done = await finish(process)
    assert done.code == code
    assert not alive(tool)
    if output == "text":
        assert (done.out, done.err) == ("", "agentframework: interrupted\n")
        return
    assert done.err == ""
    last = done.last
    assert (last["type"], last["subtype"], last["is_error"], last["num_turns"]) == ("result", "interrupted", True, 1)
    if output == "stream-json":
        assert [record["outcome"] for record in of("tool_end", done.records)] == ["interrupted"]


async def test_a_second_interrupt_ends_everything_at_once_still_with_the_final_record(
    replayed: Command, exchanges: Exchanges
) -> None:
    exchanges.runs_stubborn(replayed.cwd, "while :; do sleep 1; done")
    process = await replayed.start("-p", "go", "--allowed-tools", "Bash", *STREAM)
    tool = await replayed.tool_pid(process)
    assert process.stdout is not None
    rest = asyncio.ensure_future(process.stdout.read())
    async with asyncio.timeout(WAIT_S):
        while not rest.done():  # two signals at once would be one
            # Not `send_signal`, which collects the exit code of a process that is gone before asyncio can.
            with contextlib.suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGINT)
            await asyncio.wait({rest}, timeout=0.1)
        await process.wait()
    assert process.returncode == 130
    assert records(rest.result().decode())[-1]["subtype"] == "interrupted"
    await goes(tool)


async def test_a_tool_that_nothing_ends_cannot_hold_up_the_end(replayed: Command, exchanges: Exchanges) -> None:
    # Neither it nor what has left its group heeds SIGTERM; the five seconds of an orderly end are not used up.
    exchanges.runs_stubborn(replayed.cwd, "setsid sleep 60 & sleep 90")
    process = await replayed.start("-p", "go", "--allowed-tools", "Bash", *STREAM)
    tool = await replayed.tool_pid(process)
    process.send_signal(signal.SIGTERM)
    done = await finish(process)
    assert (done.code, done.last["subtype"]) == (143, "interrupted")
    await goes(tool)
    assert done.is_quiet()


async def test_a_thread_that_never_ends_cannot_hold_up_the_end(
    replayed: Command, exchanges: Exchanges, tmp_path: Path
) -> None:
    (tmp_path / "stuck").mkdir()
    (tmp_path / "stuck" / "sitecustomize.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n"
    )
    replayed.environment["PYTHONPATH"] = str(tmp_path / "stuck")
    exchanges.answer("Half of it", holds=True)
    patient, impatient = [await replayed.start("-p", "go", *STREAM) for _ in range(2)]
    for process in (patient, impatient):
        await until(process, "text_delta")
        process.send_signal(signal.SIGTERM)
        assert (await until(process, "result"))[-1]["subtype"] == "interrupted"
    # The interpreter waits for the thread now; one gets another signal, the other the end of its five seconds.
    impatient.send_signal(signal.SIGTERM)
    async with asyncio.timeout(20):
        assert [await process.wait() for process in (impatient, patient)] == [143, 143]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
async def test_a_signal_while_the_prompt_is_still_awaited_ends_in_a_record(
    replayed: Command, exchanges: Exchanges, number: signal.Signals, code: int
) -> None:
    exchanges.answer("never")
    process = await replayed.start("-p", "--output-format", "json", stdin=asyncio.subprocess.PIPE)
    await comes_to(process.pid, handles=signal.SIGTERM)
    process.send_signal(number)
    async with asyncio.timeout(WAIT_S):
        assert process.stdout is not None
        out = await process.stdout.read()
        assert await process.wait() == code
    (record,) = records(out.decode())
    assert (record["type"], record["subtype"], record["is_error"]) == ("result", "interrupted", True)


async def test_a_signal_while_the_program_gets_ready_is_not_lost(
    replayed: Command, exchanges: Exchanges, tmp_path: Path
) -> None:
    # The program signals itself in the middle of its imports, before there is an event loop.
    (tmp_path / "early").mkdir()
    (tmp_path / "early" / "sitecustomize.py").write_text(
        "import os, signal, sys\n"
        "class Early:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'agentframework.cli.host':\n"
        "            os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.meta_path.insert(0, Early())\n"
    )
    replayed.environment["PYTHONPATH"] = str(tmp_path / "early")
    exchanges.answer("never")
    stream, text = await asyncio.gather(replayed("-p", "hi", *STREAM), replayed("-p", "hi"))
    assert (stream.code, text.code) == (143, 143)
    assert [stream.last["type"], stream.last["subtype"]] == ["result", "interrupted"]
    assert (stream.err, text.out, text.err) == ("", "", "agentframework: interrupted\n")


async def test_a_signal_to_the_interpreter_in_its_last_moments_does_not_change_the_exit_code(
    replayed: Command, exchanges: Exchanges, tmp_path: Path
) -> None:
    # When its modules go, Python has given up all handlers of signals.
    (tmp_path / "last").mkdir()
    (tmp_path / "last" / "sitecustomize.py").write_text(
        "import os, signal\n"
        "class Last:\n"
        "    def __del__(self, kill=os.kill, pid=os.getpid(), numbers=(signal.SIGINT, signal.SIGTERM)):\n"
        "        for number in numbers:\n"
        "            kill(pid, number)\n"
        "        os.write(2, b'last words')\n"
        "last = Last()\n"
    )
    replayed.environment["PYTHONPATH"] = str(tmp_path / "last")
    exchanges.answer("Hello")
    done = await replayed("-p", "hi")
    assert (done.code, done.out, done.err) == (0, "Hello\n", "last words")


async def test_what_the_parent_ignores_stays_ignored(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.runs("while [ ! -e go ]; do sleep 0.01; done")
    process = await replayed.start_shell("trap '' HUP INT; exec AF -p go --allowed-tools Bash")
    await replayed.tool_pid(process)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    (replayed.cwd / "go").touch()
    done = await finish(process)
    assert (done.code, done.out, done.err) == (0, "Done.\n", "")


async def test_a_stopped_command_goes_on_where_it_was(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.runs("while [ ! -e go ]; do sleep 0.01; done")
    # A process group of its own, with its parent in another: only then does the kernel stop it.
    process = await replayed.start("-p", "go", "--allowed-tools", "Bash", *STREAM, process_group=0)
    await replayed.tool_pid(process)
    process.send_signal(signal.SIGTSTP)
    await comes_to(process.pid, state="T")
    (replayed.cwd / "go").touch()
    process.send_signal(signal.SIGCONT)
    done = await finish(process)
    assert (done.code, done.err, done.last["result"]) == (0, "", "Done.")
    assert of("tool_end", done.records)[0]["outcome"] == "success"
