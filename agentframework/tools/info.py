"""Where a tool comes from: facts for policies and observers, apart from what the model is told."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

ToolSource = Literal["builtin", "custom", "mcp"]


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """``metadata`` holds harmless facts only, never credentials: of an MCP tool ``server_id`` and ``original_name``."""

    source: ToolSource = "custom"
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])


CUSTOM = ToolInfo()
