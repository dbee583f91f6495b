"""A shell command that goes on while the model does something else.

Above is the shell tool, below the process runner and the port to the session's background tasks.
"""

from agentframework.tools import ToolResult
from agentframework.tools.background import BackgroundTasks, TaskEnd, TaskWork, TaskWriter

from ._process import Command, Ended, run_program
from ._shell_output import exit_code
from ._terminal_text import TerminalText

KIND = "process"
STDERR = "[stderr] "


def start_in_background(
    tasks: BackgroundTasks, program: Command, label: str, command: str, timeout_ms: int | None, note: str | None
) -> ToolResult:
    """Start ``program`` as a task; ``timeout_ms`` None lets it run until it ends or is ended."""
    task = tasks.start(KIND, label, _work(program, timeout_ms), details={"command": command, "cwd": program.cwd})
    text = (
        f"Started in the background as {task.id}. You will be told when it has ended; "
        f'BashOutput(task_id="{task.id}") reads its output, KillShell ends it.'
    )
    return ToolResult(f"{note}\n{text}" if note else text, structured={"task_id": task.id, "background": True})


def _work(program: Command, timeout_ms: int | None) -> TaskWork:
    async def work(writer: TaskWriter) -> TaskEnd:
        output = _Lines(writer)
        writer.before_read(output.release)
        try:
            ended = await run_program(program, None if timeout_ms is None else timeout_ms / 1000, output.add)
        except OSError as error:
            return TaskEnd("failed", f"the shell could not be started: {error.strerror or error}")
        finally:
            output.finish()
        return _end(ended, timeout_ms)

    return work


def _end(ended: Ended, timeout_ms: int | None) -> TaskEnd:
    if ended.timed_out:
        return TaskEnd("failed", f"timed out after {timeout_ms} ms", {"exit_code": None, "timed_out": True})
    code, name = exit_code(ended)
    message = f"exit code {code}" + (f" ({name})" if name else "")
    status = "completed" if code == 0 else "failed"
    return TaskEnd(status, message, {"exit_code": code, "signal": name, "timed_out": False})


class _Lines:
    """Both streams as one text in the order of their arrival; lines of standard error are marked."""

    def __init__(self, writer: TaskWriter) -> None:
        self._writer = writer
        self._terminals = (TerminalText(), TerminalText())
        self._open: bool | None = None  # whose line is not ended yet: True for standard error

    def add(self, is_stderr: bool, data: bytes) -> None:
        self._write(is_stderr, self._terminals[is_stderr].feed(data))

    def release(self) -> None:
        for is_stderr in (False, True):
            self._write(is_stderr, self._terminals[is_stderr].release())

    def finish(self) -> None:
        for is_stderr in (False, True):
            self._write(is_stderr, self._terminals[is_stderr].finish())

    def _write(self, is_stderr: bool, text: str) -> None:
        if not text:
            return
        goes_on = self._open is is_stderr
        before = "" if goes_on or self._open is None else "\n"
        if is_stderr:
            ended = text.endswith("\n")
            body = (text[:-1] if ended else text).replace("\n", f"\n{STDERR}")
            before += "" if goes_on else STDERR
            text = body + ("\n" if ended else "")
        self._open = None if text.endswith("\n") else is_stderr
        self._writer.write(before + text)
