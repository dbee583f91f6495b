"""``agentframework demo``: what a session is, shown in under a minute and without a key.

Two parts: a small local model that really answers, and a recorded one around which everything else is real. This
module reads the options, owns the temporary project and the screen, and turns every way out into an exit code.
Above: ``cli.main``. Below: the two parts.
"""

import argparse
import asyncio
import os
import signal
from collections.abc import Sequence

from agentframework.cli.demo_answers import Answers
from agentframework.cli.demo_local import run_local_part
from agentframework.cli.demo_project import demo_project
from agentframework.cli.demo_recorded import run_recorded_part
from agentframework.cli.output import BrokenOutputError, write_stderr
from agentframework.cli.stdin import person_is_there
from agentframework.cli.view import Screen

EXIT_DONE = 0
EXIT_ERROR = 1
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141


def demo_command(argv: Sequence[str]) -> int:
    """Run the demonstration; returns the exit code.

    Raises ``SystemExit`` with code 2 on a usage error and 0 after ``--help``, as argparse does.
    """
    options = _parse(argv)
    screen = Screen(plain=options.plain)
    code = EXIT_ERROR
    try:
        code = asyncio.run(_run(options, screen))
    except KeyboardInterrupt:
        screen.line()
        screen.line("Stopped.")
        code = EXIT_INTERRUPTED
    except Exception as error:
        # A person who only wants to look gets a sentence, whatever it was.
        write_stderr(f"agentframework demo: {type(error).__name__}: {error}\n".encode("utf-8", "replace"))
    if isinstance(screen.fault, BrokenOutputError):
        return EXIT_BROKEN_PIPE
    if screen.fault is not None:
        write_stderr(f"agentframework demo: {screen.fault}\n".encode("utf-8", "replace"))
        return EXIT_ERROR
    return code


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="agentframework demo",
        description="Shows a session at work in a temporary folder: first with a small local model, then with a "
        "recorded one. Needs no key and no network, and asks you only if you sit at a terminal.",
        allow_abbrev=False,
    )
    parser.add_argument("--model", metavar="PATH", help="another .gguf file for the local part")
    parser.add_argument("--no-local", action="store_true", help="leave out the local model")
    parser.add_argument("--plain", action="store_true", help="no colour")
    options = parser.parse_args(list(argv))
    if options.model is not None and not os.path.isfile(options.model):
        parser.error(f"--model: there is no file {options.model}")
    return options


async def _run(options: argparse.Namespace, screen: Screen) -> int:
    story = asyncio.create_task(_story(options, screen), name="demo")
    screen.on_fault = story.cancel
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        story.cancel()

    loop = asyncio.get_running_loop()
    # SIGINT is left to `asyncio.run`, which cancels this task and raises KeyboardInterrupt afterwards.
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop, number)
    try:
        return EXIT_DONE if await story else EXIT_ERROR
    except asyncio.CancelledError:
        if received:
            return 128 + received[0]
        if screen.fault is not None:
            return EXIT_ERROR
        raise
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)


async def _story(options: argparse.Namespace, screen: Screen) -> bool:
    somebody = person_is_there()
    with demo_project() as folder:
        screen.line("agentframework demo", "bold")
        screen.line(f"A small project lies in {folder}; the folder is removed at the end.")
        await run_local_part(screen, folder, model_path=options.model, hidden=options.no_local)
        done = await run_recorded_part(screen, folder, Answers(screen, ask_person=somebody), lively=somebody)
    screen.line()
    screen.line(
        "Done; the folder is gone. Your own turn, with a key in ANTHROPIC_API_KEY or OPENAI_API_KEY: "
        'agentframework -p "What is this project?"'
    )
    return done
