"""The session's timeline: chat messages and events in one list, for display and persistence."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from agentframework.events import ToolEnd, ToolStart
from agentframework.messages import (
    ContextState,
    HistoryEntry,
    Message,
    SystemNote,
    TextPart,
    ToolSummary,
    Usage,
    UserMessage,
)

_MARKS = {"success": "ok", "error": "failed", "denied": "denied", "blocked": "blocked", "interrupted": "stopped"}


class Timeline:
    """Entries in order. The list handed out by `entries` is live."""

    __slots__ = ("_ended", "_entries", "_on_entry")

    def __init__(self, on_entry: Callable[[HistoryEntry], object] | None = None) -> None:
        self._entries: list[HistoryEntry] = []
        self._on_entry = on_entry
        self._ended: list[tuple[str, str, str]] = []

    @property
    def entries(self) -> Sequence[HistoryEntry]:
        """All entries, live; read only."""
        return self._entries

    def messages(self) -> list[Message | SystemNote]:
        """The data of the chat entries."""
        return [entry.data for entry in self._entries if not isinstance(entry.data, dict)]

    def load(self, entries: Iterable[HistoryEntry]) -> None:
        """Begin with ``entries``, which have been recorded."""
        self._entries.extend(entries)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()

    def _add(self, entry: HistoryEntry) -> None:
        self._entries.append(entry)
        if self._on_entry is not None:
            self._on_entry(entry)

    def user(self, message: UserMessage, display: str) -> None:
        """A prompt, as it is displayed."""
        shown = message if display == message.text else replace(message, content=_displayed(message, display))
        self._add(HistoryEntry("chat", "user", shown))

    def mark_unsent(self, message_id: str) -> None:
        """Mark a prompt whose turn the model never took: it stays to be read, and is not sent again."""
        for place in reversed(range(len(self._entries))):
            data = self._entries[place].data
            if isinstance(data, UserMessage) and data.id == message_id:
                self._entries[place] = replace(self._entries[place], data=replace(data, state="interrupted"))
                return

    def message(self, message: Message) -> None:
        """A reply of the model, or results."""
        self._add(HistoryEntry("chat", message.role, message))

    def note(self, text: str, kind: Literal["info", "error"] = "info") -> None:
        """A line of ours."""
        self._add(HistoryEntry("chat", "system", SystemNote(text, kind)))

    def event(self, kind: str, data: dict[str, Any]) -> None:
        """An event entry."""
        self._add(HistoryEntry("event", kind, data))

    def tool_started(self, event: ToolStart) -> None:
        """A call began."""
        data = {"tool_use_id": event.tool_use_id, "tool_name": event.tool_name, "first_arg": event.first_arg}
        self.event("tool-start", {**data, "is_running": True})

    def tool_ended(self, event: ToolEnd) -> None:
        """A call has its result."""
        data = {"tool_use_id": event.tool_use_id, "tool_name": event.tool_name, "first_arg": event.first_arg}
        self.event(
            "tool-end", {**data, "is_running": False, "result": event.outcome, "tool_result_data": event.result}
        )
        self._ended.append((event.tool_name, event.first_arg, event.outcome))

    def turn_summary(self, summaries: Sequence[ToolSummary], usage: Usage, state: ContextState) -> None:
        """What the turn's calls and its usage amount to; nothing for a turn without either."""
        ended, self._ended = self._ended, []
        if ended:
            lines = [f"{_MARKS[outcome]} {name}({first})" for name, first, outcome in ended]
            tools = [{"name": item.name, "args": item.args} for item in summaries]
            self.event("tool-summary", {"tools": tools, "summary": "\n".join(lines)})
        if usage.total_tokens:
            self.event(
                "usage-summary",
                {
                    "kind": "estimated" if usage.estimated else "exact",
                    "scope": "turn",
                    "total_tokens": usage.total_tokens,
                    "prompt_tokens": usage.input_tokens,
                    "completion_tokens": usage.output_tokens,
                    "context_used_tokens": state.used_tokens,
                    "context_max_tokens": state.max_tokens,
                    "context_used_percentage": state.used_percentage,
                    "cost_status": "unknown" if usage.cost_usd is None else "estimated",
                    "cost_usd": usage.cost_usd,
                },
            )


def _displayed(message: UserMessage, display: str) -> tuple[Any, ...]:
    """The message's parts with its text replaced by what is shown."""
    others = tuple(part for part in message.content if not isinstance(part, TextPart))
    return (TextPart(display), *others)
