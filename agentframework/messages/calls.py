"""What the model is told about a tool. The runnable side is `agentframework.tools.Tool`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """Name (``[A-Za-z0-9_-]{1,64}``), description, and JSON schema of the arguments (an object schema)."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    _wire: dict[str, bytes] = field(default_factory=dict[str, bytes], init=False, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class ToolSummary:
    """One call of a turn as results list it; ``args`` is the raw JSON text."""

    name: str
    args: str
