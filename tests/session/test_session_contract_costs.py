import json
import subprocess
import sys
import textwrap
from pathlib import Path

PREAMBLE = """
import asyncio, gc, json, sys, tracemalloc
from agentframework import InteractiveSession, tool
from agentframework.testing import ScriptedProvider, say

@tool(risk="inspect")
async def look() -> str:
    "Looks."
    return "seen"

def make(*steps):
    options = {"default_tools": [look], "system_prompt": "Be brief."}
    return InteractiveSession(cwd=".", provider=ScriptedProvider(*steps), **options)
"""


def run(script: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PREAMBLE + textwrap.dedent(script)],
        cwd=folder, capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    return done.stdout


def test_a_session_is_imported_without_any_other_package(tmp_path: Path) -> None:
    script = """
    import agentframework.session
    roots = {name.partition(".")[0] for name in sys.modules}
    print(json.dumps(sorted(roots - set(sys.stdlib_module_names))))
    """
    found = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys, json; sys.path += {sys.path!r}\n" + textwrap.dedent(script)],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    others = {name for name in json.loads(found.stdout) if not name.startswith(("_", "agentframework"))}
    assert others == set()


def test_a_session_that_does_nothing_takes_eight_kib_at_most(tmp_path: Path) -> None:
    script = """
    kept = [make() for _ in range(20)]
    gc.collect()
    tracemalloc.start(1)
    before = tracemalloc.get_traced_memory()[0]
    kept += [make() for _ in range(200)]
    gc.collect()
    print((tracemalloc.get_traced_memory()[0] - before) / 200 / 1024)
    """
    assert float(run(script, tmp_path)) <= 8.0


def test_a_turn_leaves_little_more_than_its_messages(tmp_path: Path) -> None:
    script = """
    async def main():
        texts = ["x" * 10_000 + str(number) for number in range(60)]
        session = make(*[say(*[text[at:at + 100] for at in range(0, len(text), 100)]) for text in texts])
        session.on("text_delta", lambda event: None)
        async def heard(event):
            pass
        session.on("complete", heard)
        for _ in range(10):
            await session.submit("go")
        gc.collect()
        tracemalloc.start(1)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(50):
            await session.submit("go")
        session._parts.settings.provider.requests.clear()
        gc.collect()
        print((tracemalloc.get_traced_memory()[0] - before) / 50 / 1024, len(asyncio.all_tasks()))
    asyncio.run(main())
    """
    kib, tasks = run(script, tmp_path).split()
    assert float(kib) <= 10_000 / 1024 + 4.0
    assert int(tasks) == 1
