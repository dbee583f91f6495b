"""What a stored conversation needs before it can go on: every call of it answered, once and in order.

A process that is killed leaves calls without results, and a journal that lost a line may lack either half of a pair.
Nothing is run again. What a tool is known to have answered is kept, the rest is said to be interrupted.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentframework.messages import AssistantMessage, HistoryEntry, Message, ToolCall, ToolMessage, ToolResultPart

LOST_TEXT = (
    "Error: the process ended before the result of this call was kept; the call may have taken effect, or in part."
)


@dataclass(frozen=True, slots=True)
class Closed:
    """A conversation that is whole. ``added`` is the message that closes its last calls, if they were open."""

    messages: tuple[Message, ...]
    added: ToolMessage | None
    repairs: int


def close_calls(messages: Sequence[Message], entries: Iterable[HistoryEntry]) -> Closed:
    """``messages`` with every call answered. ``entries`` tell which calls had ended when the process did."""
    ended = _ended(entries)
    whole: list[Message] = []
    added: ToolMessage | None = None
    repairs = 0
    place = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        if isinstance(message, ToolMessage):
            repairs += 1  # results of calls that are not there
            continue
        whole.append(message)
        if not isinstance(message, AssistantMessage) or not message.tool_calls:
            continue
        following = messages[place] if place < len(messages) else None
        results = following if isinstance(following, ToolMessage) else None
        place += results is not None
        answer, changed = _answered(message.tool_calls, results, ended)
        repairs += changed
        whole.append(answer)
        added = answer if changed and place >= len(messages) else None
    return Closed(tuple(whole), added, repairs)


def _ended(entries: Iterable[HistoryEntry]) -> Mapping[str, ToolResultPart]:
    """Results by call, as far as the timeline knows them."""
    found: dict[str, ToolResultPart] = {}
    for entry in entries:
        data = entry.data
        if entry.type != "tool-end" or not isinstance(data, dict):
            continue
        call_id, name = str(data.get("tool_use_id")), str(data.get("tool_name"))
        text = str(data.get("tool_result_data") or "")
        found[call_id] = ToolResultPart(call_id, name, text, data.get("result") != "success")
    return found


def _answered(
    calls: Sequence[ToolCall], results: ToolMessage | None, ended: Mapping[str, ToolResultPart]
) -> tuple[ToolMessage, bool]:
    given = {part.tool_use_id: part for part in results.content} if results is not None else {}
    if results is not None and [part.tool_use_id for part in results.content] == [call.id for call in calls]:
        return results, False
    parts = [
        given.get(call.id) or ended.get(call.id) or ToolResultPart(call.id, call.name, LOST_TEXT, is_error=True)
        for call in calls
    ]
    return ToolMessage(tuple(parts), state="interrupted"), True
