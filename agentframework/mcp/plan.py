"""What a connection is made from besides its server, and who is told about it."""

from dataclasses import dataclass
from typing import Any, Protocol

from agentframework.mcp.around import Around
from agentframework.mcp.changes import McpChange
from agentframework.mcp.options import McpHandlers, McpOptions, ProtocolPolicy


class ConnectionObserver(Protocol):
    """Who is told about a connection."""

    def status_changed(self, connection: Any) -> None:
        """It has another status."""

    def noted(self, connection: Any, problem: str) -> None:
        """The server did something that it should not have."""

    def changed(self, connection: Any, change: McpChange) -> None:
        """Something on the server is different."""


class Nobody:
    """Nobody is told."""

    def status_changed(self, connection: Any) -> None: ...
    def noted(self, connection: Any, problem: str) -> None: ...
    def changed(self, connection: Any, change: McpChange) -> None: ...


@dataclass(frozen=True, slots=True)
class ConnectionPlan:
    """What a connection is made from, besides its server."""

    options: McpOptions
    protocol: ProtocolPolicy
    handlers: McpHandlers
    around: Around
