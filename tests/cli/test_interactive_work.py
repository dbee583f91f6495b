"""What goes on beside the conversation in the interactive mode: tasks in the background, the list of steps."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from screenkit import WAIT_S, Recording, Terminal

Start = Callable[..., Terminal]


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    return Recording(tmp_path / "recording.jsonl")


@pytest.fixture
async def start(recording: Recording, tmp_path: Path) -> AsyncIterator[Start]:
    started: list[Terminal] = []
    (tmp_path / "project").mkdir()

    def begin(**options: Any) -> Terminal:
        arguments = ["--provider", recording.option, "--allowed-tools", "Bash"]
        started.append(Terminal(arguments, tmp_path / "project", **options))
        return started[-1]

    yield begin
    for terminal in started:
        await terminal.close()


def in_background(command: str) -> tuple[str, dict[str, Any]]:
    return "Bash", {"command": command, "description": "a server", "run_in_background": True}


async def test_the_status_counts_tasks_in_the_background_and_their_end_is_told(recording, start, tmp_path) -> None:
    recording.answer("", in_background("while [ ! -e go ]; do sleep 0.05; done")).answer("It runs.")
    terminal = start()
    await terminal.idle()
    terminal.type("serve\r")
    await terminal.shows("It runs.", "recorded | default | context", "| 1 in background")
    (tmp_path / "project" / "go").touch()
    await terminal.shows("[task_1 (a server) completed: exit code 0]")
    await terminal.until(lambda screen: "in background" not in screen.lines[-1])


async def test_leaving_ends_the_tasks_in_the_background(recording, start, tmp_path) -> None:
    recording.answer("", in_background("echo $$ > pid.new; mv pid.new pid; exec sleep 300")).answer("It runs.")
    terminal = start(TERM="dumb")
    await terminal.shows("context 0%")
    terminal.type("serve\n")
    await terminal.shows("It runs.", "1 in background")
    async with asyncio.timeout(WAIT_S):
        while not (tmp_path / "project" / "pid").exists():  # noqa: ASYNC110 - nothing could set an event
            await asyncio.sleep(0.02)
    pid = int((tmp_path / "project" / "pid").read_text())
    terminal.type("/exit\n")
    assert await terminal.exit_code() == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_a_list_of_steps_is_shown_as_it_changes(recording, start) -> None:
    steps = [
        {"content": "Run the tests", "status": "completed", "activeForm": "Running the tests"},
        {"content": "Mend it", "status": "in_progress", "activeForm": "Mending it"},
        {"content": "Tell", "status": "pending", "activeForm": "Telling"},
    ]
    recording.answer("First a plan.", ("TodoWrite", {"todos": steps})).answer("Done.")
    terminal = start()
    await terminal.idle()
    terminal.type("go\r")
    await terminal.shows("Done.")
    assert re.search(
        r"First a plan\.\s+\[x\] Run the tests\s+\[>\] Mending it\s+\[ \] Tell\s+Done\.", terminal.screen.text
    )
