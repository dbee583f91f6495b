"""The tools of an agent, shared by all its runs: its own, those of the host's executor, those of servers."""

from agentframework._base.owner import TaskOwner
from agentframework.assembly import AssemblyOptions
from agentframework.assembly.servers import ConversationServers
from agentframework.mcp.manager import Emit
from agentframework.sandbox import LocalSandbox
from agentframework.tools import ToolCatalog, ToolExecutor
from agentframework.tools.executors import close, initialize, tools_of

_GROUP = "executor"


class AgentTools:
    """Nothing is connected or asked before `load`. Raises `ConfigurationError` or ``TOOL_NAME_CONFLICT``."""

    def __init__(self, options: AssemblyOptions, executor: ToolExecutor | None, emit: Emit) -> None:
        self.cwd = LocalSandbox(options.cwd).roots[0]
        self._catalog = ToolCatalog(options.tools.default_tools or ())
        self._executor = executor
        self._opened = False
        if executor is not None:
            self._catalog.replace_group(_GROUP, ())  # its place, ahead of the servers
        self.servers = ConversationServers(options.servers, self._catalog, emit, self.cwd)

    async def load(self, owner: TaskOwner) -> None:
        """Take the executor's tools and begin to connect the servers, as a task of ``owner``."""
        self.servers.begin(owner)
        if self._executor is not None:
            await initialize(self._executor)
            self._opened = True
            self._catalog.replace_group(_GROUP, await tools_of(self._executor))

    async def close(self) -> None:
        """End the connections, and the executor if it was opened."""
        try:
            await self.servers.close()
        finally:
            if self._executor is not None and self._opened:
                self._opened = False
                await close(self._executor)
