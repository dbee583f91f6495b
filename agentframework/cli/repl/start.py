"""Starts the interactive mode: history, session, signals, the right kind of terminal, and the way out."""

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from prompt_toolkit.history import History

from agentframework.assembly import builtin_commands
from agentframework.cli.arguments import Arguments
from agentframework.cli.children import kill_descendants
from agentframework.cli.host import EXIT_CONFIGURATION, EXIT_ERROR, make_provider, make_session
from agentframework.cli.output import BrokenOutputError, OutputError, write_stderr
from agentframework.cli.repl.history import open_history
from agentframework.cli.repl.plain import Plain
from agentframework.cli.repl.terminal import Terminal
from agentframework.errors import AgentFrameworkError, ConfigurationError
from agentframework.session import InteractiveSession

EXIT_HUNG_UP = 129


class Front(Protocol):
    """A kind of terminal."""

    @property
    def leave(self) -> Callable[[int], None]: ...

    async def run(self, first_prompt: str) -> int: ...

    async def aclose(self) -> None: ...


def run_interactive(arguments: Arguments) -> int:
    """Talk to the person at the terminal until they leave; returns the exit code."""
    try:
        return asyncio.run(_run(arguments))
    except BrokenOutputError:
        return EXIT_HUNG_UP
    except OutputError as error:
        return _complain(str(error), EXIT_ERROR)
    except ConfigurationError as error:
        return _complain(error.message, EXIT_CONFIGURATION)
    except AgentFrameworkError as error:
        return _complain(error.message, EXIT_ERROR)
    except OSError:
        # The terminal is gone; nobody is left to be told.
        return EXIT_HUNG_UP
    except Exception as error:
        return _complain(f"{type(error).__name__}: {error}", EXIT_ERROR)


def _complain(text: str, code: int) -> int:
    write_stderr(f"agentframework: {text}\n".encode("utf-8", "replace"))
    return code


async def _run(arguments: Arguments) -> int:
    history, warning = open_history(os.environ)
    provider = make_provider(arguments)
    session, problem = await make_session(arguments, provider, command_modules=builtin_commands())
    if warning is not None or problem is not None:
        _complain(warning or problem or "", 0)
    front = _front(session, history)
    try:
        await session.start()
        with _signals(front.leave):
            return await front.run(arguments.prompt or "")
    finally:
        with _impatience():
            await session.shutdown("leave")
            await front.aclose()
            await provider.aclose()


def _front(session: InteractiveSession, history: History) -> Front:
    if os.environ.get("TERM", "dumb") in ("dumb", "unknown", ""):
        return Plain(session)
    return Terminal(session, history)


@contextmanager
def _signals(leave: Callable[[int], None]) -> Iterator[None]:
    """SIGTERM and SIGHUP leave in order."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGTERM, signal.SIGHUP)
    for number in numbers:
        loop.add_signal_handler(number, leave, 128 + number)
    try:
        yield
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


@contextmanager
def _impatience() -> Iterator[None]:
    """While the session ends, Ctrl-C does not wait for it."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, _end_at_once)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _end_at_once() -> None:
    kill_descendants()
    os._exit(130)


