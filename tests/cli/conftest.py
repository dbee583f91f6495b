"""The real command as a process of its own, answered by a recording or by a strict server on this machine."""

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from headlesskit import Command, Exchanges

from agentframework.testing import StrictModelServer

# Where the tests run behind a program that ignores hang-ups (as nohup does), the command would do so, too.
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
async def server() -> AsyncIterator[StrictModelServer]:
    async with StrictModelServer(allow_leftovers=True) as running:
        yield running


@pytest.fixture
async def command(tmp_path: Path, server: StrictModelServer) -> AsyncIterator[Command]:
    """Answered by ``server``. Importing an SDK takes a second; `replayed` does without."""
    # Of the two SDKs the one that is imported in half the time.
    keys = {"OPENAI_API_KEY": "test-key", "OPENAI_BASE_URL": server.openai_url}
    starting = Command(tmp_path, environment_of(tmp_path) | keys)
    yield starting
    await starting.close()


@pytest.fixture
def exchanges(tmp_path: Path) -> Exchanges:
    """What the model says in `replayed`."""
    return Exchanges(tmp_path / "recording.jsonl")


@pytest.fixture
async def replayed(tmp_path: Path, exchanges: Exchanges) -> AsyncIterator[Command]:
    """Answered by ``exchanges``, in an empty folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    starting = Command(folder, environment_of(tmp_path), exchanges)
    yield starting
    await starting.close()


def environment_of(home: Path) -> dict[str, str]:
    """All that the command gets of an environment."""
    return {"PATH": os.environ["PATH"], "HOME": str(home)}
