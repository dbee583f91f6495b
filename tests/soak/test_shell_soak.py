"""Many shell calls in one process: nothing may be left of them. ``make soak`` makes a thousand of each."""

import asyncio
import os
import resource
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agentframework.abilities.background import BackgroundRegistry
from agentframework.testing import tool_context
from agentframework.tools import Tool
from agentframework.tools.background import CanGoToBackground
from tools_builtin.bash import bash_tool
from tools_builtin.shell import ShellState

CALLS = int(os.environ.get("SOAK_CALLS", "12"))
OUTPUT_BYTES = 300_000_000 if CALLS >= 1000 else 60_000_000
MOST_MEMORY_KB = 50_000
WAIT_S = 240
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts in /proc")


def background_bash(registry: BackgroundRegistry) -> Tool:
    tool = bash_tool(ShellState(os.environ))
    assert isinstance(tool, CanGoToBackground)
    return tool.with_background(registry)


def silent(kind: str, data: Any) -> None:
    """Nobody listens."""


def children() -> set[str]:
    return {pid for listing in Path("/proc/self/task").glob("*/children") for pid in listing.read_text().split()}


class Before:
    """What this process holds now, to be compared with later."""

    def __init__(self) -> None:
        self._descriptors = len(os.listdir("/proc/self/fd"))
        self._children = children()
        self._threads = threading.active_count()

    async def is_as_now(self) -> None:
        assert len(os.listdir("/proc/self/fd")) <= self._descriptors
        assert children() <= self._children
        async with asyncio.timeout(WAIT_S):  # the thread that waited for a process ends after it
            while threading.active_count() > self._threads:  # noqa: ASYNC110 - nothing could set an event
                await asyncio.sleep(0.02)


async def ordinary(tool: Tool, folder: Path) -> None:
    await tool.run({"command": "echo out; echo err >&2; exit 1"}, tool_context(folder))


async def littering(tool: Tool, folder: Path) -> None:
    await tool.run({"command": "sleep 300 & setsid sleep 300 & echo out"}, tool_context(folder))


async def aborted(tool: Tool, folder: Path) -> None:
    task = asyncio.ensure_future(tool.run({"command": "yes"}, tool_context(folder)))
    await asyncio.sleep(0.01)  # wherever that finds it
    task.cancel()
    await asyncio.wait({task})


@pytest.mark.parametrize("one", [ordinary, littering, aborted])
async def test_many_calls_leave_nothing_behind(one: Callable[[Tool, Path], Awaitable[None]], tmp_path: Path) -> None:
    tool = bash_tool(ShellState(os.environ))
    await one(tool, tmp_path)  # what is made once, such as threads of a pool, is there now
    before = Before()
    for _ in range(CALLS if one is ordinary else CALLS // 4):
        await one(tool, tmp_path)
    await before.is_as_now()


async def test_many_background_tasks_leave_nothing_behind(tmp_path: Path) -> None:
    before = Before()
    registry = BackgroundRegistry(silent)
    tool = background_bash(registry)
    for number in range(CALLS):
        await tool.run({"command": "echo x; exec sleep 300", "run_in_background": True}, tool_context(tmp_path))
        async with asyncio.timeout(WAIT_S):
            while not registry.get(f"task_{number + 1}").output_characters:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
        await registry.cancel(f"task_{number + 1}", "enough")
    await registry.close()
    await before.is_as_now()


@pytest.mark.parametrize("in_background", [False, True])
async def test_megabytes_of_output_cost_little_memory(tmp_path: Path, in_background: bool) -> None:
    ended = asyncio.Event()
    registry = BackgroundRegistry(lambda kind, data: ended.set() if kind == "completed" else None)
    arguments = {
        "command": f"yes 'a line of text' | head -c {OUTPUT_BYTES}; echo END",
        "run_in_background": in_background,
        "timeout": WAIT_S * 1000,
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = await background_bash(registry).run(arguments, tool_context(tmp_path))
    if in_background:
        async with asyncio.timeout(WAIT_S):
            await ended.wait()
        assert registry.read("task_1", -4).text == "END\n"
        assert registry.get("task_1").output_characters == OUTPUT_BYTES + 4
    else:
        assert result.content.endswith("END")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MOST_MEMORY_KB
    await registry.close()
