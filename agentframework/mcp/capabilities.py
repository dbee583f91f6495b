"""What we declare to servers that we can do: what the handlers stand for, and what the host adds to it."""

from collections.abc import Mapping
from typing import Any

from agentframework.mcp.options import McpHandlers, as_handlers, check_capabilities

_OF_HANDLERS: Mapping[str, Mapping[str, Any]] = {
    "sampling": {},
    "elicitation": {"form": {}, "url": {}},
    "roots": {"listChanged": True},
}


def merge_handler_capabilities(
    capabilities: Mapping[str, Any] | None = None, handlers: McpHandlers | Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """``capabilities`` of the host (as on the wire) and those of its handlers, in one dict.

    What the host says of a capability goes before what a handler implies. Log messages need none. Raises
    `ConfigurationError` for what is no capability.
    """
    given = as_handlers(handlers)
    merged = {name: dict(value) for name, value in _OF_HANDLERS.items() if getattr(given, name) is not None}
    return with_capabilities(merged, check_capabilities(capabilities))


def with_capabilities(declared: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """``declared`` with ``more`` merged into it, object by object."""
    merged = dict(declared)
    for name, value in more.items():
        old = merged.get(name)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[name] = with_capabilities(old, value) if both else value  # type: ignore[arg-type]
    return merged
