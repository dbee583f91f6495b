"""The MCP servers of a conversation, or of all of an agent: started with it, their tools in its catalog."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from agentframework._base.abort import AbortSignal, run_abortable
from agentframework._base.owner import TaskOwner
from agentframework.assembly.duties import SAMPLING_TOOL, ServerDuties
from agentframework.assembly.options import ServerOptions
from agentframework.errors import ToolExecutionError
from agentframework.events import BaseEvent, WarningEvent
from agentframework.events.mcp import McpServerConfigurationChanged, McpToolCatalogUpdated
from agentframework.mcp import McpClientManager, McpHandlers, McpOptions, McpToolExecutor
from agentframework.mcp.deferred import SEARCH_TOOL, DeferredTools
from agentframework.mcp.manager import Emit
from agentframework.mcp.options import as_handlers
from agentframework.permissions import PermissionGate, PromptBroker
from agentframework.providers.protocol import Provider
from agentframework.tools import Tool, ToolCatalog
from agentframework.tools.names import server_prefix


class _Current(Protocol):
    def current(self) -> tuple[Provider, str]: ...


class Answering(Protocol):
    """Who answers the questions of servers: the model, after the gate, or a person."""

    @property
    def settings(self) -> _Current: ...
    @property
    def gate(self) -> PermissionGate: ...
    @property
    def prompts(self) -> PromptBroker: ...


class ConversationServers:
    """Keeps the tools of all servers in ``catalog`` and tells of everything through ``emit``, as `EventSink.emit`.

    A conversation without servers costs nothing until somebody asks for the manager. If the options say
    ``interactive``, ``parts`` answer what servers ask and the host has no handler for. Raises `ConfigurationError`.
    """

    __slots__ = (
        "_cwd",
        "_deadline",
        "_deferred",
        "_duties",
        "_emit",
        "_executor",
        "_manager",
        "_options",
        "_starting",
        "catalog",
        "parts",
    )

    def __init__(
        self,
        options: ServerOptions,
        catalog: ToolCatalog,
        emit: Emit,
        cwd: str,
    ) -> None:
        self._options = options
        self.catalog = catalog
        self._emit = emit
        self._cwd = cwd
        self.parts: Answering | None = None
        self._duties: ServerDuties | None = None
        self._manager: McpClientManager | None = None
        self._executor: McpToolExecutor | None = None
        self._deferred: DeferredTools | None = None
        self._starting: asyncio.Task[object] | None = None
        self._deadline = 0.0
        if options.servers:
            self._manager = self._make()

    @property
    def manager(self) -> McpClientManager:
        """The servers themselves."""
        if self._manager is None:
            self._manager = self._make()
        return self._manager

    @property
    def name_prefixes(self) -> tuple[str, ...]:
        """How the names of tools begin that may still come."""
        if self._manager is None:
            return ()
        others = [SEARCH_TOOL, *([SAMPLING_TOOL] if self._options.interactive else [])]
        return (*map(server_prefix, self._manager.server_ids), *others)

    def _make(self) -> McpClientManager:
        options = self._options
        manager = McpClientManager(
            options.servers,
            handlers=self._handlers,
            options=options.mcp or McpOptions(),
            cwd=self._cwd,
            environment=options.environment,
        )
        self._executor = McpToolExecutor(manager)
        self._deferred = DeferredTools((options.mcp or McpOptions()).max_definition_bytes)
        for server_id in manager.server_ids:
            self.catalog.replace_group(_group(server_id), ())
        self.catalog.replace_group(_SEARCH, ())
        manager.send_events_to(self._tell)
        return manager

    def _handlers(self, server_id: str) -> McpHandlers:
        given = as_handlers(self._options.mcp.handlers if self._options.mcp else None)
        if not self._options.interactive:
            return given
        return replace(
            given,
            sampling=given.sampling or (lambda params: self._duty().sample(server_id, params)),
            elicitation=given.elicitation or (lambda params: self._duty().elicit(server_id, params)),
        )

    def _duty(self) -> ServerDuties:
        if self._duties is None:
            assert self.parts is not None
            self._duties = ServerDuties(self.parts.settings.current, self.parts.gate, self.parts.prompts)
        return self._duties

    def begin(self, owner: TaskOwner) -> None:
        """Connect in the background, as a task of ``owner``."""
        if self._manager is None or self._starting is not None:
            return
        self._deadline = asyncio.get_running_loop().time() + self._manager.options.startup_wait_s
        self._starting = owner.start(self._manager.connect_all(), "mcp startup")

    async def ready(self, abort: AbortSignal) -> None:
        """Return when every server is decided, at most ``startup_wait_s`` after `begin`. Raises `AbortedError`."""
        if self._starting is None or self._starting.done():
            return
        left = self._deadline - asyncio.get_running_loop().time()
        if left > 0:
            await run_abortable(_settled(self._starting, left), abort)

    async def decided(self) -> None:
        """Return when every server is decided, however long that takes."""
        if self._starting is not None:
            await asyncio.wait({self._starting})

    async def close(self) -> None:
        """End every connection."""
        if self._manager is not None:
            await self._manager.disconnect_all()
        if self._executor is not None:
            await self._executor.close()

    def _tell(self, event: type[BaseEvent], *fields: object) -> None:
        if event is McpToolCatalogUpdated:
            self._take_tools(str(fields[0]))
        elif event is McpServerConfigurationChanged and fields[1] == "removed" and self._deferred is not None:
            self.catalog.remove_group(_group(str(fields[0])))
            self._deferred.forget(str(fields[0]))
            self._offer_deferred(self._deferred)
        self._emit(event, *fields)

    def _take_tools(self, server_id: str) -> None:
        assert self._executor is not None
        assert self._deferred is not None
        defer = self.manager.get_connection(server_id).server.defer
        offered = self._deferred.take(server_id, self._executor.tools_of(server_id), defer=defer)
        self._replace(_group(server_id), offered, f"MCP server {server_id}")
        self._offer_deferred(self._deferred)

    def _offer_deferred(self, deferred: DeferredTools) -> None:
        """The search, if there is anything to find, and behind it what was found."""
        search = [deferred.search_tool(lambda: self._offer_deferred(deferred))] if deferred else []
        if search or self.catalog.group_of(SEARCH_TOOL) == _SEARCH:
            self._replace(_SEARCH, search, "MCP servers")
        self._replace(_FOUND, deferred.found, "MCP servers")

    def _replace(self, group: str, tools: Sequence[Tool], whose: str) -> None:
        try:
            self.catalog.replace_group(group, tools)
        except ToolExecutionError as error:
            taken = str(error.details.get("tool"))
            self.catalog.replace_group(group, [tool for tool in tools if self._is_free(tool.name, group)])
            self._emit(WarningEvent, f"{whose}: {taken!r} is left out: the name is taken", "mcp")

    def _is_free(self, name: str, group: str) -> bool:
        return self.catalog.get(name) is None or self.catalog.group_of(name) == group


_SEARCH, _FOUND = "mcp search", "mcp found"


def _group(server_id: str) -> str:
    return f"mcp server {server_id}"


async def _settled(task: asyncio.Task[object], within_s: float) -> None:
    await asyncio.wait({task}, timeout=within_s)
