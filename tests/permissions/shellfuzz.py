"""Hostile texts for the reader of command lines: random bytes, mutated lines, deep nesting.

Whatever the text, the reader answers soon and never raises, and the gate allows nothing that bash does not take for a
command line. `make fuzz` runs this for a minute with a new seed; a reduced run with a fixed one is among the tests.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from random import Random, SystemRandom

from gatekit import Bench
from shellkit import entries

from agentframework.permissions.shell import parse_command_line

ATTEMPTS = Path(__file__).with_name("attempts")
SECONDS_ALLOWED = 2.0
PIECES = (
    "$(", ")", "`", "${", "}", "((", "))", "$((", '"', "'", "\\", "\n", "<<E\n", "\nE\n", "<(", "[[", "]]", "if ",
    " then ", " fi", "case x in ", ";;", "esac", "{ ", "; }", "&&", "|", "&", ";", ">", "<", "#", "$'", "*", "~", "=",
    "\x00", "\r", "\udc80", "\u202e", "do ", "done", "for x in ", "function f ", "() ", "coproc ", "time ", "! ",
    "eval ", "env -S ",
)  # fmt: skip
WRAPS = (
    ("$(", ")"), ('"$(', ')"'), ("(", ")"), ("{ ", "; }"), ("if x; then ", "; fi"), ("${x:-", "}"), ("$((", "))"),
    ("eval '", "'"), ("`", "`"), ("f() { ", "; }"), ("while x; do ", "; done"), ("sudo ", ""), ("a[", "]=1"),
    ("<(", ")"),
)  # fmt: skip


def corpus() -> list[str]:
    """The lines of all tables of attempts."""
    return [line for path in sorted(ATTEMPTS.glob("*.txt")) for line in entries(path.read_text(encoding="utf-8"))]


def hostile(random: Random, lines: Sequence[str]) -> Iterator[str]:
    """Texts without end."""
    while True:
        kind = random.randrange(10)
        if kind == 0:
            yield random.randbytes(random.randrange(200)).decode("utf-8", "surrogateescape")
        elif kind == 1:
            yield "".join(random.choices(PIECES, k=random.randrange(40)))
        elif kind == 2:
            before, after = random.choice(WRAPS)
            depth = random.choice((3, 30, 300, 3_000))
            yield before * depth + random.choice(lines) + after * (depth - random.randrange(2))
        else:
            yield _mutated(random, random.choice(lines), lines)


def _mutated(random: Random, line: str, lines: Sequence[str]) -> str:
    for _ in range(random.randint(1, 4)):
        at, to = sorted((random.randint(0, len(line)), random.randint(0, len(line))))
        line = random.choice((
            line[:at] + line[to:],
            line[:to] + line[at:],
            line[:at] + random.choice(PIECES) + line[at:],
            line[:at] + random.choice(lines) + line[to:],
            line[:at] + chr(random.randrange(0x3000)) + line[at + 1 :],
        ))  # fmt: skip
    return line


def fault(line: str, bench: Bench) -> str | None:
    """What is wrong with how ``line`` is answered, if anything."""
    before = time.process_time()
    try:
        view = parse_command_line(line, cwd=str(bench.cwd))
    except Exception as error:
        return f"raised {error!r}"
    if time.process_time() - before > SECONDS_ALLOWED:
        return "took too long"
    if view.complete and bench.bash(line) == "allow" and not _is_command_line(line):
        return "is allowed, and bash does not understand it"
    return None


def _is_command_line(line: str) -> bool:
    checked = subprocess.run(["bash", "-nc", line], capture_output=True, timeout=20, check=False)
    return checked.returncode == 0


def reading_bench(folder: Path) -> Bench:
    """A gate that allows much, so that a line that is misread shows."""
    return Bench(folder, allow=["Bash(git:*)", "Bash(rm:*)", "Bash(env:*)", "Bash(sh:*)"], read_only_commands=True)


def main() -> int:
    """Try texts for a while; prints the faults and how many texts were tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(2**32))
    given = parser.parse_args()
    faults = tried = 0
    with tempfile.TemporaryDirectory() as folder:
        bench = reading_bench(Path(folder))
        end = time.monotonic() + given.seconds
        for line in islice(hostile(Random(given.seed), corpus()), 10_000_000):
            found = fault(line, bench)
            tried += 1
            if found is not None:
                faults += 1
                print(f"{line!r} {found}")
            if time.monotonic() > end:
                break
    print(f"{tried} texts tried with the seed {given.seed}, {faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
