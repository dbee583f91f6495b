import subprocess
import sys
from pathlib import Path

from agentframework import McpClientManager, StdioServer
from agentframework.mcp import normalize_mcp_tool_result


def make_repository(folder: Path) -> None:
    subprocess.run(["git", "init", "-q", str(folder)], check=True)


async def test_published_servers_of_the_modern_era_are_used(tmp_path: Path) -> None:
    make_repository(tmp_path)
    servers = {
        "git": StdioServer(sys.executable, ["-m", "mcp_server_git", "-r", str(tmp_path)], startup_timeout_s=120),
        "time": StdioServer(
            sys.executable, ["-m", "mcp_server_time", "--local-timezone", "UTC"], startup_timeout_s=120
        ),
    }
    async with McpClientManager(servers) as manager:
        assert [(one.status, one.era) for one in manager.summaries()] == [("connected", "modern")] * 2
        status = await manager.call_tool("git", "git_status", {"repo_path": str(tmp_path)})
        assert "No commits yet" in normalize_mcp_tool_result(status).content
        told = normalize_mcp_tool_result(await manager.call_tool("time", "get_current_time", {"timezone": "UTC"}))
        assert told.structured["timezone"] == "UTC"
        assert told.content.count("timezone") == 1  # text and structured content say the same
        await manager.ping("git")
