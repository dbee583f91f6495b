import asyncio
from time import perf_counter

from agentframework._base.pacing import BUDGET_S, pacer


def burn(seconds: float) -> None:
    end = perf_counter() + seconds
    while perf_counter() < end:
        pass


async def test_many_busy_tasks_share_one_budget_per_pass_of_the_loop() -> None:
    turns = 0
    done = False

    async def count_turns() -> None:
        nonlocal turns
        while not done:
            turns += 1
            await asyncio.sleep(0)

    async def busy() -> None:
        pace = pacer()
        for _ in range(10):
            await pace.breathe()
            burn(BUDGET_S / 5)

    counter = asyncio.ensure_future(count_turns())
    await asyncio.gather(*[busy() for _ in range(20)])
    done = True
    await counter
    # 200 pieces of a fifth of the budget each: at least every sixth has to let the loop turn.
    assert turns >= 200 / 6


async def test_idle_work_is_not_held_up() -> None:
    pace = pacer()
    assert not pace.due
    assert pacer() is pace
