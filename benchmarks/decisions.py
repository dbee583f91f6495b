"""How long the gate takes to decide about ordinary commands, next to `bash -n` reading the same line.

Run it alone: `.venv/bin/python benchmarks/decisions.py`. Each line is decided many times by a gate with sixteen rules
and the read-only set turned on; the best and the middle time count. The views of lines that the gate keeps for a while
are of no use here: each time the line ends in another comment.
"""

import subprocess
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median

from agentframework.events.sink import EventSink
from agentframework.messages import ToolCall
from agentframework.permissions import (
    GateCall,
    GateOptions,
    PermissionGate,
    PermissionRules,
    PromptBroker,
    parse_rules,
)
from agentframework.sandbox import LocalSandbox
from agentframework.tools import Tool

LINES = (
    "git status", "ls -la src", "npm run build", "git commit -m 'a message'", "cd src && npm test",
    "cat src/a1.py | head -20", "git diff --stat | head -20", "grep -rn name src", "find . -name '*.py' | wc -l",
    "echo done > out.txt", "mkdir -p build && cp src/a1.py build/", "for f in src/*.py; do echo $f; done",
    "python3 -m pytest -q tests/x.py", "sed -n 1,20p src/a1.py", "git log --oneline -5", "uv run pytest -k name",
)  # fmt: skip
RULES = PermissionRules(
    allow=[
        "Bash(git status:*)",
        "Bash(npm run *)",
        "Bash(ls:*)",
        "Read(src/**)",
        "Edit(src/**)",
        "WebFetch",
        "mcp__srv",
    ],
    deny=["Bash(rm -rf *)", "Bash(curl:*)", "Read(**/.env)", "Read(secret/**)", "Edit(.github/**)", "mcp__other"],
    ask=["Bash(git push:*)", "Bash(npm publish:*)", "Edit(*.lock)"],
)
REPETITIONS = 100


def timed(work: Callable[[], object], repetitions: int) -> list[float]:
    """Milliseconds of each run, after one that does not count."""
    work()
    found: list[float] = []
    for _ in range(repetitions):
        start = time.perf_counter()
        work()
        found.append((time.perf_counter() - start) * 1000)
    return found


def make_gate(root: Path) -> PermissionGate:
    """A gate on ``root`` that nobody listens to."""
    sink = EventSink("bench", lambda _event: None, lambda _name: False)
    rules = parse_rules(RULES, base=str(root), home=str(root.parent))
    options = GateOptions(home=str(root.parent), read_only_commands=True)
    broker = PromptBroker(sink)
    sandbox = LocalSandbox(root)
    return PermissionGate(mode="default", rules=rules, sandbox=sandbox, prompts=broker, sink=sink, options=options)


def main() -> None:
    """Measure and print."""
    schema = {"type": "object", "properties": {"command": {"type": "string"}}}
    tool = Tool("Bash", "", schema, lambda _arguments, _context: "", "execute", "command")
    rows: list[tuple[float, float, float]] = []
    with tempfile.TemporaryDirectory() as place:
        root = Path(place).resolve()
        (root / "src").mkdir()
        for number in range(20):
            (root / "src" / f"a{number}.py").write_text("")
        gate = make_gate(root)
        print(f"{'best':>8} {'median':>8} {'bash -n':>8}   in milliseconds")
        for line in LINES:
            texts = count()
            ours = timed(
                lambda line=line, texts=texts: gate.explain(
                    GateCall(ToolCall("1", "Bash", {"command": f"{line} # {next(texts)}"}), tool)
                ),
                REPETITIONS,
            )
            shell = timed(lambda line=line: subprocess.run(["bash", "-n", "-c", line], check=False), 10)
            rows.append((min(ours), median(ours), min(shell)))
            print("{:8.3f} {:8.3f} {:8.3f}   {}".format(*rows[-1], line))
    best, middle, shell_best = (median(column) for column in zip(*rows, strict=True))
    print(f"{best:8.3f} {middle:8.3f} {shell_best:8.3f}   median of all; ratio of best times {best / shell_best:.2f}")


if __name__ == "__main__":
    main()
