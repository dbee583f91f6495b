"""Keeps the tools of one server up to date: read after each connect and after the server says that they changed.

A burst of notices is answered once, after a pause that begins with the first of them; a notice that comes while
reading is answered once more after it. A server whose notices never bring a change is asked ever more rarely, so that
one which sends a notice for each reading cannot keep us busy.
"""

import asyncio
from collections.abc import Callable, Sequence

from agentframework._base.owner import TaskOwner
from agentframework.errors import McpError
from agentframework.mcp.connection import McpConnection
from agentframework.mcp.discovery import usable_definitions
from agentframework.tools.registry import DiscoveredTool, ToolRegistry

SLOWER = 4
SLOWEST_S = 60.0

Updated = Callable[[Sequence[DiscoveredTool], Sequence[DiscoveredTool]], None]


class ServerCatalog:
    """The tools of one server in a `ToolRegistry`.

    ``updated(before, after)`` is called when they were read and differ, and after the first reading.
    """

    def __init__(
        self, connection: McpConnection, registry: ToolRegistry, updated: Updated, note: Callable[[str], None]
    ) -> None:
        self._connection = connection
        self._registry = registry
        self._updated = updated
        self._note = note
        self._owner = TaskOwner()
        self._reading = asyncio.Lock()
        self._again: asyncio.Task[None] | None = None
        self._noticed = False
        self._in_vain = 0
        self.known = False

    async def read(self) -> None:
        """Read the tools now. Raises `McpError`; the old ones stay then."""
        async with self._reading:
            connection = self._connection
            listed = await connection.list_tools(refresh=True)
            offered = [tool for tool in listed if connection.server.offers(tool.name)]
            server_id = connection.server_id
            before = self._registry.server_tools(server_id)
            self._registry.replace_server_tools(server_id, usable_definitions(server_id, offered, self._note))
            after = self._registry.server_tools(server_id)
            self._note_unknown_names(tool.name for tool in listed)
            self._in_vain = self._in_vain + 1 if self.known and after == before else 0
            if after != before or not self.known:
                self.known = True
                self._updated(before, after)

    def notice(self, debounce_s: float) -> None:
        """The server says that its tools changed."""
        self._noticed = True
        if self._again is None or self._again.done():
            self._again = self._owner.start(self._follow(debounce_s), f"mcp tools {self._connection.server_id}")

    async def _follow(self, debounce_s: float) -> None:
        while self._noticed:
            slower = SLOWER ** min(self._in_vain, 10)
            await asyncio.sleep(min(max(debounce_s, 0.05) * slower, max(SLOWEST_S, debounce_s)))
            self._noticed = False
            try:
                await self.read()
            except McpError as error:
                self._note(f"its tools could not be read again, the old ones stay: {error.message}")
                return

    def _note_unknown_names(self, listed: object) -> None:
        server = self._connection.server
        known = set(listed)  # type: ignore[call-overload]
        for name in (*(server.allowed_tools or ()), *server.denied_tools):
            if name not in known:
                self._note(f"it has no tool {name!r}, which allowed_tools or denied_tools names")

    async def close(self) -> None:
        """Read no more."""
        await self._owner.close()
