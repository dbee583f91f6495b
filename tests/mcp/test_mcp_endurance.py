import asyncio
import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest
from full_server import Around, make_server, served
from http_server import RawHttp
from mcpkit import FAST, Raw, Watch, alive, eventually, manager_of

from agentframework import HttpServer, McpClientManager, McpError, McpOperationError, McpOptions, ReconnectPolicy

STUBBORN = """
    import signal
    def start():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        for line in sys.stdin:
            handle(json.loads(line))
        while True:
            time.sleep(1)
"""
KNOWN_PROMPTS = """
    CAPABILITIES["prompts"] = {"listChanged": True}
    METHODS["prompts/list"] = lambda params: {"prompts": [{"name": "p"}]}
    def call(request, name, arguments):
        notify("notifications/prompts/list_changed")
        reply(request, text("changed"))
"""
OWNER = """
    import asyncio, sys
    from agentframework import McpClientManager, StdioServer
    async def main():
        command, *args = sys.argv[2:]
        server = StdioServer(command, args, env={"RAW_LOG": sys.argv[1]})
        async with McpClientManager({"a": server}) as manager:
            print(manager.summaries()[0].status, flush=True)
            await asyncio.Event().wait()
    asyncio.run(main())
"""


async def test_a_stubborn_server_ends_when_its_owner_was_killed(raw: Raw) -> None:
    server = raw(STUBBORN)
    words = [sys.executable, "-c", textwrap.dedent(OWNER), str(server.log), server.server.command, *server.server.args]
    owner = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    try:
        assert owner.stdout is not None
        async with asyncio.timeout(60):
            assert await owner.stdout.readline() == b"connected\n"
        assert alive(server.pid)
    finally:
        owner.kill()
        await owner.wait()
    await eventually(lambda: not alive(server.pid))


async def test_a_server_that_fell_silent_is_found_out_and_started_again(raw: Raw, tmp_path: Path) -> None:
    silent = tmp_path / "silent"
    server = raw(
        f"""
        normal = handle
        def handle(message):
            if not os.path.exists({str(silent)!r}):
                normal(message)
        """
    )
    policy = ReconnectPolicy(
        initial_delay_s=0.05, max_delay_s=0.2, health_check_interval_s=0.2, health_check_timeout_s=0.3, max_attempts=100
    )
    async with manager_of(server, reconnect=policy) as manager:
        watch, first = Watch(manager), server.pid
        silent.touch()
        await watch.until(lambda: "disconnected" in watch.statuses("a"))
        assert any("health check" in (event.reason or "") for event in watch.of("mcp_server_status"))
        silent.unlink()
        await watch.until(lambda: manager.get_connection("a").status == "connected")
        assert server.pid != first
        assert not alive(first)


async def test_a_late_answer_is_ignored(raw: Raw) -> None:
    server = raw(
        """
        late = []
        def call(request, name, arguments):
            if arguments["text"] == "slow":
                late.append(request)
                return
            while late:
                reply(late.pop(), text("late"))
            reply(request, text(arguments["text"]))
        """
    )
    async with manager_of(server) as manager:
        with pytest.raises(McpOperationError, match="timed out"):
            await manager.call_tool("a", "echo", {"text": "slow"}, timeout_s=0.2)
        for word in ("one", "two"):
            result = await manager.call_tool("a", "echo", {"text": word})
            assert result.content[0].text == word  # type: ignore[union-attr]
        assert server.heard().count("initialize") == 1


@pytest.mark.parametrize(("lifetime_s", "asked"), [(300, 1), (0, 3)])
async def test_a_listing_is_kept_as_long_as_told_where_the_server_says_nothing(
    lifetime_s: float, asked: int, raw: Raw
) -> None:
    server = raw(KNOWN_PROMPTS)
    async with manager_of(server, cache_ttl_s=lifetime_s) as manager:
        for _ in range(3):
            assert [prompt.name for prompt in await manager.list_prompts("a")] == ["p"]
        assert server.heard().count("prompts/list") == asked


async def test_a_listing_is_not_kept_over_a_notice_that_it_changed(raw: Raw) -> None:
    server = raw(KNOWN_PROMPTS)
    async with manager_of(server, cache_ttl_s=300) as manager:
        await manager.list_prompts("a")
        await manager.call_tool("a", "echo", {})
        await manager.list_prompts("a")
        assert server.heard().count("prompts/list") == 2


async def test_a_server_decides_how_long_its_listing_is_kept() -> None:
    app = Around(make_server().streamable_http_app())  # it says: not at all
    async with served(app) as address:
        options = McpOptions(reconnect=FAST, cache_ttl_s=300)
        async with McpClientManager({"full": HttpServer(address + "/mcp")}, options=options) as manager:
            before = app.requests
            for _ in range(2):
                assert [prompt.name for prompt in await manager.list_prompts("full")] == ["summarize"]
            assert app.requests - before == 2


async def test_an_answer_over_http_is_bounded(tmp_path: Path) -> None:
    async with RawHttp() as server:
        small = server.call

        async def large(_message: object) -> object:
            return {"content": [{"type": "text", "text": "x" * 300_000}]}

        server.call = large
        bounded = HttpServer(server.url, max_buffer_size=100_000)
        async with McpClientManager({"a": bounded}, options=McpOptions(reconnect=FAST)) as manager:
            with pytest.raises(McpError):
                await manager.call_tool("a", "echo", {})
            assert any("larger than 100000 bytes" in problem for _, problem in manager.problems)
            server.call = small
            assert not (await manager.call_tool("a", "echo", {})).is_error


async def test_killing_servers_again_and_again_leaks_nothing(raw: Raw) -> None:
    servers = [raw() for _ in range(4)]
    async with manager_of(*servers, reconnect=ReconnectPolicy(initial_delay_s=0.01, max_delay_s=0.02)) as manager:
        await asyncio.gather(*(manager.call_tool(one, "echo", {"text": "x"}) for one in manager.server_ids))
        descriptors = len(os.listdir("/proc/self/fd"))
        tasks = len(asyncio.all_tasks())
        for victim in servers:
            pid = victim.pid
            os.kill(pid, signal.SIGKILL)
            await eventually(lambda victim=victim, pid=pid: victim.pid != pid)
        await eventually(lambda: all(one.status == "connected" for one in manager.summaries()))
        await asyncio.gather(*(manager.call_tool(one, "echo", {"text": "x"}) for one in manager.server_ids))
        await eventually(lambda: len(os.listdir("/proc/self/fd")) <= descriptors)
        await eventually(lambda: len(asyncio.all_tasks()) <= tasks)
    assert not any(alive(server.pid) for server in servers)
