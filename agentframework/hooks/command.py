"""Hooks that are command lines: the input on standard input, the answer on standard output, or in the exit code.

Below: the process runner, which ends the whole process group when the time is over or the turn is stopped.
"""

import os
import signal

from agentframework._base.bounded import cut_end
from agentframework.hooks.model import CommandAction, HookAnswer, HookFailedError, HookRequest
from agentframework.hooks.output import BLOCKED, bounded_reason, read_output
from agentframework.sandbox.process import Command, Ended, run_program

BLOCKS = 2
MAX_STDOUT_BYTES = 1_048_576
MAX_STDERR_BYTES = 65_536
TERMINATE_GRACE_S = 1.0
_TOLD_CHARACTERS = 400
# What takes longer to read than the event loop may be held up.
_LONG_CHARACTERS = 16_384
# Neither reads anybody's start-up files: what these print would stand before the answer.
_SHELLS = (("/bin/bash", "--noprofile", "--norc", "-c"), ("/bin/sh", "-c"))


async def run_command(action: CommandAction, request: HookRequest) -> HookAnswer:
    """Run the command line. Exit code 0: what it prints decides; 2: it blocks, and standard error says why.

    Raises `HookFailedError` for any other end.
    """
    out, err = _Kept(MAX_STDOUT_BYTES), _Kept(MAX_STDERR_BYTES)
    program = Command(
        (*_shell(), action.command),
        request.cwd,
        request.environment,
        stdin=request.body + b"\n",
        grace_s=TERMINATE_GRACE_S,
    )
    try:
        ended = await run_program(program, request.timeout_s, lambda is_err, data: (err if is_err else out).add(data))
    except (OSError, ValueError) as error:
        raise HookFailedError(f"it could not be started in {request.cwd}: {error}") from error
    _check(ended, request.timeout_s, err)
    if ended.returncode == BLOCKS:
        return HookAnswer("deny", bounded_reason(err.text) or bounded_reason(out.text) or BLOCKED)
    answer = await _read(request, out.text)
    if out.total > MAX_STDOUT_BYTES and answer.decision is None and not answer.context:
        raise HookFailedError(f"it printed {out.total} bytes; only the first {MAX_STDOUT_BYTES} were looked at")
    return answer


async def _read(request: HookRequest, text: str) -> HookAnswer:
    if len(text) <= _LONG_CHARACTERS:
        return read_output(request.event, text)
    from anyio import to_thread  # noqa: PLC0415 - keeps the package import light

    return await to_thread.run_sync(read_output, request.event, text)


def _shell() -> tuple[str, ...]:
    for shell in _SHELLS:
        if os.access(shell[0], os.X_OK):
            return shell
    raise HookFailedError("this system has neither /bin/bash nor /bin/sh")


def _check(ended: Ended, timeout_s: float, err: "_Kept") -> None:
    if ended.timed_out:
        raise HookFailedError(f"it timed out after {timeout_s:g} s and was ended")
    code = ended.returncode
    if code in (0, BLOCKS):
        return
    if code is None:
        what = "it could not be ended"
    elif code < 0:
        what = f"it was ended by signal {_signal_name(-code)}"
    else:
        what = f"exit code {code}"
    told = cut_end(err.text.strip(), _TOLD_CHARACTERS)
    raise HookFailedError(f"{what}: {told}" if told else what)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


class _Kept:
    """The beginning of a stream, and how long it was."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._data = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        self._data += data[: max(0, self._limit - len(self._data))]

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace")
