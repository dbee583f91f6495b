"""A gate with real parts around it, and tools of the usual names, for the tests of this folder."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from agentframework._base.abort import AbortSignal
from agentframework._base.emitter import EventEmitter
from agentframework._base.subscription import ListenerFault
from agentframework.events import EVENT_TYPES, BaseEvent, PermissionRequest, merge_deltas
from agentframework.events.sink import EventSink
from agentframework.messages import ToolCall
from agentframework.permissions import (
    Decision,
    Explanation,
    GateCall,
    GateOptions,
    HookPort,
    PermissionGate,
    PermissionRules,
    PromptBroker,
    TurnScope,
    parse_rules,
)
from agentframework.sandbox import LocalSandbox
from agentframework.tools import Tool


def _tool(name: str, risk: str | None, key: str | None, *fields: str) -> Tool:
    schema = {
        "type": "object",
        "properties": {field: {"type": "string"} for field in fields},
        "required": [key] if key in fields else [],
    }
    return Tool(name, "", schema, lambda _arguments, _context: "", risk, key)


TOOLS: Mapping[str, Tool] = {
    tool.name: tool
    for tool in (
        _tool("Read", "inspect", "file_path", "file_path"),
        _tool("Write", "modify", "file_path", "file_path", "content"),
        _tool("Edit", "modify", "file_path", "file_path", "old_string", "new_string"),
        _tool("NotebookEdit", "modify", "notebook_path", "notebook_path"),
        _tool("Glob", "inspect", "pattern", "pattern", "path"),
        _tool("Grep", "inspect", "pattern", "pattern", "path"),
        _tool("Bash", "execute", "command", "command", "description"),
        _tool("Shell", "execute", "command", "command"),
        _tool("run", "execute", "command", "command"),
        _tool("WebFetch", "inspect", "url", "url", "prompt"),
        _tool("note", None, None, "text"),
        _tool("save", "modify", "path", "path"),
        _tool("mcp__srv__a", None, None, "q"),
        _tool("mcp__srv__b", None, None, "q"),
        _tool("mcp__srvother__a", None, None, "q"),
    )
}


class Bench:
    """One session's gate. ``cwd`` exists; ``events`` holds everything that was emitted.

    ``options`` are further fields of `GateOptions`.
    """

    def __init__(
        self,
        cwd: Path,
        *,
        mode: str = "default",
        allow: Sequence[Any] = (),
        deny: Sequence[Any] = (),
        ask: Sequence[Any] = (),
        home: Path | None = None,
        hooks: HookPort | None = None,
        shell_directory: Callable[[], str | None] | None = None,
        backstop_s: float = 600.0,
        additional_directories: Sequence[Path] = (),
        **options: Any,
    ) -> None:
        self.cwd = cwd
        self.events: list[BaseEvent] = []
        self.faults: list[ListenerFault] = []
        self.abort = AbortSignal()
        self.request = ""
        self._ids = count(1)
        self.emitter: EventEmitter[Any] = EventEmitter(
            EVENT_TYPES, merge=merge_deltas, on_fault=self.faults.append, on_overflow=lambda: None
        )
        self._news = asyncio.Event()
        self.sink = EventSink("s", self._deliver, self.emitter.has_listeners)
        self.sandbox = LocalSandbox(cwd, additional_directories)
        self.prompts = PromptBroker(self.sink, backstop_s=backstop_s)
        home_path = str(home) if home is not None else None
        self.rules = parse_rules(
            PermissionRules(allow=allow, deny=deny, ask=ask), base=str(cwd.resolve()), home=home_path
        )
        self.gate = PermissionGate(
            mode=mode,
            rules=self.rules,
            sandbox=self.sandbox,
            prompts=self.prompts,
            sink=self.sink,
            hooks=hooks,
            options=GateOptions(
                home=home_path,
                shell_directory=shell_directory,
                tool_names=lambda: TOOLS,
                **options,
            ),
        )

    def _deliver(self, event: BaseEvent) -> None:
        self.events.append(event)
        self.emitter.emit(event)
        self._news.set()

    async def until_pending(self, count: int) -> None:
        """Return when that many questions are open."""
        async with asyncio.timeout(5):
            while len(self.prompts.pending) < count:
                self._news.clear()
                await self._news.wait()

    def call(self, name: str, /, **arguments: Any) -> GateCall:
        return GateCall(ToolCall(f"t{next(self._ids)}", name, arguments), TOOLS.get(name))

    def explain(self, name: str, /, **arguments: Any) -> Explanation:
        return self.gate.explain(self.call(name, **arguments))

    def outcome(self, name: str, /, **arguments: Any) -> str:
        return self.explain(name, **arguments).outcome

    def bash(self, command: str) -> str:
        return self.outcome("Bash", command=command)

    def scope(self, tool_approval: Any = None) -> TurnScope:
        return TurnScope("alice", self.abort, tool_approval, self.request)

    async def decide(self, *calls: GateCall) -> list[Decision]:
        return await self.gate.decide(calls, self.scope())

    async def run(self, name: str, /, **arguments: Any) -> Decision:
        return (await self.decide(self.call(name, **arguments)))[0]

    def answer_with(self, answer: Callable[[PermissionRequest], Any]) -> None:
        """Answer each request inside the event."""
        self.emitter.on("permission_request", lambda event: self.prompts.resolve_permission(event.id, answer(event)))

    def seen(self, event_class: type[BaseEvent]) -> list[Any]:
        return [event for event in self.events if isinstance(event, event_class)]
