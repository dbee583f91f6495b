import asyncio
from pathlib import Path
from typing import Any

import pytest
from loopkit import Bench

from agentframework import Tool, tool
from agentframework.errors import ConfigurationError, LimitExceededError
from agentframework.loop import Limits
from agentframework.messages import ModelPrice, Usage
from agentframework.testing import call, say

WAIT_S = 20
PRICE = ModelPrice(input=3.0, output=15.0, cache_read=0.3)


@tool(risk="inspect")
def look(at: str = "") -> str:
    """Looks."""
    return f"seen {at}"


def rounds(count: int, usage: Usage) -> list[Any]:
    return [say(f"round {n} ", call("look", at=str(n)), usage=usage) for n in range(count)]


def test_what_a_model_costs_is_told_per_million_tokens() -> None:
    usage = Usage(input_tokens=1_000_000, output_tokens=100_000, cache_read_tokens=400_000, cache_write_tokens=100_000)
    assert PRICE.cost(usage) == pytest.approx(0.5 * 3 + 0.4 * 0.3 + 0.1 * 3 + 0.1 * 15)
    assert PRICE.applied(usage).cost_usd == PRICE.cost(usage)


@pytest.mark.parametrize(
    ("limits", "code", "requests", "says"),
    [
        ({"max_iterations": 2}, "AGENT_LIMIT_EXCEEDED", 2, "its 2 model requests"),
        ({"max_total_tokens": 3_000}, "TOKEN_LIMIT_EXCEEDED", 3, "used 3300 of its 3000 tokens"),
        ({"max_cost_usd": 0.008}, "COST_LIMIT_EXCEEDED", 2, "cost 0.009 of its 0.008 USD"),
    ],
)
async def test_each_limit_is_checked_before_a_request_and_has_its_own_name(
    tmp_path: Path, limits: dict[str, Any], code: str, requests: int, says: str
) -> None:
    script = rounds(8, Usage(input_tokens=1_000, output_tokens=100))
    bench = Bench(tmp_path, *script, tools=[look], prices={"scripted-model": PRICE}, limits=Limits(**limits))
    (name,) = limits
    with pytest.raises(LimitExceededError, match=says) as caught:
        await bench.run()
    assert caught.value.code == code
    assert caught.value.details["limit"] == caught.value.details["stop_reason"] == name
    assert len(bench.provider.requests) == requests
    assert bench.types("max_iterations_reached") == (["max_iterations_reached"] if name == "max_iterations" else [])
    assert len(bench.results) == requests


async def test_time_ends_what_is_running_and_every_call_is_answered(tmp_path: Path) -> None:
    began = asyncio.Event()

    async def run(_arguments: Any, _context: Any) -> str:
        began.set()
        await asyncio.Event().wait()
        return "never"

    hang = Tool("hang", "", {"type": "object"}, run, "execute")
    bench = Bench(tmp_path, say(call("hang"), call("hang")), "never", tools=[hang], limits=Limits(max_wall_s=0.2))
    async with asyncio.timeout(WAIT_S):
        with pytest.raises(LimitExceededError, match=r"its 0\.2 seconds") as caught:
            await bench.run()
    assert caught.value.code == "TIME_LIMIT_EXCEEDED"
    assert began.is_set()
    assert [part.is_error for part in bench.results] == [True, True]


async def test_a_stop_by_somebody_is_no_matter_of_time(tmp_path: Path) -> None:
    bench = Bench(tmp_path, lambda _request: bench.abort.abort("enough") or "late", limits=Limits(max_wall_s=60))
    with pytest.raises(Exception, match="enough") as caught:
        await bench.run()
    assert not isinstance(caught.value, LimitExceededError)


async def test_time_that_is_up_before_the_first_request_is_no_request(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "never", limits=Limits(max_wall_s=1e-9))
    with pytest.raises(LimitExceededError):
        await bench.run()
    assert bench.provider.requests == []


def test_a_limited_cost_needs_a_price(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="prices"):
        Bench(tmp_path, limits=Limits(max_cost_usd=1))


async def test_a_model_without_a_price_is_not_asked_while_the_cost_is_limited(tmp_path: Path) -> None:
    bench = Bench(tmp_path, "never", prices={"scripted-model": PRICE}, limits=Limits(max_cost_usd=1))
    with pytest.raises(ConfigurationError, match="price"):
        await bench.run(model="another")
    assert bench.provider.requests == []


async def test_what_a_reply_cost_is_in_its_usage_and_in_the_sum(tmp_path: Path) -> None:
    prices = {"scripted-model": PRICE}
    bench = Bench(tmp_path, *rounds(1, Usage(input_tokens=1_000)), "end", tools=[look], prices=prices)
    await bench.run()
    costs = [event.usage.cost_usd for event in bench.events if event.type == "model_completed"]  # type: ignore[attr-defined]
    assert costs == pytest.approx([0.003, PRICE.cost(Usage(input_tokens=10, output_tokens=5))])


@pytest.mark.parametrize("name", ["max_total_tokens", "max_cost_usd", "max_wall_s", "max_iterations"])
@pytest.mark.parametrize("value", [0, -1, True, "3", float("nan"), float("inf")])
def test_a_limit_that_is_no_positive_number_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"limits.{name}"):
        Limits(**{name: value})
