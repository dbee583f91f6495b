"""The shell tool: one implementation behind the names ``Bash`` and ``Shell``.

A plain one waits for its command; `ShellTool.with_background` gives one that can also start commands and leave them.
Above are ``bash`` and ``shell``, below the process runner and the text buffers. Of a session only the working
directory lives on between calls; its sandbox keeps it, where the permission gate sees it too.
"""

import contextlib
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agentframework.errors import ToolExecutionError
from agentframework.sandbox.environment import inherited
from agentframework.tools import RiskClass, Tool, ToolContext, ToolResult, error_result
from agentframework.tools.background import BackgroundTasks

from ._process import Command, run_program
from ._shell_background import start_in_background
from ._shell_output import MAX_CHARACTERS, ShellOutput

DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 600_000
SHELLS = ("/bin/bash", "/bin/sh")

# Nothing may wait for a person: no prompts, no pagers, no editors.
FIXED = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {"type": "string", "description": "The command line to run."},
        "timeout": {
            "type": "integer",
            "minimum": 1,
            "description": (
                f"Time limit in milliseconds, {DEFAULT_TIMEOUT_MS} if not given; more than {MAX_TIMEOUT_MS} counts "
                f"as {MAX_TIMEOUT_MS}."
            ),
        },
        "description": {"type": "string", "description": "What the command does, in a few words, for people."},
    },
    "required": ["command"],
    "additionalProperties": False,
}
DESCRIPTION = (
    "Run a shell command (bash) and get its output and exit code. The working directory is kept between calls; "
    "variables, functions and options are not. There is no terminal and no input: a command that asks for something "
    "gets end of file. The command and everything it started in the background are ended when it returns, times "
    f"out or is aborted. Standard output comes first, then standard error; beyond {MAX_CHARACTERS:,} characters the "
    "middle is left out, so send long output to a file and read what you need."
)
_RUN_IN_BACKGROUND = {
    "type": "boolean",
    "description": "Start the command and return its task_id at once; without a timeout it may run on and on.",
}
BACKGROUND_SCHEMA: dict[str, Any] = {
    **SCHEMA,
    "properties": {**SCHEMA["properties"], "run_in_background": _RUN_IN_BACKGROUND},
}
BACKGROUND_DESCRIPTION = (
    f"{DESCRIPTION} For servers, watchers and long builds set run_in_background, never a trailing &: you are told when "
    "the command has ended, BashOutput reads what it writes, KillShell ends it. What it does to its working directory "
    "is not kept."
)


class ShellState:
    """What shells are started with.

    ``environment`` is where variables are taken from (usually ``os.environ``), but only what
    `inherited` lets through; ``variables`` are set as they are, after them, each time as they stand then. Nothing is
    read from this process itself.
    """

    def __init__(
        self, environment: Mapping[str, str] | None = None, *, variables: Mapping[str, str] | None = None
    ) -> None:
        self._always: Mapping[str, str] = {**inherited(environment or {}), **FIXED}
        self._variables = variables or {}

    @property
    def environment(self) -> Mapping[str, str]:
        """What the next program gets."""
        return {**self._always, **self._variables}


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellTool(Tool):
    """A shell tool, which knows how to become one that can start commands in the background."""

    shells: ShellState
    default_timeout_ms: int

    def with_background(self, tasks: BackgroundTasks) -> Tool:
        """The same tool with the argument ``run_in_background``."""
        return replace(make_shell_tool(self.name, self.shells, self.default_timeout_ms, tasks), info=self.info)


def make_shell_tool(
    name: str, shells: ShellState, default_timeout_ms: int, tasks: BackgroundTasks | None = None
) -> Tool:
    """The tool under one of its names; with ``tasks`` it can start commands in the background."""

    async def run(arguments: dict[str, Any], context: ToolContext) -> ToolResult:
        command = str(arguments["command"])
        fault = _fault(command)
        if fault is not None:
            return error_result(fault)
        timeout = arguments.get("timeout")
        if tasks is not None and arguments.get("run_in_background"):
            directory, note = _directory(context)
            # The blank in front: a command that begins with a dash is no option of the shell.
            program = Command([_shell(), "-c", f" {command}"], directory, shells.environment, keep_together=True)
            label = str(arguments.get("description") or command)
            return start_in_background(tasks, program, label, command, timeout, note)
        return await _run_command(command, time_limit_ms(timeout, default_timeout_ms), shells, context)

    return ShellTool(
        name,
        DESCRIPTION if tasks is None else BACKGROUND_DESCRIPTION,
        SCHEMA if tasks is None else BACKGROUND_SCHEMA,
        run,
        RiskClass.EXECUTE,
        "command",
        shells=shells,
        default_timeout_ms=default_timeout_ms,
    )


def time_limit_ms(asked: float | None, default_ms: int) -> int:
    """The time limit of a call that asks for ``asked`` milliseconds; there always is one."""
    return min(default_ms if asked is None else int(asked), MAX_TIMEOUT_MS)


def _fault(command: str) -> str | None:
    if not command.strip():
        return "the command is empty"
    if "\0" in command:
        return "the command holds a NUL character, which no shell accepts"
    try:
        command.encode()
    except UnicodeEncodeError:
        return "the command holds half of a surrogate pair, which is no character"
    return None


async def _run_command(command: str, timeout_ms: int, shells: ShellState, context: ToolContext) -> ToolResult:
    directory, note = _directory(context)
    output = ShellOutput(context.progress)
    with _directory_report() as (report, reader):
        arguments = shell_arguments(_shell(), command, report)
        program = Command(arguments, directory, shells.environment, pass_fds=(report,), keep_together=True)
        try:
            ended = await run_program(program, timeout_ms / 1000, output.add)
        except OSError as error:
            raise ToolExecutionError(
                f"the shell could not be started in {directory}: {error.strerror or error}"
                + ("; put a command this long into a file" if len(command) > 100_000 else "")
            ) from error
        finally:
            output.close()
        now = _reported(reader)
    if now is not None and now != directory and os.path.isdir(now):
        context.sandbox.shell_directory = now
    return output.result(ended, timeout_ms, note)


def _directory(context: ToolContext) -> tuple[str, str | None]:
    """Where to run, and what to tell the model if that is not where the last command left off."""
    wanted = context.sandbox.shell_directory
    if os.path.isdir(wanted):
        return wanted, None
    root = context.workspace_root
    if not os.path.isdir(root):
        raise ToolExecutionError(f"the working directory {root} does not exist any more")
    context.sandbox.shell_directory = root
    return root, f"[the working directory {wanted} does not exist any more; this ran in {root}]"


def _shell() -> str:
    for path in SHELLS:
        if os.access(path, os.X_OK):
            return path
    raise ToolExecutionError(f"this system has no {' or '.join(SHELLS)}; shell commands cannot run here")


def shell_arguments(shell: str, command: str, report: int) -> list[str]:
    """``shell`` told to run ``command`` and then to write its working directory to the descriptor ``report``.

    ``eval`` keeps a syntax error from taking the report with it, the EXIT trap is for ``exit`` and ``set -e``, the
    line after ``eval`` for a command that sets an EXIT trap itself, and the DEBUG trap for ``exec``, which ends the
    shell without either. Trace output (``set -x``) of all this goes where its errors go.
    """
    tell = f"{{ command pwd -P && command printf '\\0'; }} 2>/dev/null >>/dev/fd/{report}"
    script = f"trap {shlex.quote(tell)} EXIT; "
    if shell.endswith("bash") and "exec" in command:
        on_exec = f"{{ case $BASH_COMMAND in exec[[:space:]]*) {tell};; esac; }} 2>/dev/null"
        script += f"trap {shlex.quote(on_exec)} DEBUG; "
    # The blank in front: a command that begins with a dash is no option of eval.
    script += f"eval {shlex.quote(' ' + command)}\n"
    script += f'{{ set -- "$?"; }} 2>/dev/null; {tell}; {{ exit "$1"; }} 2>/dev/null'
    return [shell, "-c", script, os.path.basename(shell)]


@contextlib.contextmanager
def _directory_report() -> Iterator[tuple[int, int]]:
    """A pipe: the end to write to, for the shell, and the end to read from."""
    reader, writer = os.pipe()
    try:
        os.set_blocking(reader, False)
        yield writer, reader
    finally:
        os.close(writer)
        os.close(reader)


def _reported(reader: int) -> str | None:
    """The last directory in the pipe. Whatever else writes to it can only make this None or a path to be checked."""
    try:
        data = os.read(reader, 65_536)
    except BlockingIOError:
        return None
    # "path newline NUL", once or several times
    path = os.fsdecode(data.rpartition(b"\n\0")[0].rpartition(b"\n\0")[2])
    return path if os.path.isabs(path) and "\0" not in path else None
