"""The real command as a process of its own, against a strict server on this machine."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from agentframework.testing import StrictModelServer

WAIT_S = 60


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int
    out: str
    err: str


class Command:
    """Starts ``agentframework`` in a directory, with an environment that holds nothing else."""

    def __init__(self, cwd: Path, server: StrictModelServer) -> None:
        self.cwd = cwd
        self.server = server
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(cwd),
            # Of the two SDKs the one that is imported in half the time.
            "OPENAI_API_KEY": "test-key",
            "OPENAI_BASE_URL": server.openai_url,
        }

    async def start(self, *arguments: str, stdin: int = asyncio.subprocess.DEVNULL, **options: object):
        """A running process."""
        options.setdefault("stdout", asyncio.subprocess.PIPE)
        options.setdefault("stderr", asyncio.subprocess.PIPE)
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "agentframework", *arguments,
            cwd=self.cwd, env=self.environment, stdin=stdin, **options,  # type: ignore[arg-type]
        )  # fmt: skip

    async def __call__(self, *arguments: str, piped: bytes | None = None) -> Finished:
        """Run to the end."""
        stdin = asyncio.subprocess.DEVNULL if piped is None else asyncio.subprocess.PIPE
        process = await self.start(*arguments, stdin=stdin)
        async with asyncio.timeout(WAIT_S):
            out, err = await process.communicate(piped)
        assert process.returncode is not None
        return Finished(process.returncode, out.decode(), err.decode())


@pytest.fixture
async def server() -> AsyncIterator[StrictModelServer]:
    async with StrictModelServer(allow_leftovers=True) as running:
        yield running


@pytest.fixture
def command(tmp_path: Path, server: StrictModelServer) -> Callable[..., Awaitable[Finished]]:
    return Command(tmp_path, server)
