"""Calls and results as the APIs want them: each call answered once, right after it, in order, under a fresh id.

A pure function at the border, because histories also come from other programs, older versions and broken files.
For a valid history it costs two dictionary lookups a message and returns the history itself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agentframework.messages import AssistantMessage, Message, ToolCall, ToolMessage, ToolResultPart

_CODEC = ("utf-8", "surrogatepass")
NO_RESULT = "Error: no result; the call was interrupted or never ran."


def paired(messages: Sequence[Message]) -> Sequence[Message]:
    """``messages`` in which every call has one result and every result a call."""
    return messages if _is_paired(messages) else _mend(messages)


def call_ids(messages: Iterable[Message]) -> set[str]:
    """The ids of all calls in ``messages``."""
    found: set[str] = set()
    for message in messages:
        if type(message) is AssistantMessage and (ids := message.wire("calls", _ids_of_calls)):
            found.update(bytes.fromhex(digits).decode(*_CODEC) for digits in ids.decode().split(",")[:-1])
    return found


def _is_paired(messages: Sequence[Message]) -> bool:
    waiting = b""
    seen: set[bytes] = set()
    count = 0
    for message in messages:
        if type(message) is ToolMessage:
            if not waiting or message.wire("results", _ids_of_results) != waiting:
                return False
            waiting = b""
            continue
        if waiting:
            return False
        if type(message) is AssistantMessage:
            waiting = message.wire("calls", _ids_of_calls)
            if waiting:
                ids = waiting.split(b",")[:-1]
                seen.update(ids)
                count += len(ids)
    return not waiting and len(seen) == count


def _ids_of_calls(message: AssistantMessage) -> bytes:
    return _joined(call.id for call in message.tool_calls)


def _ids_of_results(message: ToolMessage) -> bytes:
    return _joined(part.tool_use_id for part in message.content)


def _joined(ids: Iterable[str]) -> bytes:
    """Ids in hexadecimal digits, each followed by a comma: any text may be an id."""
    return "".join(f"{identity.encode(*_CODEC).hex()}," for identity in ids).encode()


def _mend(messages: Sequence[Message]) -> list[Message]:
    mended: list[Message] = []
    used: set[str] = set()
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if isinstance(message, ToolMessage):
            continue  # results that no call waits for
        if not isinstance(message, AssistantMessage) or not message.tool_calls:
            mended.append(message)
            continue
        results: list[ToolResultPart] = []
        while at < len(messages) and isinstance(follower := messages[at], ToolMessage):
            results += follower.content
            at += 1
        mended += _answered(message, results, used)
    return mended


def _answered(message: AssistantMessage, results: list[ToolResultPart], used: set[str]) -> Iterable[Message]:
    """The calls of ``message`` under ids nobody else has, and their results in the order of the calls."""
    answers: list[ToolResultPart] = []
    parts = list(message.content)
    for position, part in enumerate(parts):
        if not isinstance(part, ToolCall):
            continue
        result = next((result for result in results if result.tool_use_id == part.id), None)
        if result is None:
            result = ToolResultPart(part.id, part.name, NO_RESULT, is_error=True)
        else:
            results.remove(result)
        fresh = unused_id(part.id, used)
        used.add(fresh)
        parts[position] = part if fresh == part.id else replace(part, id=fresh)
        answers.append(result if fresh == part.id else replace(result, tool_use_id=fresh))
    calls = message if parts == list(message.content) else replace(message, content=tuple(parts))
    return calls, ToolMessage(tuple(answers))


def unused_id(wanted: str, used: set[str]) -> str:
    """``wanted``, or ``wanted`` with the first number that makes it new."""
    fresh, number = wanted, 1
    while fresh in used:
        number += 1
        fresh = f"{wanted}_{number}"
    return fresh
