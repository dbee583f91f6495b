import asyncio
import fcntl
import os
import signal
import struct
import termios
from pathlib import Path

import pytest
from headlesskit import Command, Exchanges, alive, appears, comes_to, finish, of

# Runs in the command's own process, as hooks and libraries do: five ways to stdout, from a thread, all the time.
NOISE = '''
import atexit, logging, os, pathlib, subprocess, sys, threading, time, warnings

def make_noise():
    while "agentframework.cli.host" not in sys.modules:
        time.sleep(0.001)
    logging.basicConfig(stream=sys.stdout, level="DEBUG")
    rounds = 0
    while not over.is_set():
        print("NOISE print \\u2028 \\ud800", rounds)
        warnings.warn("NOISE warning %d" % rounds, DeprecationWarning)
        logging.debug("NOISE logging")
        os.write(1, b"NOISE descriptor\\n")
        subprocess.run(["echo", "NOISE child"])
        rounds += 1
        if rounds == 5:
            pathlib.Path("noisy").touch()
        time.sleep(0.002)

def leave():
    over.set()
    thread.join()
    print("NOISE exit")

over = threading.Event()
thread = threading.Thread(target=make_noise, daemon=True)
thread.start()
atexit.register(leave)
'''
NOISES = ("print", "warning", "logging", "descriptor", "child", "exit")


@pytest.mark.parametrize("output", ["json", "stream-json"])
async def test_whatever_prints_prints_to_stderr(
    replayed: Command, exchanges: Exchanges, tmp_path: Path, output: str
) -> None:
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "sitecustomize.py").write_text(NOISE)
    replayed.environment |= {"PYTHONPATH": str(tmp_path / "noise"), "PYTHONWARNINGS": "always"}
    exchanges.runs("while [ ! -e noisy ]; do sleep 0.01; done; echo NOISE result")
    done = await replayed("-p", "go", "--allowed-tools", "Bash", "--verbose", "--output-format", output)
    assert done.code == 0
    found = done.records
    if output == "json":
        assert len(found) == 1
    else:
        assert [found[0]["type"], found[-1]["type"]] == ["session_started", "result"]
        assert "NOISE result" in of("tool_end", found)[0]["result"]
    assert (found[-1]["subtype"], found[-1]["result"]) == ("success", "Done.")
    assert [kind for kind in NOISES if f"NOISE {kind}" not in done.err] == []
    assert "· Bash(" in done.err


async def test_every_text_is_strict_json(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("one\u2028two\u2029three\x85four \ud800 five \x00 \U0001f600")
    done = await replayed("-p", "\udcff", "--output-format", "stream-json")
    assert of("user_message", done.records)[0]["content"] == "\ufffd"
    assert done.last["result"] == "one\u2028two\u2029three\x85four \ufffd five \x00 \U0001f600"


async def test_any_of_the_three_descriptors_may_be_closed(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("", ("Read", {"file_path": "a.txt"})).answer("Hello.")
    (replayed.cwd / "a.txt").write_text("content")
    closed = ["<&-", "2>&-", "<&- 2>&-", ">&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"]
    runs = [replayed.shell(f"AF -p hi --output-format stream-json {which}") for which in closed]
    ended = dict(zip(closed, await asyncio.gather(*runs), strict=True))
    assert {which: done.code for which, done in ended.items()} == {
        which: 1 if ">&-" in which.replace("2>&-", "") else 0 for which in closed
    }
    for which, done in ended.items():
        assert done.is_quiet()
        if done.code == 0:
            assert (done.last["result"], of("tool_end", done.records)[0]["outcome"]) == ("Hello.", "success")
        elif "2>&-" not in which:
            assert done.err == "agentframework: cannot write to stdout: Bad file descriptor\n"


async def test_a_full_disk_is_an_error_on_stdout_and_nothing_on_stderr(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("Hello.")
    text, lines, helped, told, unheard = await asyncio.gather(
        replayed.shell("AF -p hi >/dev/full"),
        replayed.shell("AF -p hi --output-format stream-json >/dev/full"),
        replayed.shell("AF --help >/dev/full"),
        replayed.shell("AF --version >&-"),
        replayed.shell("AF -p hi --cwd /no/such/place --output-format json 2>/dev/full"),
    )
    for done in (text, lines, helped):
        assert (done.code, done.err) == (1, "agentframework: cannot write to stdout: No space left on device\n")
    assert (told.code, told.err) == (1, "agentframework: cannot write to stdout: Bad file descriptor\n")
    assert (unheard.code, unheard.last["error_code"]) == (2, "INVALID_CONFIGURATION")


async def test_a_reader_that_has_enough_is_no_fault_worth_words(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("x" * 400_000)
    done = await replayed.shell("set -o pipefail; AF -p hi --output-format stream-json | head -n 1")
    assert (done.code, done.err) == (141, "")
    assert done.records[0]["type"] == "session_started"


@pytest.mark.parametrize("output", ["text", "stream-json"])
async def test_when_the_reader_leaves_during_a_tool_the_tool_is_ended(
    replayed: Command, exchanges: Exchanges, output: str
) -> None:
    exchanges.runs("sleep 90")
    reading, writing = os.pipe()
    process = await replayed.start("-p", "hi", "--allowed-tools", "Bash", "--output-format", output, stdout=writing)
    os.close(writing)
    tool = await replayed.tool_pid(process)
    os.close(reading)
    done = await finish(process)
    assert (done.code, done.err) == (141, "")
    assert not alive(tool)


async def test_a_slow_reader_gets_everything_and_holds_up_nothing(replayed: Command, exchanges: Exchanges) -> None:
    exchanges.answer("word " * 3_000, ("Bash", {"command": "touch ran"})).answer("Done.")
    process = await replayed.start(
        "-p", "hi", "--allowed-tools", "Bash", "--output-format", "stream-json", limit=2**12
    )
    # Nobody has read a line yet, and the pipe holds 64 KiB.
    assert process.stdout is not None
    await appears(replayed.cwd / "ran", process)
    done = await finish(process)
    found = done.records
    assert "".join(record["text"] for record in of("text_delta", found)) == "word " * 3_000 + "Done."
    assert [record["seq"] for record in found[:-1]] == sorted(record["seq"] for record in found[:-1])
    assert (done.code, found[-1]["result"]) == (0, "Done.")


def waiting_bytes(pipe: int) -> int:
    (count,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, b"\0" * 4))
    return count


async def test_a_reader_that_never_reads_cannot_keep_the_command_from_ending(
    replayed: Command, exchanges: Exchanges
) -> None:
    exchanges.answer("word " * 3_000)
    reading, writing = os.pipe()
    process = await replayed.start("-p", "hi", "--output-format", "stream-json", stdout=writing)
    os.close(writing)
    try:
        await comes_to(process.pid, handles=signal.SIGTERM)
        async with asyncio.timeout(60):
            while waiting_bytes(reading) < 60_000:  # noqa: ASYNC110 - another process writes them
                await asyncio.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        done = await finish(process)
    finally:
        os.close(reading)
    assert done.code == 143
    assert done.is_quiet()
