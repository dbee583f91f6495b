"""Runs the ripgrep program that comes with its Python package, and reads what it finds while it searches.

Nothing else is ever run: not a program of the same name that happens to be on the PATH.
"""

import asyncio
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, files

from agentframework.errors import MissingDependencyError

from ._paths import RefusalError, open_directory, reason

_CHUNK = 1 << 15
_MAX_ERRORS = 1 << 16
_UNREADABLE = re.compile(r"^rg: (.*): .* \(os error \d+\)$")


@lru_cache
def find_program(distribution: str = "ripgrep", name: str = "rg") -> str:
    """Path of the program that ``distribution`` has installed. Raises `MissingDependencyError`."""
    try:
        installed = [str(file.locate()) for file in files(distribution) or () if file.name in (name, f"{name}.exe")]
    except PackageNotFoundError:
        installed = []
    for path in (*installed, os.path.join(sysconfig.get_path("scripts"), name)):
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.realpath(path)
    raise MissingDependencyError(
        "searching needs the ripgrep program from its Python package: pip install ripgrep==14.1.0",
        details={"package": distribution},
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a search ended: ``complete`` or stopped early; what it could not read; or why it did not begin."""

    complete: bool
    unreadable: tuple[str, ...]
    failure: str | None


async def search(arguments: Sequence[str], directory: str, take: Callable[[bytes], bool]) -> Outcome:
    """Run ripgrep in a canonical ``directory``; ``take`` gets its output piece by piece until it returns False.

    The process never outlives the call. Raises `RefusalError` if the arguments cannot be passed.
    """
    fd = open_directory(directory)
    try:
        process = await asyncio.create_subprocess_exec(
            find_program(),
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            # Entered by its descriptor, it is the directory that was checked.
            cwd=f"/proc/self/fd/{fd}" if sys.platform == "linux" else directory,
            env={},
            start_new_session=True,
            limit=_CHUNK,
        )
    except (ValueError, UnicodeError):
        raise RefusalError("the pattern or a filter holds a NUL character or a lone surrogate") from None
    except OSError as error:
        raise RefusalError(f"the search could not be started: {reason(error)}") from None
    finally:
        os.close(fd)
    assert process.stdout is not None
    assert process.stderr is not None
    errors = asyncio.ensure_future(_beginning(process.stderr))
    try:
        complete = True
        while complete and (piece := await process.stdout.read(_CHUNK)):
            complete = take(piece)
        if complete:
            await process.wait()
    finally:
        await _put_down(process, errors)
    return _outcome(complete, process.returncode, errors.result().decode("utf-8", "replace"))


async def _put_down(process: asyncio.subprocess.Process, errors: "asyncio.Future[bytes]") -> None:
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
    assert process.stdout is not None
    # To the end of the pipe, else the transport is never closed.
    while await process.stdout.read(_CHUNK):
        pass
    await errors
    await process.wait()


async def _beginning(stream: asyncio.StreamReader) -> bytes:
    kept = bytearray()
    while piece := await stream.read(_CHUNK):
        kept += piece[: _MAX_ERRORS - len(kept)]
    return bytes(kept)


def _outcome(complete: bool, code: int | None, errors: str) -> Outcome:
    unreadable: list[str] = []
    other: list[str] = []
    for line in errors.splitlines():
        found = _UNREADABLE.match(line)
        if found:
            unreadable.append(found.group(1).removeprefix("./"))
        else:
            other.append(line.removeprefix("rg: "))
    failure = "\n".join(other).strip() if code == 2 and other else None
    return Outcome(complete, tuple(unreadable), failure)
