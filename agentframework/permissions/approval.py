"""One answer for a whole round: the host's ``tool_approval`` callback.

Fail closed: a callback that raises, or whose answer cannot be read without guessing, denies every call.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from agentframework._base.abort import AbortedError, AbortSignal, run_abortable
from agentframework.messages import ToolCall
from agentframework.permissions.decisions import BatchApproval

_MISSING = "the approval names no answer for this call"
_REFUSED = "the user did not approve this action"


@dataclass(frozen=True, slots=True)
class Approval:
    """The answer for one call."""

    approve: bool
    reason: str

    def as_dict(self) -> dict[str, Any]:
        return {"approve": self.approve, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class BatchAnswer:
    """The answers in the order of the calls, and whether the run ends after this round."""

    approvals: tuple[Approval, ...]
    stop_after_execution: bool = False


async def approve_round(callback: BatchApproval, calls: Sequence[ToolCall], abort: AbortSignal) -> BatchAnswer:
    """Ask ``callback`` once about ``calls``. Raises `AbortedError` if ``abort`` is set meanwhile."""

    async def ask() -> object:
        answer = callback(calls)
        return await answer if inspect.isawaitable(answer) else answer

    try:
        return _read(await run_abortable(ask(), abort), len(calls))
    except AbortedError:
        raise
    except Exception as error:
        return _all_denied(len(calls), f"it failed with {type(error).__name__}: {error}")


def _all_denied(count: int, why: str) -> BatchAnswer:
    return BatchAnswer((Approval(False, f"the approval could not be used: {why}"),) * count)


def _read(raw: object, count: int) -> BatchAnswer:
    if not isinstance(raw, Mapping):
        return _all_denied(count, f"it must be an object with approvals, not {raw!r:.200}")
    answer = cast("Mapping[str, object]", raw)
    given = answer.get("approvals")
    if not isinstance(given, list | tuple):
        return _all_denied(count, f"approvals must be a list, not {given!r:.200}")
    entries = cast("Sequence[object]", given)
    if len(entries) > count:
        return _all_denied(count, f"{len(entries)} answers for {count} calls")
    approvals = [_read_one(entry) for entry in entries]
    approvals += [Approval(False, _MISSING)] * (count - len(entries))
    return BatchAnswer(tuple(approvals), answer.get("stop_after_execution") is True)


def _read_one(entry: object) -> Approval:
    if isinstance(entry, bool):
        return Approval(entry, "" if entry else _REFUSED)
    if isinstance(entry, Mapping):
        fields = cast("Mapping[str, object]", entry)
        approve, reason = fields.get("approve"), fields.get("reason")
        if isinstance(approve, bool):
            default = "" if approve else _REFUSED
            return Approval(approve, reason if isinstance(reason, str) and reason else default)
    return Approval(False, f"the approval could not be used: {entry!r:.200} is no answer")
