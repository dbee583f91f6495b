"""What a turn may use up, and what happens when it has."""

import asyncio
from dataclasses import dataclass, fields
from time import monotonic
from typing import Any

from agentframework._base.abort import AbortedError, AbortSignal
from agentframework.errors import ConfigurationError, ErrorCode, LimitExceededError
from agentframework.messages import Usage

_BYTES = ("max_tool_argument_bytes", "max_tool_result_bytes")
_FRACTIONS = ("max_cost_usd", "max_wall_s")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one turn or run. None means unbounded (not for the byte limits).

    ``max_iterations`` counts its model requests, ``max_tool_calls_per_turn`` the calls of one reply; bytes are UTF-8.
    ``max_total_tokens`` counts input and output of all its requests, ``max_cost_usd`` what they cost by the prices of
    the host, ``max_wall_s`` seconds since it began. They are checked before each request, so that the last one may
    exceed them; time also ends what is running. Raises `ConfigurationError` for a bound that is not positive.
    """

    max_iterations: int | None = 8
    max_tool_calls_per_turn: int | None = 8
    max_tool_argument_bytes: int = 262_144
    max_tool_result_bytes: int = 2_097_152
    max_total_tokens: int | None = None
    max_cost_usd: float | None = None
    max_wall_s: float | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            problem = _problem(item.name, getattr(self, item.name))
            if problem:
                raise ConfigurationError(f"limits.{item.name} {problem}", details={"field": f"limits.{item.name}"})


def _problem(name: str, value: Any) -> str | None:
    if value is None and name not in _BYTES:
        return None
    if name in _FRACTIONS:
        good = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")
        return None if good else f"must be a number above 0, not {value!r}"
    good = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    return None if good else f"must be a number of at least 1, not {value!r}"


def check_price(limits: Limits, priced: bool) -> None:
    """Raise `ConfigurationError` if the cost is limited and nobody knows what the model costs."""
    if limits.max_cost_usd is not None and not priced:
        raise ConfigurationError(
            "limits.max_cost_usd needs the price of the model that answers; give it in prices",
            details={"field": "prices"},
        )


def check_budget(limits: Limits, usage: Usage, began: float) -> None:
    """Raise `LimitExceededError` if tokens, money or time are used up. ``began`` is by the monotonic clock."""
    tokens, cost, wall = limits.max_total_tokens, limits.max_cost_usd, limits.max_wall_s
    if tokens is not None and usage.total_tokens >= tokens:
        raise exceeded("max_total_tokens", tokens, f"the turn used {usage.total_tokens} of its {tokens} tokens")
    if cost is not None and (spent := usage.cost_usd or 0.0) >= cost:
        raise exceeded("max_cost_usd", cost, f"the turn cost {spent:.6g} of its {cost:g} USD")
    if wall is not None and monotonic() - began >= wall:
        raise _out_of_time(wall)


_CODES = {
    "max_total_tokens": ErrorCode.TOKEN_LIMIT_EXCEEDED,
    "max_cost_usd": ErrorCode.COST_LIMIT_EXCEEDED,
    "max_wall_s": ErrorCode.TIME_LIMIT_EXCEEDED,
}


def exceeded(limit: str, value: float, problem: str) -> LimitExceededError:
    """The error for a limit that was reached; its name is the stop reason."""
    text = f"{problem}; raise {limit} to let it go on"
    details = {"limit": limit, "value": value, "stop_reason": limit}
    return LimitExceededError(text, code=_CODES.get(limit), details=details)


def _out_of_time(wall: float) -> LimitExceededError:
    return exceeded("max_wall_s", wall, f"the turn used up its {wall:g} seconds")


class WallClock:
    """Ends what a turn is waiting for when its time is up. A context manager around the turn.

    Raises `LimitExceededError` in place of the `AbortedError` that this causes.
    """

    __slots__ = ("_abort", "_expired", "_timer", "_wall_s")

    def __init__(self, wall_s: float | None, began: float, abort: AbortSignal) -> None:
        self._wall_s = wall_s
        self._abort = abort
        self._expired = False
        self._timer: asyncio.TimerHandle | None = None
        if wall_s is not None:
            left = max(0.0, wall_s - (monotonic() - began))
            self._timer = asyncio.get_running_loop().call_later(left, self._expire)

    def _expire(self) -> None:
        if not self._abort.aborted:
            self._expired = True
            self._abort.abort("the time limit of the turn")

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._expired and self._wall_s is not None and isinstance(error, AbortedError):
            raise _out_of_time(self._wall_s) from error
