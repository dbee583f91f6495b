"""Measures one subject in a process of its own: ``python scenarios.py SUBJECT URL SCENARIO [SCENARIO …]``.

Standard library only, since it also runs inside the environments of other frameworks. Prints one JSON object.
A subject is a module of ``subjects`` with ``setup(url)``, ``new_session()``, ``turn(session, prompt, on_text)`` and
optionally ``close(session)``; its tools are ``bench_add(x)`` and ``bench_sleep(ms)``.
"""

import asyncio
import gc
import importlib.util
import json
import os
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024


def load(name: str) -> Any:
    """The subject's module."""
    sys.path.insert(0, str(HERE / "subjects"))
    spec = importlib.util.spec_from_file_location(name, HERE / "subjects" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Text:
    """Counts the deltas of a turn."""

    def __init__(self) -> None:
        self.deltas = 0
        self.characters = 0

    def __call__(self, text: str) -> None:
        if text:
            self.deltas += 1
            self.characters += len(text)


class Stopwatch:
    """Wall and CPU time of a piece of work (children included)."""

    def __enter__(self) -> "Stopwatch":
        self._wall, self._cpu = time.perf_counter(), cpu_s()
        return self

    def __exit__(self, *_exc: object) -> None:
        self.wall_s = time.perf_counter() - self._wall
        self.cpu_s = cpu_s() - self._cpu


def cpu_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def rss_kib() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_KIB


async def close(subject: Any, session: Any) -> None:
    if hasattr(subject, "close"):
        await subject.close(session)


async def one_turn(subject: Any, session: Any, prompt: str, expected: int | None = None) -> Text:
    text = Text()
    await subject.turn(session, prompt, text)
    if expected is not None and text.characters != 4 * expected:
        raise RuntimeError(f"{text.characters} characters arrived, {4 * expected} were sent")
    return text


async def short(subject: Any) -> dict[str, float]:
    """The second turn of a conversation: three deltas."""
    walls, cpus = [], []
    for _ in range(15):
        session = await subject.new_session()
        await one_turn(subject, session, "<text 3> hello")
        with Stopwatch() as watch:
            await one_turn(subject, session, "<text 3> again", 3)
        walls.append(watch.wall_s * 1e3)
        cpus.append(watch.cpu_s * 1e3)
        await close(subject, session)
    return {"wall_ms": statistics.median(walls[3:]), "cpu_ms": statistics.median(cpus[3:])}


async def burst(subject: Any) -> dict[str, float]:
    """5,000 deltas as fast as they come; the best of three."""
    session = await subject.new_session()
    await one_turn(subject, session, "<text 200> warm up", 200)
    found = []
    for _ in range(3):
        with Stopwatch() as watch:
            text = await one_turn(subject, session, "<text 5000> go", 5000)
        found.append((watch.cpu_s / 5000 * 1e6, watch.wall_s / 5000 * 1e6))
    await close(subject, session)
    return {"cpu_us": min(cpu for cpu, _ in found), "wall_us": min(wall for _, wall in found), "deltas": text.deltas}


async def paced(subject: Any) -> dict[str, float]:
    """300 deltas, 2 ms apart: each wakes the client on its own; the best of three."""
    session = await subject.new_session()
    await one_turn(subject, session, "<text 20> warm up", 20)
    cpus = []
    for _ in range(3):
        with Stopwatch() as watch:
            await one_turn(subject, session, "<text 300 gap 2> go", 300)
        cpus.append(watch.cpu_s / 300 * 1e6)
    await close(subject, session)
    return {"cpu_us": min(cpus)}


async def tools(subject: Any) -> dict[str, float]:
    """50 rounds of one tool call; the best of two."""
    found = []
    for rounds in (3, 50, 50):
        session = await subject.new_session()
        with Stopwatch() as watch:
            await one_turn(subject, session, f"<rounds {rounds}> go")
        found.append((watch.wall_s / rounds * 1e3, watch.cpu_s / rounds * 1e3))
        await close(subject, session)
    return {"wall_ms": min(wall for wall, _ in found[1:]), "cpu_ms": min(cpu for _, cpu in found[1:])}


async def parallel(subject: Any) -> dict[str, float]:
    """Eight calls of 100 ms in one reply, three times; the first one may have to load something."""
    session = await subject.new_session()
    await one_turn(subject, session, "<text 3> warm up")
    walls = []
    for _ in range(3):
        with Stopwatch() as watch:
            await one_turn(subject, session, "<calls 8> go")
        walls.append(watch.wall_s * 1e3)
    await close(subject, session)
    return {"wall_ms": min(walls), "first_ms": walls[0]}


async def growth(subject: Any) -> dict[str, float]:
    """200 short turns of one conversation: the first ten against the last ten."""
    session = await subject.new_session()
    walls, cpus = [], []
    for number in range(200):
        with Stopwatch() as watch:
            await one_turn(subject, session, f"<text 3> turn {number}", 3)
        walls.append(watch.wall_s * 1e3)
        cpus.append(watch.cpu_s * 1e3)
    await close(subject, session)
    median = statistics.median
    return {"first_ms": median(walls[1:11]), "last_ms": median(walls[-10:]), "last_cpu_ms": median(cpus[-10:])}


async def memory(subject: Any) -> dict[str, float]:
    """Resident memory of 500 sessions that have had one turn each."""
    kept = []

    async def more(count: int) -> None:
        for _ in range(count):
            session = await subject.new_session()
            await one_turn(subject, session, "<text 3> hello")
            kept.append(session)

    await more(50)
    gc.collect()
    before = rss_kib()
    await more(500)
    gc.collect()
    grown = rss_kib() - before
    for session in kept:
        await close(subject, session)
    return {"kib": grown / 500}


async def crowd(subject: Any) -> dict[str, float]:
    """200 sessions that receive 200 deltas each at once; and how long the event loop stood still at worst."""
    warm = await subject.new_session()
    await one_turn(subject, warm, "<text 3> warm up")
    sessions = [await subject.new_session() for _ in range(200)]
    worst = 0.0

    async def watch_loop() -> None:
        nonlocal worst
        while True:
            before, cpu = time.perf_counter(), time.thread_time()
            await asyncio.sleep(0.01)
            # A loop that waits for a processor is not blocked by its own work.
            worst = max(worst, min(time.perf_counter() - before, time.thread_time() - cpu) - 0.01)

    watcher = asyncio.ensure_future(watch_loop())
    await asyncio.sleep(0.05)
    with Stopwatch() as watch:
        await asyncio.gather(*[one_turn(subject, session, "<text 200> go", 200) for session in sessions])
    watcher.cancel()
    for session in sessions:
        await close(subject, session)
    return {"cpu_s": watch.cpu_s, "wall_s": watch.wall_s, "block_ms": worst * 1e3}


SCENARIOS = {run.__name__: run for run in (short, burst, paced, tools, parallel, growth, memory, crowd)}


async def main(name: str, url: str, wanted: list[str]) -> None:
    subject = load(name)
    await subject.setup(url)
    results: dict[str, Any] = {}
    for scenario in wanted:
        try:
            async with asyncio.timeout(150):
                results[scenario] = await SCENARIOS[scenario](subject)
        except Exception as error:
            results[scenario] = {"error": f"{type(error).__name__}: {error}"[:300]}
    results["process"] = {"peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    print("\n" + json.dumps(results), flush=True)
    os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
