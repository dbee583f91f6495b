"""Command line arguments. Only the standard library: ``--help`` must answer at once."""

import argparse
from dataclasses import dataclass
from typing import Any

from agentframework.cli.output import write_stdout

_EPILOG = """\
environment:
  ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL   used by --provider anthropic
  OPENAI_API_KEY, OPENAI_BASE_URL         used by --provider openai and openai-chat

exit codes:
  0 done   1 error   2 usage or configuration   3 turn limit
  129, 130, 143 stopped by SIGHUP, SIGINT, SIGTERM   141 broken pipe

examples:
  agentframework
  agentframework "What is this project?"
  agentframework -p "Summarise README.md"
  git diff | agentframework -p "Review this" --output-format json
  agentframework --input-format stream-json --output-format stream-json <prompts.jsonl
  agentframework demo
"""

STDIN = "\0stdin"


@dataclass(frozen=True, slots=True)
class Arguments:
    """What was asked for. ``prompt`` is None without one and `STDIN` for ``-p`` alone; ``once`` is True with ``-p``."""

    prompt: str | None
    once: bool
    output_format: str
    input_format: str
    provider: str | None
    model: str | None
    permission_mode: str
    allowed_tools: tuple[str, ...]
    denied_tools: tuple[str, ...]
    cwd: str | None
    max_turns: int | None
    verbose: bool
    resume: str | None
    continue_last: bool
    fork: bool


class _Parser(argparse.ArgumentParser):
    def print_help(self, file: Any = None) -> None:
        """Through our own stdout, which tells when nobody could read it."""
        write_stdout(self.format_help().encode())


def build_parser() -> argparse.ArgumentParser:
    """The parser of the main command."""
    parser = _Parser(
        prog="agentframework",
        description="An agent session at the terminal; with -p one prompt and its answer.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("prompt", nargs="*", help="the first prompt; after -- everything belongs to it; 'demo' runs the demonstration")
    add(
        "-p", "--print", dest="print_prompt", nargs="?", const=STDIN, metavar="TEXT",
        help="run this prompt, print the answer and leave; without TEXT the prompt is read from stdin",
    )  # fmt: skip
    add("--output-format", choices=("text", "json", "stream-json"), default="text", help="default: text")
    add(
        "--input-format", choices=("text", "stream-json"), default="text",
        help="stream-json: prompts and answers as JSON lines on stdin (default: text)",
    )  # fmt: skip
    add("--provider", metavar="NAME", help="anthropic, openai, openai-chat, local or replay:PATH")
    add("--model", help="model name or alias; with --provider local also a path to a .gguf file")
    add(
        "--permission-mode", default="default", metavar="MODE",
        help="plan, default, acceptEdits, bypassPermissions or auto",
    )  # fmt: skip
    add("--allowed-tools", action="append", default=[], metavar="RULES", help="allow rules, by comma or repeated")
    add("--denied-tools", action="append", default=[], metavar="RULES", help="deny rules, by comma or repeated")
    add("--cwd", help="working directory (default: the current one)")
    add("--max-turns", type=_positive, metavar="N", help="at most N model requests for the prompt")
    add("--resume", metavar="ID", help="go on with this session; agentframework sessions list shows them")
    add("--continue", action="store_true", dest="continue_last", help="go on with the latest session of the directory")
    add("--fork", action="store_true", help="with either: go on with a copy, and leave the session as it is")
    add("--verbose", action="store_true", help="say on stderr what the session does")
    add("--version", action="store_true", help="print the version and leave")
    return parser


def parse(argv: list[str]) -> Arguments | None:
    """Arguments of the main command, or None if only the version was asked for.

    Raises ``SystemExit`` with code 2 on a usage error and 0 after ``--help``, as argparse does.
    """
    parser = build_parser()
    options, rest = argv, []
    if "--" in argv:
        place = argv.index("--")
        options, rest = argv[:place], argv[place + 1 :]
    found: Any = parser.parse_args(options)
    if found.version:
        return None
    words = [*found.prompt, *rest]
    prompt = found.print_prompt
    if words and prompt not in (None, STDIN):
        parser.error("give the prompt once: with -p or as an argument, not both")
    if found.resume is not None and found.continue_last:
        parser.error("--resume names a session, --continue means the latest; give one of them")
    if found.fork and found.resume is None and not found.continue_last:
        parser.error("--fork needs --resume or --continue: what is to be copied?")
    if found.input_format == "stream-json":
        if words or prompt not in (None, STDIN):
            parser.error("with --input-format stream-json the prompts come on stdin; leave the text out")
        if found.output_format == "text":
            parser.error(
                "--input-format stream-json needs --output-format stream-json, or json for the last answer alone: "
                "as text several answers could not be told apart"
            )
    return Arguments(
        prompt=" ".join(words) if words else prompt,
        once=found.print_prompt is not None,
        output_format=found.output_format,
        input_format=found.input_format,
        provider=found.provider,
        model=found.model,
        permission_mode=found.permission_mode,
        allowed_tools=split_rules(found.allowed_tools),
        denied_tools=split_rules(found.denied_tools),
        cwd=found.cwd,
        max_turns=found.max_turns,
        verbose=found.verbose,
        resume=found.resume,
        continue_last=found.continue_last,
        fork=found.fork,
    )


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def split_rules(values: list[str]) -> tuple[str, ...]:
    """Split at commas that are not inside parentheses: ``Read,Bash(a, b)`` are two rules."""
    found: list[str] = []
    for value in values:
        depth, start = 0, 0
        for place, letter in enumerate(value):
            if letter == "(":
                depth += 1
            elif letter == ")":
                depth = max(0, depth - 1)
            elif letter == "," and depth == 0:
                found.append(value[start:place])
                start = place + 1
        found.append(value[start:])
    return tuple(rule.strip() for rule in found if rule.strip())
