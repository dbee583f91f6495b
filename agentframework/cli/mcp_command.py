"""``agentframework mcp``: look at the MCP servers of a ``.mcp.json``, try them, and change the file."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentframework.cli.output import write_stderr, write_stdout
from agentframework.errors import ConfigurationError, McpError

_ERROR, _USAGE = 1, 2
_EPILOG = """\
exit codes:
  0 done   1 a server or tool failed   2 usage or configuration

examples:
  agentframework mcp add time uvx mcp-server-time
  agentframework mcp add --env KEY=value notes -- npx notes-server --dir .
  agentframework mcp add search https://mcp.example.com/mcp --header "X-Team: docs"
  agentframework mcp test
  agentframework mcp call time get_current_time '{"timezone": "UTC"}'
"""


def mcp_command(argv: Sequence[str]) -> int:
    """Run ``mcp`` with these arguments; returns the exit code."""
    found = _parser().parse_args(argv)
    try:
        answer, code = _run(found)
    except ConfigurationError as error:
        write_stderr(f"agentframework: {error.message}\n".encode())
        return _USAGE
    except McpError as error:
        write_stderr(f"agentframework: {error.message}\n".encode("utf-8", "backslashreplace"))
        return _ERROR
    text = json.dumps(answer.data, ensure_ascii=False, indent=2) if found.json else answer.text
    write_stdout(f"{text}\n".encode("utf-8", "backslashreplace"))
    return code


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    common.add_argument("--config", type=Path, metavar="FILE", help="the file (default: .mcp.json in this directory)")
    common.add_argument("--json", action="store_true", help="print one JSON object")
    parser = argparse.ArgumentParser(
        prog="agentframework mcp",
        description="Look at MCP servers, try them, and change the file that names them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, text: str) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=[common], allow_abbrev=False)

    command("list", "say which servers the file names; nothing is started")
    for name, text in (("test", "connect servers and say how they stand"), ("tools", "say which tools servers have")):
        command(name, text).add_argument("server", nargs="?", help="only this one")
    call = command("call", "call a tool once")
    call.add_argument("server")
    call.add_argument("tool", help="the server's own name of it")
    call.add_argument("arguments", nargs="?", default="{}", help="a JSON object (default: {})")
    add = command("add", "write a server into the file")
    add.add_argument("--sse", action="store_true", help="the address speaks the older SSE transport")
    add.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="a variable for the program")
    add.add_argument("--header", action="append", default=[], metavar="NAME: VALUE", help="goes with every request")
    add.add_argument("--replace", action="store_true", help="also if there is one of that name")
    add.add_argument("server")
    add.add_argument("target", help="a program, or an address")
    add.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the program")
    command("remove", "take a server out of the file").add_argument("server")
    return parser


def _run(found: argparse.Namespace) -> tuple[Any, int]:
    path = found.config or Path(".mcp.json")
    if found.command in ("add", "remove"):
        from agentframework.cli import mcp_file  # noqa: PLC0415 - only what is asked for

        change = mcp_file.add_server if found.command == "add" else mcp_file.remove_server
        return change(path, found), 0
    from agentframework.cli import mcp_look  # noqa: PLC0415

    return mcp_look.look(path, found)
