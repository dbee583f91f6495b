"""What Grep and Glob add to the bare ripgrep: ``python benchmarks/search.py`` (``make bench-search``).

One tree of 20,000 files; each search as a bare process and as a tool call, alternately, best CPU time against best CPU
time (ours: this process and its children). The same limits hold as in `run`: noise only ever adds.
"""

import asyncio
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from agentframework import Tool, builtin_tools
from agentframework.testing import tool_context
from agentframework.tools.executor import execute_tool

DIRECTORIES, FILES_EACH, ROUNDS = 200, 100, 9
MOST = 1.3

# Name, arguments of the tool, arguments of ripgrep that find the same.
GREPS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("Grep, few files", {"pattern": "word1234 word77"}, ["-l", "word1234 word77"]),
    ("Grep, many files", {"pattern": "word1234"}, ["-l", "word1234"]),
    ("Grep, nothing", {"pattern": "zzzqqq"}, ["-l", "zzzqqq"]),
    ("Grep, content", {"pattern": "word1234 word7", "output_mode": "content"}, ["-n", "word1234 word7"]),
    ("Grep, count", {"pattern": "word1234", "output_mode": "count"}, ["-c", "word1234"]),
)
GLOBS: tuple[tuple[str, dict[str, Any], list[str]], ...] = (
    ("Glob, some", {"pattern": "**/file7.py"}, ["--files", "-g", "file7.py", "--sortr=modified"]),
    ("Glob, all", {"pattern": "**/*.py"}, ["--files", "-g", "*.py", "--sortr=modified"]),
)


def make_tree(root: Path) -> None:
    """The same tree every time."""
    chance = random.Random(1)
    words = [f"word{number}" for number in range(2_000)]
    for directory in range(DIRECTORIES):
        place = root / f"dir{directory // 20}" / f"sub{directory % 20}"
        place.mkdir(parents=True)
        for file in range(FILES_EACH):
            lines = (" ".join(chance.choices(words, k=8)) for _ in range(40))
            (place / f"file{file}.py").write_text("\n".join(lines))


def cpu_seconds() -> float:
    """Of this process and of those of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


async def main() -> int:
    """Prints a line per search; 1 if a limit is not held."""
    tools = {tool.name: tool for tool in builtin_tools()}
    program = str(Path(sys.executable).parent / "rg")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        make_tree(Path(folder))
        context = tool_context(folder)

        async def ours(tool: Tool, arguments: dict[str, Any]) -> float:
            before = cpu_seconds()
            await execute_tool(tool, arguments, context)
            return cpu_seconds() - before

        def bare(arguments: list[str]) -> float:
            before = cpu_seconds()
            subprocess.run([program, *arguments, "./"], cwd=folder, capture_output=True, check=False)
            return cpu_seconds() - before

        for name, arguments, same in (*GREPS, *GLOBS):
            tool = tools[name.partition(",")[0]]
            await ours(tool, arguments)
            pairs = [(bare(same), await ours(tool, arguments)) for _ in range(ROUNDS)]
            theirs, own = (min(times) for times in zip(*pairs, strict=True))
            ratio = own / theirs
            worst = max(worst, ratio)
            print(f"{name:18} bare {theirs * 1000:5.0f} ms CPU   tool {own * 1000:5.0f} ms CPU   ratio {ratio:.2f}")
    print(f"most {worst:.2f}, limit {MOST}")
    return int(worst > MOST)



if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
