import asyncio
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentframework import InteractiveSession
from agentframework.errors import ConfigurationError, InvalidInputError
from agentframework.events import BackgroundTaskEvent
from agentframework.messages import ToolMessage
from agentframework.testing import ScriptedProvider, call, say

WAIT_S = 30


class Shells:
    """A session whose commands go to the background, with what its tools answered and its tasks told."""

    def __init__(self, tmp_path: Path, **options: Any) -> None:
        self.provider = ScriptedProvider()
        self.events: list[BackgroundTaskEvent] = []
        self._more = asyncio.Event()
        options.setdefault("allowed_tools", ["Bash"])
        self.session = InteractiveSession(cwd=tmp_path, provider=self.provider, background_shells=True, **options)
        self.session.on(BackgroundTaskEvent, self._told)

    def _told(self, event: BackgroundTaskEvent) -> None:
        self.events.append(event)
        self._more.set()

    async def use(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """The answer to one call, and whether it is an error."""
        self.provider.add(say(call(tool, **arguments)), "done")
        await (await self.session.submit("go")).completed
        part = [m for m in self.session.get_messages() if isinstance(m, ToolMessage)][-1].content[0]
        return part.content, part.is_error

    async def until(self, *kinds: str, says: str = "") -> BackgroundTaskEvent:
        async with asyncio.timeout(WAIT_S):
            while True:
                for event in self.events:
                    if event.kind in kinds and says in str(event.data):
                        return event
                self._more.clear()
                await self._more.wait()


@pytest.fixture
async def shells(tmp_path: Path) -> Any:
    made = Shells(tmp_path)
    yield made
    await made.session.shutdown()


async def comes_true(condition: Callable[[], bool]) -> None:
    """For what commands do, which tell nobody but the file system."""
    async with asyncio.timeout(WAIT_S):
        while not condition():  # noqa: ASYNC110 - nothing could set an event
            await asyncio.sleep(0.02)


def written(*paths: Path) -> bool:
    return all(path.exists() and path.read_text().endswith("\n") for path in paths)


def gone(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] in ("Z", "X")
    except FileNotFoundError:
        return True


async def test_only_if_asked_for_are_the_background_tools_there(tmp_path: Path, shells: Shells) -> None:
    plain = InteractiveSession(cwd=tmp_path, provider=ScriptedProvider())
    names = [tool.name for tool in plain._parts.catalog]  # pyright: ignore[reportPrivateUsage]
    bash = plain._parts.catalog.get("Bash")  # pyright: ignore[reportPrivateUsage]
    assert "BashOutput" not in names
    assert len(names) == 10
    assert bash is not None
    assert "run_in_background" not in bash.input_schema["properties"]
    catalog = shells.session._parts.catalog  # pyright: ignore[reportPrivateUsage]
    assert catalog.names == (*names, "BashOutput", "KillShell")
    for name in ("Bash", "Shell"):
        able = catalog.get(name)
        assert able is not None
        assert "run_in_background" in able.input_schema["properties"]
    await plain.shutdown()


async def test_background_shells_without_a_shell_tool_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="background_shells needs"):
        InteractiveSession(cwd=tmp_path, provider=ScriptedProvider(), background_shells=True, default_tools=[])


async def test_a_command_goes_on_while_the_model_does_something_else_and_its_end_is_told(
    shells: Shells, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "gate")
    command = "cat gate; echo out; echo err >&2; exit 3"
    text, is_error = await shells.use("Bash", command=command, run_in_background=True)
    assert not is_error
    assert text.startswith("Started in the background as task_1.")
    assert [task.status for task in shells.session.list_background_tasks()] == ["running"]
    (tmp_path / "gate").write_text("now\n")
    event = await shells.until("failed")
    assert event.data["message"] == "exit code 3"
    assert event.data["details"]["exit_code"] == 3
    text, _ = await shells.use("Bash", command="true")
    told = str(shells.provider.requests[-2].messages)
    assert "<system-reminder>" in told
    assert "Background task task_1" in told
    assert "has ended after" in told
    await shells.use("Bash", command="true")
    assert str(shells.provider.requests[-1].messages).count("has ended after") == 1


async def test_output_is_read_by_offset_and_from_where_the_last_reading_ended(shells: Shells, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    await shells.use("Bash", command="echo one; echo two >&2; cat gate; echo three", run_in_background=True)
    await shells.until("text_delta", says="two")
    text, _ = await shells.use("BashOutput", task_id="task_1")
    head, *lines = text.split("\n")
    assert re.fullmatch(r"task_1: running \(\d+ s\)", head)
    assert sorted(lines[:-1]) == ["[stderr] two", "one"]
    assert lines[-1] == "[characters 0 to 17 of 17]"
    (tmp_path / "gate").write_text("opened\n")
    await shells.until("completed")
    text, _ = await shells.use("BashOutput", task_id="task_1")
    assert text.split("\n")[0].startswith("task_1: completed: exit code 0 (")
    assert "opened\nthree\n[characters 17 to 30 of 30]" in text
    text, _ = await shells.use("BashOutput", task_id="task_1", offset=24)
    assert "\nthree\n[characters 24 to 30 of 30]" in text
    text, _ = await shells.use("BashOutput", task_id="task_1", offset=-6)
    assert "\nthree\n" in text


async def test_a_line_that_has_not_ended_is_read_too(shells: Shells, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gate")
    command = "printf 'Password: '; touch there; cat gate"
    await shells.use("Bash", command=command, run_in_background=True)
    await comes_true(lambda: shells.session.read_background_task_log("task_1").text == "Password: ")
    await shells.session.cancel_background_task("task_1")


async def test_lines_are_picked_by_an_expression_that_cannot_hang(shells: Shells) -> None:
    command = "for i in $(seq 1 20000); do echo line $i; done; head -c 60000 /dev/zero | tr '\\0' a; echo b"
    await shells.use("Bash", command=command, run_in_background=True)
    await shells.until("completed")
    text, _ = await shells.use("BashOutput", task_id="task_1", offset=0, filter=r"line 1999\d$")
    assert text.split("\n")[1:-1] == [f"line {i}" for i in range(19990, 20000)]
    text, _ = await shells.use("BashOutput", task_id="task_1", offset=0, filter="(a+)+$")
    assert text.split("\n")[1] == "(no output)"
    text, is_error = await shells.use("BashOutput", task_id="task_1", filter="(")
    assert (is_error, "is not a regular expression" in text) == (True, True)
    first, _ = await shells.use("BashOutput", task_id="task_1", offset=0)
    assert "go on with offset 29000]" in first
    assert len(first) <= 30_000


async def test_killing_ends_the_whole_group_and_says_so(shells: Shells, tmp_path: Path) -> None:
    command = "echo $$ > pid; sleep 300 & echo $! > child; wait"
    await shells.use("Bash", command=command, run_in_background=True)
    await comes_true(lambda: written(tmp_path / "child"))
    pids = [int((tmp_path / name).read_text()) for name in ("pid", "child")]
    text, is_error = await shells.use("KillShell", task_id="task_1")
    assert (text, is_error) == ("task_1 was ended; it wrote 0 characters", False)
    assert all(gone(pid) for pid in pids)
    assert [event.kind for event in shells.events] == ["created", "started", "cancelled"]
    text, is_error = await shells.use("KillShell", task_id="task_1")
    assert (text, is_error) == ("task_1 had ended already: cancelled, ended by KillShell", False)


@pytest.mark.parametrize("tool", ["BashOutput", "KillShell"])
async def test_an_unknown_task_is_an_error_result(shells: Shells, tool: str) -> None:
    text, is_error = await shells.use(tool, task_id="task_9")
    assert is_error
    assert "no background task 'task_9'; known are: there are none" in text


async def test_a_time_limit_holds_in_the_background_if_given(shells: Shells) -> None:
    await shells.use("Bash", command="echo begun; sleep 300", run_in_background=True, timeout=300)
    event = await shells.until("failed")
    assert event.data["message"] == "timed out after 300 ms"
    text, _ = await shells.use("BashOutput", task_id="task_1")
    assert "begun" in text


async def test_background_commands_need_permission_like_others(tmp_path: Path) -> None:
    shells = Shells(tmp_path, allowed_tools=[])
    text, is_error = await shells.use("Bash", command="touch owned", run_in_background=True)
    assert is_error
    assert "permission denied" in text
    assert shells.session.list_background_tasks() == []
    await shells.session.shutdown()


async def test_an_abort_stops_the_turn_and_leaves_background_tasks_alone(shells: Shells) -> None:
    await shells.use("Bash", command="sleep 300", run_in_background=True)
    shells.provider.add(say(call("Bash", command="sleep 300")))
    shells.session.on("tool_start", lambda event: shells.session.abort())
    result = await (await shells.session.submit("go")).completed
    assert result.interrupted
    assert shells.session.get_background_task("task_1").status == "running"


async def test_the_end_of_the_session_ends_every_process(tmp_path: Path) -> None:
    (tmp_path / "stubborn.sh").write_text("trap '' TERM; echo $$ > pid$1; while :; do sleep 1; done")
    shells = Shells(tmp_path)
    for number in (1, 2):
        await shells.use("Bash", command=f"sh stubborn.sh {number}", run_in_background=True)
    await comes_true(lambda: written(tmp_path / "pid1", tmp_path / "pid2"))
    await shells.session.shutdown()
    assert all(gone(int((tmp_path / f"pid{n}").read_text())) for n in (1, 2))
    assert [event.kind for event in shells.events if event.kind == "cancelled"] == ["cancelled"] * 2


async def test_a_host_can_watch_end_and_forget_tasks_itself(shells: Shells) -> None:
    await shells.use("Bash", command="echo hi; sleep 300", description="a server", run_in_background=True)
    await shells.until("text_delta", says="hi")
    session = shells.session
    (task,) = session.list_background_tasks(status="running", kind="process")
    assert (task.id, task.label, task.details["command"]) == ("task_1", "a server", "echo hi; sleep 300")
    read = session.read_background_task_log(task.id)
    assert (read.text, read.next_offset) == ("hi\n", 3)
    assert session.read_background_task_log(task.id, read.next_offset).text == ""
    with pytest.raises(InvalidInputError, match="takes no input"):
        session.send_background_task(task.id, "x")
    after = await session.cancel_background_task(task.id)
    assert (after.status, after.message) == ("cancelled", "cancelled by the user")
    session.close_background_task(task.id)
    assert session.list_background_tasks() == []


async def test_a_signal_that_ended_the_command_is_named(shells: Shells) -> None:
    await shells.use("Bash", command="kill -SEGV $$", run_in_background=True)
    event = await shells.until("failed")
    assert event.data["message"] == f"exit code {128 + signal.SIGSEGV} (SIGSEGV)"
