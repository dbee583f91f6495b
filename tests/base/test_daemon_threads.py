import asyncio
import contextvars
import subprocess
import sys
import threading

import anyio
import pytest
from anyio import from_thread

from agentframework._base.threads import in_daemon_thread

WAIT_S = 20
name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody")


async def test_the_result_and_the_error_of_the_work_come_back() -> None:
    assert await in_daemon_thread(lambda: threading.current_thread().daemon) is True

    def fail() -> None:
        raise KeyError("k")

    with pytest.raises(KeyError):
        await in_daemon_thread(fail)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await in_daemon_thread(lambda: next(iter(())))


async def test_the_work_sees_the_variables_of_its_caller_and_may_call_back() -> None:
    name.set("alice")

    async def where(what: str) -> str:
        return f"{what} in {threading.current_thread() is threading.main_thread()}"

    def work() -> tuple[str, str]:
        return name.get(), from_thread.run(where, "back")

    assert await in_daemon_thread(work) == ("alice", "back in True")


async def test_a_cancelled_caller_leaves_the_thread_alone_and_threads_are_used_again() -> None:
    began, go, over = asyncio.Event(), threading.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def work() -> None:
        loop.call_soon_threadsafe(began.set)
        go.wait(WAIT_S)
        over.set()

    task = asyncio.ensure_future(in_daemon_thread(work))
    async with asyncio.timeout(WAIT_S):
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert not over.is_set()
    go.set()
    assert await in_daemon_thread(lambda: over.wait(WAIT_S))


def test_many_calls_share_few_threads() -> None:
    async def main() -> set[int]:
        return {await in_daemon_thread(threading.get_ident) for _ in range(200)}

    # Each call may begin before the thread of the one before is back; that is rare.
    assert len(anyio.run(main)) < 50


STUCK = """
import asyncio, threading
from agentframework import tool
from agentframework._base.abort import AbortedError, AbortSignal, run_abortable
from agentframework.testing import tool_context
from agentframework.tools.executor import execute_tool

@tool
def stuck() -> str:
    'Ignores its abort for ever.'
    began.set()
    threading.Event().wait()
    return ''

began = threading.Event()

async def main():
    context = tool_context('.')
    work = asyncio.ensure_future(run_abortable(execute_tool(stuck, {}, context), context.abort, grace_s=0.1))
    while not began.is_set():
        await asyncio.sleep(0.01)
    context.abort.abort()
    try:
        await work
    except AbortedError:
        print('over')

asyncio.run(main())
"""


def test_a_sync_tool_that_ignores_its_abort_does_not_keep_the_program_from_ending() -> None:
    run = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stdout, run.stderr) == (0, "over\n", "")
