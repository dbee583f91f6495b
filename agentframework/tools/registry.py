"""Which tools were discovered on which server.

Kept by server, because a server's list is replaced as a whole whenever it changes. What the model is offered in the
end is the business of a `ToolCatalog`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agentframework.errors import ConfigurationError
from agentframework.messages import ToolSpec
from agentframework.tools.catalog import name_conflict
from agentframework.tools.definitions import ToolDefinition, function_definition, spec_of
from agentframework.tools.info import ToolInfo
from agentframework.tools.names import qualify_model_tool_name


@dataclass(frozen=True, slots=True)
class DiscoveredTool:
    """A tool of a server. ``spec`` has the name for the model, ``original_name`` is what the server calls it."""

    server_id: str
    original_name: str
    spec: ToolSpec
    annotations: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def name(self) -> str:
        """The name for the model."""
        return self.spec.name

    @property
    def info(self) -> ToolInfo:
        """For policies: they need not take names apart."""
        return ToolInfo("mcp", {"server_id": self.server_id, "original_name": self.original_name})


@dataclass(frozen=True, slots=True)
class RegistryChange:
    """Names for the model that a replacement added and removed; a tool that only looks different is in neither."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


class ToolRegistry:
    """Server id → its tools. Servers keep the order in which they first appeared, tools that of their server."""

    def __init__(self) -> None:
        self._servers: dict[str, tuple[DiscoveredTool, ...]] = {}
        self._tools: dict[str, DiscoveredTool] = {}

    def replace_server_tools(self, server_id: str, tools: Iterable[ToolDefinition]) -> RegistryChange:
        """Take ``tools``, named as the server names them, in place of all that this server had.

        Raises `ToolExecutionError` ``TOOL_NAME_CONFLICT`` if two have the same name for the model, and
        `ConfigurationError` for one without a name or a definition that is none; then nothing has changed.
        """
        others = {name for name, tool in self._tools.items() if tool.server_id != server_id}
        found: dict[str, DiscoveredTool] = {}
        for definition in tools:
            tool = _discovered(server_id, definition)
            if tool.name in found or tool.name in others:
                raise name_conflict(tool.name)
            found[tool.name] = tool
        before = {tool.name for tool in self._servers.get(server_id, ())}
        self._servers[server_id] = tuple(found.values())
        self._tools = {tool.name: tool for kept in self._servers.values() for tool in kept}
        return RegistryChange(
            tuple(name for name in found if name not in before), tuple(sorted(before.difference(found)))
        )

    def remove_server(self, server_id: str) -> RegistryChange:
        """Forget a server and its tools."""
        change = self.replace_server_tools(server_id, ())
        del self._servers[server_id]
        return change

    def get(self, name: str) -> DiscoveredTool | None:
        """The tool with that name for the model."""
        return self._tools.get(name)

    def server_tools(self, server_id: str) -> tuple[DiscoveredTool, ...]:
        """What one server has."""
        return self._servers.get(server_id, ())

    def all(self) -> tuple[DiscoveredTool, ...]:
        """What there is."""
        return tuple(self._tools.values())

    def to_model_definitions(self) -> list[dict[str, Any]]:
        """All of them as function dicts, under their names for the model."""
        return [function_definition(tool.spec) for tool in self._tools.values()]


def _discovered(server_id: str, definition: ToolDefinition) -> DiscoveredTool:
    spec = spec_of(definition)
    if not spec.name:
        raise ConfigurationError(f"a tool of server {server_id} has no name", details={"server_id": server_id})
    name = qualify_model_tool_name(server_id, spec.name)
    annotations = definition.get("annotations") if isinstance(definition, Mapping) else None
    shown = ToolSpec(name, spec.description, spec.input_schema)
    return DiscoveredTool(server_id, spec.name, shown, annotations or {})
