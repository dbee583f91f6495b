"""Entry point. Parses first and imports the heavy half only when there is something to run."""

import sys
from collections.abc import Sequence

from agentframework.cli.arguments import STDIN, Arguments, parse
from agentframework.cli.output import write_stderr, write_stdout
from agentframework.cli.stdin import piped_text

EXIT_USAGE = 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code. A traceback never reaches the user."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        if words[:1] == ["demo"]:
            from agentframework.cli.demo import demo_command  # noqa: PLC0415 - only when asked for

            return demo_command(words[1:])
        arguments = parse(words)
        if arguments is None:
            from agentframework.cli.version import version  # noqa: PLC0415

            write_stdout(f"agentframework {version()}\n".encode())
            return 0
        return _run(arguments)
    except KeyboardInterrupt:
        return 130
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else EXIT_USAGE


def _run(arguments: Arguments) -> int:
    asked = arguments.prompt
    from_stdin = asked in (None, STDIN)
    text = piped_text(patient=asked == STDIN)
    prompt = text if from_stdin else f"{asked}\n\n{text}" if text.strip() else asked or ""
    if not prompt.strip():
        write_stderr(b"agentframework: no prompt; give one with -p TEXT or on stdin (see --help)\n")
        return EXIT_USAGE
    from agentframework.cli.host import run_prompt  # noqa: PLC0415 - the heavy half

    return run_prompt(arguments, prompt)
