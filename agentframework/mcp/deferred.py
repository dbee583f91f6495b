"""Tools that a model is not told of until it looks for them: those of deferred servers, and what is over the budget.

Their definitions would cost tokens in every request. `SEARCH_TOOL` finds them by words or by name; what it found is
offered from the next request on, behind all others, so that requests begin as they did before.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from agentframework._base.bounded import cut_end
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult

SEARCH_TOOL = "ToolSearch"
_SELECT = "select:"
_MOST, _USUAL = 20, 5
_DESCRIPTION = 400
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "minLength": 1,
            "description": f"Words for what the tool should do, or {_SELECT}NAME,NAME for tools whose names are known.",
        },
        "max_results": {"type": "integer", "minimum": 1, "maximum": _MOST, "description": f"{_USUAL} if left out."},
    },
    "required": ["query"],
    "additionalProperties": False,
}


class DeferredTools:
    """Which tools of servers are offered, and which only when they were found.

    ``budget_bytes`` bounds the definitions that are offered unasked; None means that only ``defer`` counts.
    """

    def __init__(self, budget_bytes: int | None) -> None:
        self._budget = budget_bytes
        self._offered: dict[str, int] = {}
        self._waiting: dict[str, tuple[Tool, ...]] = {}
        self._found: dict[str, None] = {}

    def __bool__(self) -> bool:
        return any(self._waiting.values())

    def take(self, server_id: str, tools: Sequence[Tool], *, defer: bool) -> Sequence[Tool]:
        """The tools of a server are these now. Returns those to be offered at once: all or none."""
        self.forget(server_id)
        size = sum(len(json.dumps(tool.input_schema)) + len(tool.name) + len(tool.description) for tool in tools)
        if defer or (self._budget is not None and sum(self._offered.values()) + size > self._budget):
            self._waiting[server_id] = tuple(tools)
            return ()
        self._offered[server_id] = size
        return tools

    def forget(self, server_id: str) -> None:
        """A server is gone."""
        self._offered.pop(server_id, None)
        self._waiting.pop(server_id, None)

    @property
    def found(self) -> list[Tool]:
        """Tools that were looked for, in the order in which they were found."""
        known = {tool.name: tool for tool in self._all()}
        return [known[name] for name in self._found if name in known]

    def search(self, query: str, limit: int) -> list[Tool]:
        """The tools that fit best, which count as found from now on."""
        if query.startswith(_SELECT):
            wanted = [name.strip() for name in query.removeprefix(_SELECT).split(",")]
            hits = [tool for tool in self._all() if tool.name in wanted]
        else:
            words = set(re.findall(r"\w+", query.lower()))
            scored = [(_score(tool, words), tool) for tool in self._all()]
            ranked = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
            hits = [tool for _, tool in ranked[:limit]]
        self._found |= dict.fromkeys(tool.name for tool in hits)
        return hits

    def _all(self) -> list[Tool]:
        return [tool for tools in self._waiting.values() for tool in tools]

    def search_tool(self, offer: Callable[[], None]) -> Tool:
        """``ToolSearch(query, max_results)``; ``offer`` is called when more tools are to be offered."""

        async def run(arguments: dict[str, Any], _context: ToolContext) -> ToolResult:
            hits = self.search(arguments["query"], arguments.get("max_results", _USUAL))
            offer()
            data = [{"name": tool.name, "description": cut_end(tool.description, _DESCRIPTION)} for tool in hits]
            if not data:
                return ToolResult("No tool fits. Try other or fewer words.", structured={"tools": []})
            return ToolResult(
                "These tools can be called from now on:\n" + json.dumps(data, ensure_ascii=False, indent=1),
                structured={"tools": data},
            )

        return Tool(SEARCH_TOOL, self._description(), _SCHEMA, run, RiskClass.INSPECT, None)

    def _description(self) -> str:
        counts = ", ".join(f"{server_id} ({len(tools)})" for server_id, tools in self._waiting.items() if tools)
        return f"Find further tools by what they do. They can be called once they were found. Servers: {counts}."


def _score(tool: Tool, words: set[str]) -> int:
    name = tool.name.lower()
    in_name = set(re.findall(r"[^\W_]+", name))
    told = set(re.findall(r"\w+", tool.description.lower()))
    return sum(4 if word in in_name else 2 if word in name else 1 if word in told else 0 for word in words)
