"""One run without a person: where its prompts come from, what becomes of its faults, and its exit code.

Every fault becomes a sentence on stderr and, where records are asked for, the terminal record.
Above: ``cli.main``. Below: the session's host, the headless runner, and stdin, stdout and signals.
"""

import asyncio
from collections.abc import Awaitable, Callable

from agentframework._base.bounded import printable
from agentframework.cli.arguments import STDIN, Arguments
from agentframework.cli.host import EXIT_CONFIGURATION, EXIT_ERROR, make_provider, make_session
from agentframework.cli.output import BrokenOutputError, OutputError, write_stderr
from agentframework.cli.record_output import RecordOutput
from agentframework.cli.signals import Interrupted, Signals
from agentframework.cli.stdin import piped_text
from agentframework.cli.stdin_lines import input_lines
from agentframework.errors import AgentFrameworkError, ConfigurationError, describe_error
from agentframework.events import PermissionDecision, Retry, ToolStart, WarningEvent
from agentframework.session import InteractiveSession
from agentframework.transports.headless import HeadlessRunner, create_headless_runner
from agentframework.transports.headless_input import MAX_LINE_BYTES
from agentframework.transports.headless_records import result_line

EXIT_BROKEN_PIPE = 141
# What a reader that takes nothing is given once the run is to end, and in a hurried end.
SLOW_READER_S = 2.0
LAST_RECORD_S = 0.5


def run_print_mode(arguments: Arguments, output: RecordOutput, signals: Signals) -> int:
    """Run what ``arguments`` ask for and return the exit code."""
    return _PrintMode(arguments, output, signals).run()


class _PrintMode:
    def __init__(self, arguments: Arguments, output: RecordOutput, signals: Signals) -> None:
        self._arguments = arguments
        self._output = output
        self._signals = signals
        self._runner: HeadlessRunner | None = None
        self._reader_gone = False

    def run(self) -> int:
        """The exit code: a signal's if one came, else that of what went wrong, else the run's."""
        try:
            return self._run()
        except Interrupted:
            code = self._end("interrupted", None, EXIT_ERROR)
        except BrokenOutputError:
            code = EXIT_BROKEN_PIPE
        except OutputError as error:
            write_stderr(f"agentframework: {error}\n".encode())
            code = EXIT_ERROR
        except ConfigurationError as error:
            code = self._end(error.message, error, EXIT_CONFIGURATION)
        except AgentFrameworkError as error:
            code = self._end(error.message, error, EXIT_ERROR)
        except Exception as error:
            code = self._end(f"unexpected fault: {describe_error(error).message}", error, EXIT_ERROR)
        return self._signals.exit_code or code

    def _end(self, message: str, error: Exception | None, exit_code: int) -> int:
        if error is not None or self._arguments.output_format == "text":
            write_stderr(f"agentframework: {printable(message)}\n".encode())
        try:
            self._output.write_at_once(self._last_record(message, error), SLOW_READER_S)
        except BrokenOutputError:
            return EXIT_BROKEN_PIPE
        except OutputError:
            return exit_code
        return exit_code

    def _last_record(self, message: str, error: Exception | None) -> bytes:
        if self._arguments.output_format == "text":
            return b""
        if self._runner is not None:
            return self._runner.last_record(error)
        subtype = "interrupted" if error is None else "error"
        code = None if error is None else describe_error(error).code
        return result_line(subtype, is_error=True, result="" if error is None else message, code=code)

    def _run(self) -> int:
        if self._arguments.input_format == "stream-json":
            return asyncio.run(self._session(lambda runner: runner.run_input(input_lines(0, MAX_LINE_BYTES))))
        with self._signals.interruptible():
            prompt = _prompt(self._arguments)
        if not prompt.strip():
            raise ConfigurationError("no prompt; give one with -p TEXT or on stdin (see --help)")
        return asyncio.run(self._session(lambda runner: runner.run(prompt)))

    async def _session(self, work: Callable[[HeadlessRunner], Awaitable[int]]) -> int:
        provider = make_provider(self._arguments)
        session, problem = await make_session(self._arguments, provider)
        if problem is not None:
            write_stderr(f"agentframework: {problem}\n".encode())
        if self._arguments.verbose:
            _narrate(session)
        runner = self._runner = create_headless_runner(
            session,
            output_format=self._arguments.output_format,  # type: ignore[arg-type] - argparse allows only the three
            write=self._output.write,
            complain=self._complain,
        )
        unwatch = self._output.watch(self._reader_left)
        with self._signals.stopping(asyncio.get_running_loop(), self._stop, self._say_last_words):
            try:
                code = await work(runner)
                # The record is written: a signal that comes later must not contradict it.
                code = self._signals.exit_code or code
            finally:
                unwatch()
                await session.shutdown()
                await provider.aclose()
        if self._reader_gone and not self._signals.exit_code:
            raise BrokenOutputError("the reader of stdout is gone")
        return code

    def _complain(self, message: bytes) -> None:
        if not self._reader_gone:  # like a program that SIGPIPE ends: without a word
            write_stderr(message)

    def _stop(self) -> None:
        self._output.hurry(SLOW_READER_S)
        if self._runner is not None:
            self._runner.stop()

    def _reader_left(self) -> None:
        self._reader_gone = True
        self._stop()

    def _say_last_words(self) -> None:
        if self._runner is not None:
            self._output.write_at_once(self._runner.last_record(), LAST_RECORD_S)


def _prompt(arguments: Arguments) -> str:
    asked = arguments.prompt
    text = piped_text(patient=asked == STDIN)
    if asked in (None, STDIN):
        return text
    return f"{asked}\n\n{text}" if text.strip() else asked


def _narrate(session: InteractiveSession) -> None:
    def say(line: str) -> None:
        write_stderr(f"· {printable(line)}\n".encode())

    def decided(event: PermissionDecision) -> None:
        if event.decision != "allow":
            say(f"{event.tool_name} {event.decision}: {event.reason}")

    session.on(ToolStart, lambda event: say(f"{event.tool_name}({event.first_arg})"))
    session.on(PermissionDecision, decided)
    session.on(Retry, lambda event: say(f"retry {event.attempt} in {event.delay_s:.1f} s: {event.reason}"))
    session.on(WarningEvent, lambda event: say(f"warning: {event.message}"))
