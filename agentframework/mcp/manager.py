"""Many servers: connected side by side, each on its own, changed while running, ended together."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from agentframework.errors import ConfigurationError, McpError
from agentframework.events import BaseEvent, WarningEvent
from agentframework.events.mcp import (
    McpServerConfigurationChanged,
    McpServerStatus,
    McpStatus,
    McpToolCatalogUpdated,
    McpToolDiscovered,
)
from agentframework.events.sink import EventSink
from agentframework.mcp.around import Around
from agentframework.mcp.catalog import ServerCatalog
from agentframework.mcp.changes import McpChange, McpSubscription
from agentframework.mcp.concurrency import map_with_concurrency
from agentframework.mcp.config import Server, as_servers, check_server_id, named_server
from agentframework.mcp.connection import Era, McpConnection
from agentframework.mcp.operations import Progress
from agentframework.mcp.options import (
    McpHandlers,
    McpOperationOptions,
    McpOptions,
    ProtocolPolicy,
    as_protocol,
    handlers_of,
)
from agentframework.mcp.plan import ConnectionPlan
from agentframework.tools.registry import DiscoveredTool, ToolRegistry

if TYPE_CHECKING:
    from mcp import types

Emit = Callable[..., None]
"""``emit(event_class, *fields)``, as `EventSink.emit`."""


@dataclass(frozen=True, slots=True)
class McpConnectionSummary:
    """How one server stands. ``tools`` are the names for models."""

    server_id: str
    status: McpStatus
    reason: str | None
    protocol_version: str | None
    era: Era | None
    tools: tuple[str, ...]


@dataclass(slots=True)
class _Served:
    connection: McpConnection
    catalog: ServerCatalog


class McpClientManager:
    """Connections to MCP servers, usable by itself and inside the two faces.

    ``servers`` maps ids to servers (or dicts as in ``.mcp.json``), or is a list of servers and URLs. Nothing starts in
    the constructor; `connect_all` or ``async with`` does that, and a server that cannot be reached is a status and no
    exception for the others. ``handlers`` may be a function that gives those for a server's id. ``cwd`` and
    ``environment`` are what stdio servers get (None: those of this process). Raises `ConfigurationError` for what
    cannot work.
    """

    def __init__(
        self,
        servers: Mapping[str, Any] | Sequence[Any] | None = None,
        *,
        handlers: McpHandlers | Mapping[str, Any] | Callable[[str], McpHandlers] | None = None,
        protocol: ProtocolPolicy | Mapping[str, Any] | str | None = None,
        options: McpOptions | None = None,
        cwd: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.options = options or McpOptions()
        self._protocol = as_protocol(protocol if protocol is not None else self.options.protocol)
        self._handlers = handlers_of(handlers if handlers is not None else self.options.handlers)
        self._cwd = os.path.abspath(os.getcwd() if cwd is None else cwd)
        self._environment = environment
        self._emitters: list[Emit] = []
        self._served: dict[str, _Served] = {}
        self._problems: list[tuple[str, str]] = []
        self.tools = ToolRegistry()
        for server_id, server in as_servers(servers).items():
            self._add(server_id, server)

    def _add(self, server_id: str, server: Server) -> _Served:
        around = Around(self._cwd, os.environ if self._environment is None else self._environment)
        plan = ConnectionPlan(self.options, self._protocol, self._handlers(server_id), around)
        connection = McpConnection(server_id, server, plan, self)
        self.tools.replace_server_tools(server_id, ())  # its place, whoever connects first

        def updated(before: Sequence[DiscoveredTool], after: Sequence[DiscoveredTool]) -> None:
            self._tools_read(connection, before, after)

        catalog = ServerCatalog(connection, self.tools, updated, lambda problem: self.noted(connection, problem))
        served = self._served[server_id] = _Served(connection, catalog)
        return served

    # --- events -----------------------------------------------------------------------------------------

    def send_events_to(self, emit: Emit) -> Callable[[], None]:
        """Call ``emit(event_class, *fields)`` for every event from now on. Returns what ends that."""
        self._emitters.append(emit)
        return lambda: self._emitters.remove(emit) if emit in self._emitters else None

    def on_event(self, listener: Callable[[BaseEvent], Any]) -> Callable[[], None]:
        """Call ``listener(event)`` for every event of the servers from now on. Returns what ends that."""
        return self.send_events_to(EventSink("", listener, lambda _name: False).emit)

    def _emit(self, event: type[BaseEvent], *fields: Any) -> None:
        for emit in list(self._emitters):
            emit(event, *fields)

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """What servers did wrong so far: pairs of a server's id and a sentence, each once."""
        return tuple(self._problems)

    def status_changed(self, connection: McpConnection) -> None:
        """Observer of the connections."""
        self._emit(McpServerStatus, connection.server_id, connection.status, connection.reason)

    def noted(self, connection: McpConnection, problem: str) -> None:
        """Observer of the connections."""
        known = (connection.server_id, problem)
        if known not in self._problems and len(self._problems) < 1000:
            self._problems.append(known)
            self._emit(WarningEvent, f"MCP server {connection.server_id}: {problem}", "mcp")

    def changed(self, connection: McpConnection, change: McpChange) -> None:
        """Observer of the connections."""
        served = self._served.get(connection.server_id)
        if change.kind != "tools" or served is None or served.connection is not connection:
            return
        if self.options.list_changed_auto_refresh and served.catalog.known:
            served.catalog.notice(self.options.list_changed_debounce_s)

    def _tools_read(
        self, connection: McpConnection, before: Sequence[DiscoveredTool], after: Sequence[DiscoveredTool]
    ) -> None:
        old, new = {tool.name for tool in before}, {tool.name for tool in after}
        for tool in after:
            if tool.name not in old:
                self._emit(McpToolDiscovered, connection.server_id, tool.name, tool.original_name)
        added, removed = tuple(sorted(new - old)), tuple(sorted(old - new))
        self._emit(McpToolCatalogUpdated, connection.server_id, added, removed)

    # --- life -------------------------------------------------------------------------------------------

    async def connect_all(self) -> list[McpConnectionSummary]:
        """Connect every server and read its tools, a few at a time; how each stands then, in the order given."""
        await map_with_concurrency(list(self._served), self.connect, self.options.concurrency)
        return self.summaries()

    async def connect(self, server_id: str) -> McpConnectionSummary:
        """Connect one server and read its tools. A failure is in the summary.

        Raises `ConfigurationError` if there is no such server.
        """
        served = self._known(server_id)
        try:
            await served.connection.connect()
            if not served.catalog.known:
                await served.catalog.read()
        except McpError as error:
            if served.connection.status == "connected":
                self.noted(served.connection, f"its tools could not be read: {error.message}")
        return self._summary(served)

    async def disconnect_all(self) -> None:
        """End every connection and wait until nothing of them is left. May be called many times."""
        await map_with_concurrency(list(self._served.values()), self._end, max(len(self._served), 1))

    async def _end(self, served: _Served) -> None:
        await served.catalog.close()
        await served.connection.disconnect()

    async def __aenter__(self) -> "McpClientManager":
        try:
            await self.connect_all()
        except BaseException:
            await self.disconnect_all()
            raise
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.disconnect_all()

    def summaries(self) -> list[McpConnectionSummary]:
        """How every server stands, in the order given."""
        return [self._summary(served) for served in self._served.values()]

    def _summary(self, served: _Served) -> McpConnectionSummary:
        one = served.connection
        names = tuple(tool.name for tool in self.tools.server_tools(one.server_id))
        return McpConnectionSummary(one.server_id, one.status, one.reason, one.protocol_version, one.era, names)

    # --- changes while running --------------------------------------------------------------------------

    async def add_server(self, server_id: str, server: Any, *, connect: bool = True) -> McpConnectionSummary:
        """One more server. Raises `ConfigurationError` for a bad one or an id that is taken."""
        check_server_id(server_id)
        if server_id in self._served:
            raise ConfigurationError(f"there is an MCP server {server_id} already; use update_server")
        served = self._add(server_id, named_server(server_id, server))
        self._emit(McpServerConfigurationChanged, server_id, "added")
        return await self.connect(server_id) if connect else self._summary(served)

    async def update_server(self, server_id: str, server: Any, *, reconnect: bool = True) -> McpConnectionSummary:
        """Replace a server's configuration: its old tools are withdrawn first. Raises `ConfigurationError`."""
        old = self._known(server_id)
        fresh = named_server(server_id, server)
        self._withdraw(old)
        self._add(server_id, fresh)
        self._emit(McpServerConfigurationChanged, server_id, "updated")
        await self._end(old)
        return await self.connect(server_id) if reconnect else self._summary(self._served[server_id])

    async def remove_server(self, server_id: str) -> None:
        """Withdraw a server's tools and end it. Raises `ConfigurationError` if there is none."""
        old = self._known(server_id)
        self._withdraw(old)
        del self._served[server_id]
        self.tools.remove_server(server_id)
        self._emit(McpServerConfigurationChanged, server_id, "removed")
        await self._end(old)

    def _withdraw(self, served: _Served) -> None:
        server_id = served.connection.server_id
        gone = self.tools.server_tools(server_id)
        if gone:
            self.tools.replace_server_tools(server_id, ())
            self._emit(McpToolCatalogUpdated, server_id, (), tuple(tool.name for tool in gone))

    def get_connection(self, server_id: str) -> McpConnection:
        """The connection of a server. Raises `ConfigurationError` if there is none of that id."""
        return self._known(server_id).connection

    @property
    def server_ids(self) -> tuple[str, ...]:
        """All ids, in the order given."""
        return tuple(self._served)

    def _known(self, server_id: str) -> _Served:
        served = self._served.get(server_id)
        if served is None:
            known = ", ".join(self._served) or "none"
            raise ConfigurationError(f"there is no MCP server {server_id!r}; there are: {known}")
        return served

    # --- operations -------------------------------------------------------------------------------------

    async def list_tools(self, server_id: str, **options: Unpack[McpOperationOptions]) -> "list[types.Tool]":
        """See `McpConnection.list_tools`."""
        return await self.get_connection(server_id).list_tools(**options)

    async def call_tool(
        self,
        server_id: str,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: Progress | None = None,
        **options: Unpack[McpOperationOptions],
    ) -> "types.CallToolResult":
        """See `McpConnection.call_tool`."""
        return await self.get_connection(server_id).call_tool(name, arguments, on_progress=on_progress, **options)

    async def list_resources(self, server_id: str, **options: Unpack[McpOperationOptions]) -> "list[types.Resource]":
        """See `McpConnection.list_resources`."""
        return await self.get_connection(server_id).list_resources(**options)

    async def list_resource_templates(
        self, server_id: str, **options: Unpack[McpOperationOptions]
    ) -> "list[types.ResourceTemplate]":
        """See `McpConnection.list_resource_templates`."""
        return await self.get_connection(server_id).list_resource_templates(**options)

    async def read_resource(
        self, server_id: str, uri: str, **options: Unpack[McpOperationOptions]
    ) -> "types.ReadResourceResult":
        """See `McpConnection.read_resource`."""
        return await self.get_connection(server_id).read_resource(uri, **options)

    async def list_prompts(self, server_id: str, **options: Unpack[McpOperationOptions]) -> "list[types.Prompt]":
        """See `McpConnection.list_prompts`."""
        return await self.get_connection(server_id).list_prompts(**options)

    async def get_prompt(
        self,
        server_id: str,
        name: str,
        arguments: Mapping[str, str] | None = None,
        **options: Unpack[McpOperationOptions],
    ) -> "types.GetPromptResult":
        """See `McpConnection.get_prompt`."""
        return await self.get_connection(server_id).get_prompt(name, arguments, **options)

    async def complete(
        self,
        server_id: str,
        ref: Any,
        argument: Mapping[str, str],
        context_arguments: Mapping[str, str] | None = None,
        **options: Unpack[McpOperationOptions],
    ) -> "types.CompleteResult":
        """See `McpConnection.complete`."""
        return await self.get_connection(server_id).complete(ref, argument, context_arguments, **options)

    async def subscribe_resource(self, server_id: str, uri: str, **options: Unpack[McpOperationOptions]) -> None:
        """See `McpConnection.subscribe_resource`."""
        await self.get_connection(server_id).subscribe_resource(uri, **options)

    async def unsubscribe_resource(self, server_id: str, uri: str, **options: Unpack[McpOperationOptions]) -> None:
        """See `McpConnection.unsubscribe_resource`."""
        await self.get_connection(server_id).unsubscribe_resource(uri, **options)

    async def listen(
        self,
        server_id: str,
        *,
        tools_list_changed: bool = False,
        prompts_list_changed: bool = False,
        resources_list_changed: bool = False,
        resource_subscriptions: Sequence[str] = (),
        **options: Unpack[McpOperationOptions],
    ) -> McpSubscription:
        """See `McpConnection.listen`."""
        return await self.get_connection(server_id).listen(
            tools_list_changed=tools_list_changed,
            prompts_list_changed=prompts_list_changed,
            resources_list_changed=resources_list_changed,
            resource_subscriptions=resource_subscriptions,
            **options,
        )

    async def ping(self, server_id: str, **options: Unpack[McpOperationOptions]) -> None:
        """See `McpConnection.ping`."""
        await self.get_connection(server_id).ping(**options)
