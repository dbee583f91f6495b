import asyncio
import os
import signal

import pytest
from mcpkit import FAST, WAIT_S, Raw, Watch, alive, eventually, manager_of

from agentframework import (
    ConfigurationError,
    McpClientManager,
    McpDisconnectedError,
    McpOperationError,
    McpOptions,
    ReconnectPolicy,
    StdioServer,
    map_with_concurrency,
)
from agentframework._base.abort import AbortedError, AbortSignal


async def test_servers_connect_side_by_side_and_one_that_fails_harms_nobody(raw: Raw) -> None:
    manager = McpClientManager({"good": raw().server, "gone": StdioServer("/no/such/program"), "also": raw().server})
    watch = Watch(manager)
    async with manager:
        good, gone, also = manager.summaries()
        assert (good.status, also.status) == ("connected", "connected")
        assert (good.era, good.protocol_version, good.tools) == ("legacy", "2025-06-18", ("mcp__good__echo",))
        assert gone.status == "failed"
        assert "no such program" in (gone.reason or "")
        result = await manager.call_tool("good", "echo", {"text": "hello"})
        assert result.content[0].text == "hello"  # type: ignore[union-attr]
        with pytest.raises(McpDisconnectedError, match="gone is not connected"):
            await manager.call_tool("gone", "echo")
    assert watch.statuses("good") == ["connecting", "connected", "closed"]
    assert watch.statuses("gone")[:2] == ["connecting", "failed"]
    assert {event.name for event in watch.of("mcp_tool_discovered")} == {"mcp__good__echo", "mcp__also__echo"}


async def test_a_program_that_ends_at_once_is_named_with_its_last_words(tmp_path) -> None:
    manager = McpClientManager({"a": StdioServer("sh", ["-c", "echo the cat ate the key >&2; exit 3"])})
    (summary,) = await manager.connect_all()
    await manager.disconnect_all()
    assert summary.status == "failed"
    assert "ended with code 3" in (summary.reason or "")
    assert "the cat ate the key" in (summary.reason or "")


async def test_a_silent_program_is_given_up_and_killed(tmp_path) -> None:
    silent = StdioServer("sh", ["-c", f"echo $$ > {tmp_path}/pid; exec sleep 600"], startup_timeout_s=0.5)
    manager = McpClientManager({"silent": silent})
    (summary,) = await manager.connect_all()
    assert summary.status == "failed"
    assert "0.5 s" in (summary.reason or "")
    assert not alive(int((tmp_path / "pid").read_text()))
    await manager.disconnect_all()


async def test_servers_come_change_and_go_while_the_manager_runs(raw: Raw) -> None:
    manager = manager_of(raw())
    watch = Watch(manager)
    async with manager:
        await manager.add_server("late", raw().server)
        assert [tool.name for tool in manager.tools.all()] == ["mcp__a__echo", "mcp__late__echo"]
        with pytest.raises(ConfigurationError, match="already"):
            await manager.add_server("late", raw().server)
        fresh = raw("TOOLS[0]['name'] = 'shout'")
        summary = await manager.update_server("late", fresh.server)
        assert summary.tools == ("mcp__late__shout",)
        pid = fresh.pid
        await manager.remove_server("late")
        assert not alive(pid)
        assert manager.server_ids == ("a",)
        assert [tool.name for tool in manager.tools.all()] == ["mcp__a__echo"]
        with pytest.raises(ConfigurationError, match="no MCP server 'late'"):
            manager.get_connection("late")
    changes = [event.change for event in watch.of("mcp_server_configuration_changed")]
    assert changes == ["added", "updated", "removed"]
    assert [event.removed for event in watch.of("mcp_tool_catalog_updated")][-2:] == [
        (),
        ("mcp__late__shout",),
    ]


async def test_a_killed_server_fails_its_call_at_once_and_is_started_again(raw: Raw) -> None:
    server = raw(
        """
        def call(request, name, arguments):
            if arguments.get("text") == "die":
                import signal
                os.kill(os.getpid(), signal.SIGKILL)
            reply(request, text("alive"))
        """
    )
    manager = manager_of(server)
    watch = Watch(manager)
    async with manager:
        with pytest.raises(McpDisconnectedError, match="lost during call_tool"):
            await manager.call_tool("a", "echo", {"text": "die"})
        result = await manager.call_tool("a", "echo", {"text": "again"})
        assert result.content[0].text == "alive"  # type: ignore[union-attr]
        assert server.heard().count("tools/call") == 2  # never sent twice
    assert watch.statuses("a")[:5] == ["connecting", "connected", "disconnected", "connecting", "connected"]
    reasons = [event.reason for event in watch.of("mcp_server_status") if event.status == "disconnected"]
    assert "signal 9" in reasons[0]


async def test_a_server_that_closes_its_output_but_runs_on_is_lost_and_killed(raw: Raw) -> None:
    server = raw(
        """
        def call(request, name, arguments):
            if arguments.get("text") == "close":
                os.close(1)
                time.sleep(600)
            reply(request, text("alive"))
        """
    )
    manager = manager_of(server)
    async with manager:
        pid = server.pid
        with pytest.raises(McpDisconnectedError):
            await manager.call_tool("a", "echo", {"text": "close"})
        result = await manager.call_tool("a", "echo", {})
        assert result.content[0].text == "alive"  # type: ignore[union-attr]
        assert not alive(pid)


async def test_a_server_that_dies_again_and_again_is_given_up(raw: Raw) -> None:
    server = raw("def call(request, name, arguments):\n    os._exit(7)\n")
    policy = ReconnectPolicy(max_attempts=2, initial_delay_s=0.01, max_delay_s=60)
    manager = manager_of(server, reconnect=policy)
    watch = Watch(manager)
    async with manager:
        for _ in range(3):
            with pytest.raises(McpDisconnectedError):
                await manager.call_tool("a", "echo", {})
        await watch.until(lambda: manager.get_connection("a").status == "failed")
        assert "again and again" in (manager.get_connection("a").reason or "")
        assert len([line for line in server.heard() if line.startswith("start")]) == 3


async def test_a_silent_call_ends_at_its_limit_and_the_server_is_told(raw: Raw) -> None:
    server = raw("def call(request, name, arguments):\n    pass\n")
    async with manager_of(server) as manager:
        with pytest.raises(McpOperationError, match=r"timed out: no answer within 0\.2 s") as caught:
            await manager.call_tool("a", "echo", {}, timeout_s=0.2)
        assert caught.value.details["timeout_s"] == 0.2
        await eventually(lambda: any(line.startswith("cancelled") for line in server.heard()))
        assert (await manager.list_tools("a"))[0].name == "echo"


SLOW = """
def call(request, name, arguments):
    token = request["params"]["_meta"]["progressToken"]
    for step in range(6):
        time.sleep(0.25)
        notify("notifications/progress", progressToken=token, progress=step, total=6, message="step")
    reply(request, text("done"))
"""


async def test_progress_starts_the_limit_again_but_not_the_total_one(raw: Raw) -> None:
    seen: list[float] = []
    async with manager_of(raw(SLOW)) as manager:
        result = await manager.call_tool(
            "a", "echo", {}, timeout_s=1.2, on_progress=lambda progress, _total, _message: seen.append(progress)
        )
        assert result.content[0].text == "done"  # type: ignore[union-attr]
        assert seen == sorted(seen)
        assert seen
        with pytest.raises(McpOperationError, match="in all"):
            await manager.call_tool("a", "echo", {}, timeout_s=10, max_total_timeout_s=0.6)


async def test_a_call_is_stopped_by_its_signal_and_by_its_caller(raw: Raw) -> None:
    server = raw("def call(request, name, arguments):\n    pass\n")
    async with manager_of(server) as manager:
        abort = AbortSignal()
        call = asyncio.ensure_future(manager.call_tool("a", "echo", {}, abort=abort))
        await eventually(lambda: "tools/call" in server.heard())
        abort.abort("enough")
        with pytest.raises(AbortedError):
            await call
        call = asyncio.ensure_future(manager.call_tool("a", "echo", {}))
        await eventually(lambda: server.heard().count("tools/call") == 2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await eventually(lambda: sum(line.startswith("cancelled") for line in server.heard()) == 2)


async def test_no_process_outlives_its_manager_however_stubborn(raw: Raw) -> None:
    server = raw(
        """
        import signal, subprocess
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        log("child " + str(child.pid))
        def start():
            for line in sys.stdin:
                handle(json.loads(line))
            time.sleep(600)
        """
    )
    async with manager_of(server):
        pids = [server.pid, int(next(line for line in server.heard() if line.startswith("child")).split()[1])]
        assert all(map(alive, pids))
    assert not any(map(alive, pids))


async def test_cancelling_the_owner_ends_the_processes(raw: Raw) -> None:
    server = raw()

    async def own() -> None:
        async with manager_of(server):
            await asyncio.Event().wait()

    task = asyncio.ensure_future(own())
    await eventually(lambda: "tools/list" in server.heard())
    pid = server.pid
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not alive(pid)


async def test_nothing_is_left_after_the_end(raw: Raw) -> None:
    async with manager_of(raw()):  # what the first one leaves is the official client itself
        pass
    tasks, files = len(asyncio.all_tasks()), len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        async with manager_of(raw(), raw(), raw("def call(request, name, arguments):\n    os._exit(1)\n")) as manager:
            with pytest.raises(McpDisconnectedError):
                await manager.call_tool("c", "echo", {})
    assert len(asyncio.all_tasks()) == tasks
    assert len(os.listdir("/proc/self/fd")) <= files


async def test_without_reconnecting_a_lost_server_stays_lost(raw: Raw) -> None:
    server = raw()
    manager = manager_of(server, reconnect=ReconnectPolicy(enabled=False))
    watch = Watch(manager)
    async with manager:
        os.kill(server.pid, signal.SIGKILL)
        await watch.until(lambda: manager.get_connection("a").status == "disconnected")
        with pytest.raises(McpDisconnectedError, match="signal 9"):
            await manager.call_tool("a", "echo", {})
        await manager.connect("a")
        assert manager.get_connection("a").status == "connected"


async def test_work_is_spread_over_a_few_at_a_time_and_keeps_its_order() -> None:
    running = most = 0

    async def work(number: int) -> int:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return number * 2

    async with asyncio.timeout(WAIT_S):
        assert await map_with_concurrency(range(10), work, 3) == [number * 2 for number in range(10)]
    assert most == 3
    with pytest.raises(ConfigurationError):
        await map_with_concurrency([1], work, 0)


async def test_a_manager_without_servers_is_no_fault() -> None:
    async with McpClientManager({}, options=McpOptions(reconnect=FAST)) as manager:
        assert manager.summaries() == []
