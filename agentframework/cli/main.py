"""Entry point. Parses first and imports the heavy half only when there is something to run."""

import os
import sys
from collections.abc import Sequence

from agentframework.cli.arguments import Arguments, parse
from agentframework.cli.output import (
    BrokenOutputError,
    OutputError,
    open_missing_descriptors,
    settle_standard_streams,
    write_stderr,
    write_stdout,
)
from agentframework.cli.stdin import person_is_there

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code. A traceback never reaches the user."""
    words = list(sys.argv[1:] if argv is None else argv)
    open_missing_descriptors()
    try:
        return _command(words)
    except KeyboardInterrupt:
        return 130
    except BrokenOutputError:
        return EXIT_BROKEN_PIPE
    except OutputError as error:
        write_stderr(f"agentframework: {error}\n".encode())
        return EXIT_ERROR
    except ImportError as error:
        write_stderr(f"agentframework: this installation is incomplete: {error}\n".encode())
        return EXIT_ERROR
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else EXIT_USAGE
    finally:
        settle_standard_streams()


def _command(words: list[str]) -> int:
    if words[:1] == ["demo"]:
        from agentframework.cli.demo import demo_command  # noqa: PLC0415 - only when asked for

        return demo_command(words[1:])
    if words[:1] == ["permissions"]:
        from agentframework.cli.permissions_command import permissions_command  # noqa: PLC0415

        return permissions_command(words[1:])
    if words[:1] == ["sessions"]:
        from agentframework.cli.sessions_command import sessions_command  # noqa: PLC0415

        return sessions_command(words[1:])
    if words[:1] == ["mcp"]:
        from agentframework.cli.mcp_command import mcp_command  # noqa: PLC0415

        return mcp_command(words[1:])
    arguments = parse(words)
    if arguments is None:
        from agentframework.cli.version import version  # noqa: PLC0415

        write_stdout(f"agentframework {version()}\n".encode())
        return 0
    if not arguments.once and arguments.output_format == "text" and person_is_there():
        from agentframework.cli.repl.start import run_interactive  # noqa: PLC0415 - rich and prompt_toolkit

        return run_interactive(arguments)
    return _print(arguments)


def _print(arguments: Arguments) -> int:
    _speak_utf8()
    from agentframework.cli.signals import Signals  # noqa: PLC0415 - light, and before everything that takes time

    signals = Signals()
    signals.note()
    from agentframework.cli.record_output import claim_stdout  # noqa: PLC0415 - the heavy half

    output = claim_stdout()
    from agentframework.cli.print_mode import run_print_mode  # noqa: PLC0415

    return run_print_mode(arguments, output, signals)


def _speak_utf8() -> None:
    """Start again if the locale makes Python take file names and arguments for ASCII; ours are UTF-8."""
    if sys.getfilesystemencoding() != "utf-8" and not sys.flags.utf8_mode and sys.executable:
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
