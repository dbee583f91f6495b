"""``agentframework permissions explain``: how a call is understood, and which rule or stage would decide it.

Nothing is run and nobody is asked. Hooks are not consulted, nor is the classifier of the mode ``auto``.
"""

import argparse
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentframework.cli.arguments import split_rules
from agentframework.cli.output import write_stderr, write_stdout
from agentframework.errors import ConfigurationError

_USAGE = 2
_CODES = {"allow": 0, "ask": 10, "deny": 11, "invalid": _USAGE}
_EPILOG = """\
exit codes:
  0 allowed   10 a person is asked   11 denied   2 usage, or a call that cannot be judged

examples:
  agentframework permissions explain "git status && rm -rf build" --allow "Bash(git status:*)"
  agentframework permissions explain --tool Write .git/config --mode bypassPermissions
  agentframework permissions explain --tool Grep '{"pattern": "x", "path": "src"}' --json
"""


def permissions_command(argv: Sequence[str]) -> int:
    """Run ``permissions`` with these arguments; returns the exit code."""
    found = _parser().parse_args(argv)
    try:
        explained = _explain(found)
    except ConfigurationError as error:
        write_stderr(f"agentframework: {error.message}\n".encode())
        return _USAGE
    text = json.dumps(explained, ensure_ascii=False, indent=2) if found.json else "\n".join(_lines(explained))
    write_stdout(f"{text}\n".encode("utf-8", "backslashreplace"))
    return _CODES[explained["outcome"]]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="agentframework permissions", description="Look into the permission gate.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="explain")
    explain = commands.add_parser(
        "explain",
        help="say how a call is understood and which rule or stage decides it",
        description="Say how a call is understood and which rule or stage decides it. Nothing is run.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = explain.add_argument
    add("call", metavar="COMMAND", help="the command; with --tool the tool's main argument, or all of them as JSON")
    add("--tool", default="Bash", metavar="NAME", help="the tool that is called (default: Bash)")
    add("--mode", default="default", metavar="MODE", help="plan, default, acceptEdits, bypassPermissions or auto")
    for effect in ("allow", "deny", "ask"):
        add(f"--{effect}", action="append", default=[], metavar="RULES", help="rules, by comma or repeated")
    add(
        "--read-only-commands", action=argparse.BooleanOptionalAction, default=True,
        help="let the built-in read-only commands run unasked, as the command line does (default: yes)",
    )  # fmt: skip
    add("--cwd", help="working directory (default: the current one)")
    add("--json", action="store_true", help="print one JSON object")
    return parser


def _explain(found: argparse.Namespace) -> dict[str, Any]:
    from agentframework.assembly import builtin_tools  # noqa: PLC0415 - only when there is something to explain
    from agentframework.events.sink import EventSink  # noqa: PLC0415
    from agentframework.messages import ToolCall  # noqa: PLC0415
    from agentframework.permissions import (  # noqa: PLC0415
        GateCall,
        GateOptions,
        PermissionGate,
        PermissionRules,
        PromptBroker,
        parse_mode,
        parse_rules,
    )
    from agentframework.sandbox import LocalSandbox  # noqa: PLC0415
    from agentframework.tools import Tool  # noqa: PLC0415

    sandbox = LocalSandbox(found.cwd or _here())
    home = os.path.expanduser("~")
    home = home if os.path.isabs(home) else None
    texts = PermissionRules(allow=split_rules(found.allow), deny=split_rules(found.deny), ask=split_rules(found.ask))
    rules = parse_rules(texts, base=sandbox.roots[0], home=home)
    tools = {tool.name: tool for tool in builtin_tools()}
    tool = tools.get(found.tool) or Tool(found.tool, "", {"type": "object"}, lambda _arguments, _context: "")
    sink = EventSink("explain", lambda _event: None, lambda _name: False)
    gate = PermissionGate(
        mode=parse_mode(found.mode),
        rules=rules,
        sandbox=sandbox,
        prompts=PromptBroker(sink),
        sink=sink,
        options=GateOptions(home=home, tool_names=lambda: tools, read_only_commands=found.read_only_commands),
    )
    arguments = _arguments(found.call, tool.permission_key, tool.input_schema)
    explained = gate.explain(GateCall(ToolCall("explain", tool.name, arguments), tool))
    return {
        "tool": tool.name,
        "input": arguments,
        "mode": found.mode,
        "outcome": explained.outcome,
        "stage": explained.stage,
        "rule": explained.rule,
        "reason": explained.reason,
        "detail": explained.detail,
        "suggestions": list(explained.suggestions),
        "understood": None if explained.line is None else _understood(explained.line),
        "steps": [{"stage": step.name, "said": step.said} for step in explained.steps],
        "warnings": list(rules.warnings),
    }


def _here() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise ConfigurationError(f"the current directory cannot be used ({error.strerror}); use --cwd") from error


def _arguments(text: str, key: str | None, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The call's arguments: all of them as JSON, or the one that rules look at and empty texts for the others."""
    if text.lstrip().startswith("{") and key != "command":
        try:
            found: object = json.loads(text)
        except ValueError as error:
            raise ConfigurationError(f"the call is no JSON object: {error}") from None
        if isinstance(found, dict):
            return {str(name): value for name, value in found.items()}
    if key is None:
        raise ConfigurationError("this tool has no main argument; give all arguments as a JSON object")
    return {name: "" for name in schema.get("required", ())} | {key: text}


def _understood(line: Any) -> dict[str, Any]:
    """How a command line was read."""
    return {
        "commands": [
            {
                "words": [word.value for word in command.argv],
                "text": command.text,
                "run_by": list(command.via),
                "variables": [item.name for item in command.assignments],
                "directories": list(command.directories),
            }
            for command in line.commands
        ],
        "redirections": [
            {
                "text": redirection.text,
                "file": None if redirection.target is None else redirection.target.value,
                "reads": redirection.reads,
                "writes": redirection.writes,
            }
            for redirection in line.redirections
        ],
        "variables": [item.name for item in line.assignments],
        "unresolved": list(line.unresolved),
    }


def _lines(explained: dict[str, Any]) -> Iterator[str]:
    understood = explained["understood"]
    if understood is not None:
        yield "understood as"
        yield from (f"  {text}" for text in _command_lines(understood))
        yield ""
    yield "stages"
    width = max((len(step["stage"]) for step in explained["steps"]), default=0)
    for step in explained["steps"]:
        yield f"  {step['stage']:{width}}  {step['said']}"
    yield ""
    reason = f"{explained['reason']}: {explained['detail']}" if explained["detail"] else explained["reason"]
    yield f"{explained['outcome']}: {_visible(reason)}"
    if explained["rule"]:
        yield f"rule: {_visible(explained['rule'])}"
    if explained["suggestions"]:
        yield f"rules that would allow it: {', '.join(map(_visible, explained['suggestions']))}"
    yield from (f"warning: {_visible(text)}" for text in explained["warnings"])


def _command_lines(understood: dict[str, Any]) -> Iterator[str]:
    for number, command in enumerate(understood["commands"], start=1):
        words = ["(known only when it runs)" if word is None else _word(word) for word in command["words"]]
        chain = f"   run by {' > '.join(command['run_by'])}" if command["run_by"] else ""
        variables = f"   with {', '.join(command['variables'])}" if command["variables"] else ""
        places = command["directories"] or ["a directory that is known only when it runs"]
        yield f"{number}. {' '.join(words)}{chain}{variables}   in {' or '.join(map(_visible, places))}"
    for one in understood["redirections"]:
        doing = [name for name in ("reads", "writes") if one[name]]
        if doing:
            place = "a file that is known only when it runs" if one["file"] is None else _word(one["file"])
            yield f"{_visible(one['text'])}   {' and '.join(doing)} {place}"
    if understood["variables"]:
        yield f"sets {', '.join(understood['variables'])}"
    yield from (f"not known: {_visible(text)}" for text in understood["unresolved"])


def _word(text: str) -> str:
    shown = _visible(text)
    return shown if shown and " " not in shown else f"'{shown}'"


def _visible(text: str) -> str:
    """``text`` on one line, with nothing in it that a terminal obeys."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape", "backslashreplace").decode()
        for character in text
    )
