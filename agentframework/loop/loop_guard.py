"""Turns that go in circles: the same call with the same result, again and again.

Calls are compared by tool, arguments and result. Any call that the turn has not seen before counts as progress, and
the counting begins anew: running the tests after each edit is no circle, reading one file five times is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from agentframework.errors import ConfigurationError
from agentframework.messages import ToolCall, ToolResultPart

_POLLING = frozenset({"BashOutput"})


@dataclass(frozen=True, slots=True)
class LoopGuard:
    """When a model that repeats itself is told so, and when its turn ends.

    Counted are calls with the same arguments and the same result, while nothing new happens between them: at
    ``nudge_at`` the model is told, at ``stop_at`` the turn ends with the stop reason ``loop_detected``. Tools in
    ``polling_tools`` may be called in vain as often as needed. Raises `ConfigurationError` unless
    2 <= ``nudge_at`` < ``stop_at``.
    """

    nudge_at: int = 3
    stop_at: int = 5
    polling_tools: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not 2 <= self.nudge_at < self.stop_at:
            raise ConfigurationError(
                f"loop_guard needs 2 <= nudge_at < stop_at, not {self.nudge_at} and {self.stop_at}",
                details={"field": "loop_guard"},
            )
        if isinstance(self.polling_tools, str):
            raise ConfigurationError(
                f"loop_guard.polling_tools must be a list of tool names, not the text {self.polling_tools!r}",
                details={"field": "loop_guard"},
            )


@dataclass(frozen=True, slots=True)
class Repetition:
    """A call that was repeated ``count`` times. ``final``: the turn is to end."""

    tool_name: str
    count: int
    final: bool

    @property
    def nudge(self) -> str:
        """What the model is told."""
        return (
            f"[You have called {self.tool_name} {self.count} times with the same arguments and got the same result. "
            "Calling it again will not change that: do something else, or say what keeps you from going on.]"
        )


class CallCounter:
    """The calls of one turn, counted."""

    __slots__ = ("_guard", "_nudged", "_times")

    def __init__(self, guard: LoopGuard) -> None:
        self._guard = guard
        self._times: dict[bytes, int] = {}
        self._nudged = False

    def count(self, calls: Sequence[ToolCall], results: Sequence[ToolResultPart]) -> Repetition | None:
        """Note a round. The call that was repeated most, if that is reason to do something; never the end at once."""
        most, name = 0, ""
        for call, result in zip(calls, results, strict=True):
            if call.name in _POLLING or call.name in self._guard.polling_tools:
                continue
            key = _fingerprint(call, result)
            if key not in self._times:
                # What was seen stays known, so that a circle of several calls is one all the same.
                self._times = dict.fromkeys(self._times, 0)
                self._nudged, most = False, 0
            self._times[key] = times = self._times.get(key, 0) + 1
            if times > most:
                most, name = times, call.name
        if most < self._guard.nudge_at:
            return None
        final = self._nudged and most >= self._guard.stop_at
        self._nudged = True
        return Repetition(name, most, final)


def _fingerprint(call: ToolCall, result: ToolResultPart) -> bytes:
    try:
        arguments = json.dumps(call.arguments, sort_keys=True) if call.arguments is not None else call.arguments_json
    except (TypeError, ValueError, RecursionError):
        arguments = call.arguments_json
    digest = blake2b(digest_size=16)
    for text in (call.name, arguments, str(result.is_error), result.content, *(i.data_base64 for i in result.images)):
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.digest()
