"""Our cost as ratios to the bare SDKs, measured in one run: ``python benchmarks/run.py`` (``make bench``).

Every subject runs in processes of its own, interleaved with the bare SDK of the same API, against one local model
server. Ratios are of processor time, best runs against best runs: other work on the machine only ever adds.
``--peers`` adds other frameworks, each in an environment of its own that is made on first use (needs a package index).
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from environments import PEERS, python_of

HERE = Path(__file__).parent
GROUPS = (("short", "burst", "paced", "tools", "parallel"), ("growth",), ("memory",), ("crowd",))
BARE = {"anthropic": "bare_anthropic", "chat": "bare_chat", "responses": "bare_responses"}
OURS = {
    "session_anthropic": "anthropic",
    "session_chat": "chat",
    "session_responses": "responses",
    "agent_anthropic": "anthropic",
}

# What is compared, and the most that ours may be.
COLUMNS = (
    ("short turn", "short.cpu_ms", {"anthropic": 0.8, "chat": 0.8, "responses": 0.8}),
    ("delta, burst", "burst.cpu_us", {"anthropic": 0.3, "chat": 0.3, "responses": 0.3}),
    ("delta, paced", "paced.cpu_us", {"anthropic": 0.8, "chat": 0.8, "responses": 0.8}),
    ("tool round", "tools.cpu_ms", {"anthropic": 0.7, "chat": 0.25, "responses": 0.2}),
    ("200th turn", "growth.last_cpu_ms", {"anthropic": 0.6, "chat": 0.2, "responses": 0.2}),
    ("200 x 200 CPU", "crowd.cpu_s", {"anthropic": 0.5, "chat": 0.5, "responses": 0.5}),
)
ABSOLUTE = (
    ("KiB a session", "memory.kib", 8.0),
    ("loop block ms", "crowd.block_ms", 50.0),
    ("8 x 100 ms tools, ms", "parallel.wall_ms", 115.0),
)
IMPORTS = ("import pydantic", "import agentframework", "import anthropic", "import openai")


def start_server() -> tuple[subprocess.Popen[str], str]:
    server = subprocess.Popen([sys.executable, str(HERE / "server.py"), "0"], stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    return server, f"http://127.0.0.1:{server.stdout.readline().split()[1]}"


def measure(python: str, subject: str, url: str, scenarios: tuple[str, ...]) -> dict[str, Any]:
    """Results of one process; errors are results too."""
    run = subprocess.run(
        [python, str(HERE / "scenarios.py"), subject, url, *scenarios],
        capture_output=True, text=True, timeout=900, cwd=HERE,
        env={**os.environ, "OTEL_SDK_DISABLED": "true", "NO_COLOR": "1"},
    )  # fmt: skip
    lines = [line for line in run.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return {scenario: {"error": run.stderr[-300:]} for scenario in scenarios}
    return json.loads(lines[-1])


def import_seconds(statement: str, repetitions: int) -> float:
    """Seconds of a statement in a fresh interpreter, beyond the interpreter itself; the best of several."""
    code = f"import time; began = time.perf_counter(); {statement}; print(time.perf_counter() - began)"
    return min(float(subprocess.check_output([sys.executable, "-c", code], text=True)) for _ in range(repetitions))


class Results:
    """All figures by subject and key."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.errors: list[str] = []

    def add(self, subject: str, result: dict[str, Any]) -> None:
        for scenario, figures in result.items():
            if "error" in figures:
                self.errors.append(f"{subject} {scenario}: {figures['error']}")
                continue
            for key, value in figures.items():
                self.values[subject][f"{scenario}.{key}"].append(value)

    def best(self, subject: str, key: str) -> float | None:
        found = self.values[subject].get(key)
        return min(found) if found else None

    def ratio(self, subject: str, api: str, key: str) -> float | None:
        ours, bare = self.best(subject, key), self.best(BARE[api], key)
        return ours / bare if ours is not None and bare else None


def run_all(subjects: dict[str, str], groups: list[tuple[str, ...]], repetitions: int, url: str) -> Results:
    """Interleaved: each repetition goes once through all subjects."""
    results = Results()
    order = sorted({BARE[api] for api in subjects.values()}) + sorted(subjects)
    for repetition in range(repetitions):
        for group in groups:
            if repetition and group in (("memory",),):
                continue
            for subject in order:
                began = time.monotonic()
                results.add(subject, measure(python_of(subject), subject, url, group))
                took = time.monotonic() - began
                print(f"  {repetition + 1}/{repetitions} {subject}: {' '.join(group)} ({took:.1f} s)", file=sys.stderr)
    return results


def report(results: Results, subjects: dict[str, str], imports: dict[str, float]) -> bool:
    """Print the tables; False if one of our figures is over its target."""
    met = True
    print("\nRatios to the bare SDK of the same API, best against best (target in brackets)\n")
    print("| subject | " + " | ".join(title for title, _, _ in COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for subject, api in subjects.items():
        cells: list[str] = []
        for _, key, targets in COLUMNS:
            ratio = results.ratio(subject, api, key)
            mark = f" ({targets[api]:g})" if subject in OURS else ""
            cells.append("-" if ratio is None else f"{ratio:.2f}{mark}")
            met = met and (subject not in OURS or (ratio is not None and ratio <= targets[api]))
        print(f"| {subject} | " + " | ".join(cells) + " |")
    print("\nAbsolute figures, best runs (target in brackets)\n")
    print("| subject | " + " | ".join(title for title, _, _ in ABSOLUTE) + " |")
    print("|---" * (len(ABSOLUTE) + 1) + "|")
    for subject in [*sorted({BARE[api] for api in subjects.values()}), *subjects]:
        cells = []
        for _, key, target in ABSOLUTE:
            value = results.best(subject, key)
            mark = f" ({target:g})" if subject in OURS else ""
            cells.append("-" if value is None else f"{value:.1f}{mark}")
            met = met and (subject not in OURS or (value is not None and value <= target))
        print(f"| {subject} | " + " | ".join(cells) + " |")
    print("\nImports, best of several: " + ", ".join(f"{name} {seconds:.3f} s" for name, seconds in imports.items()))
    ratio = imports["import agentframework"] / imports["import pydantic"]
    print(f"import agentframework / import pydantic: {ratio:.2f} (1.5)")
    for error in results.errors:
        print(f"failed: {error}")
    return met and ratio <= 1.5 and not results.errors


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--only", default="", help="subjects by name, separated by commas")
    parser.add_argument("--scenarios", default="", help="scenarios by name, separated by commas")
    parser.add_argument("--peers", action="store_true", help="other frameworks too")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a target is missed")
    arguments = parser.parse_args()
    subjects = dict(OURS)
    if arguments.peers:
        subjects |= {name: peer.api for name, peer in PEERS.items()}
    if arguments.only:
        subjects = {name: subjects[name] for name in arguments.only.split(",")}
    wanted = arguments.scenarios.split(",") if arguments.scenarios else [name for group in GROUPS for name in group]
    groups = [tuple(name for name in group if name in wanted) for group in GROUPS]
    server, url = start_server()
    try:
        imports = {statement: import_seconds(statement, 5) for statement in IMPORTS}
        results = run_all(subjects, [group for group in groups if group], arguments.repetitions, url)
    finally:
        server.terminate()
        server.wait()
    met = report(results, subjects, imports)
    return 0 if met or not arguments.strict else 1


if __name__ == "__main__":
    sys.exit(main())
