"""MCP servers and their catalogues."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from agentframework.events.base import BaseEvent

McpStatus = Literal["connecting", "connected", "needs_auth", "failed", "disconnected", "closed"]


@dataclass(frozen=True, slots=True)
class McpServerStatus(BaseEvent):
    """A server changed state."""

    type: ClassVar[str] = "mcp_server_status"
    server_id: str
    status: McpStatus
    reason: str | None


@dataclass(frozen=True, slots=True)
class McpToolDiscovered(BaseEvent):
    """A tool of a server is offered to the model under ``name``."""

    type: ClassVar[str] = "mcp_tool_discovered"
    server_id: str
    name: str
    original_name: str


@dataclass(frozen=True, slots=True)
class McpToolCatalogUpdated(BaseEvent):
    """A server's tools were read again."""

    type: ClassVar[str] = "mcp_tool_catalog_updated"
    server_id: str
    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class McpServerConfigurationChanged(BaseEvent):
    """A server was added, updated or removed while running."""

    type: ClassVar[str] = "mcp_server_configuration_changed"
    server_id: str
    change: Literal["added", "updated", "removed"]
