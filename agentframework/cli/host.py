"""Builds a session from arguments and environment, runs one prompt, and turns signals into exit codes."""

import asyncio
import os
import signal
import time

from agentframework._base.jsonl import dump_line
from agentframework.assembly.providers import resolve_provider
from agentframework.cli.arguments import Arguments
from agentframework.cli.children import kill_descendants
from agentframework.cli.output import BrokenOutputError, OutputError, write_stderr, write_stdout
from agentframework.errors import AgentFrameworkError, ConfigurationError, MissingCredentialsError
from agentframework.events import PermissionDecision, Retry, ToolStart, WarningEvent
from agentframework.providers.protocol import Provider
from agentframework.session import InteractiveSession
from agentframework.transports.headless import HeadlessRunner, create_headless_runner, result_record

EXIT_ERROR = 1
EXIT_CONFIGURATION = 2
EXIT_BROKEN_PIPE = 141
SECOND_INTERRUPT_S = 3.0


def run_prompt(arguments: Arguments, prompt: str) -> int:
    """Run ``prompt`` and return the exit code. Every fault becomes a sentence on stderr."""
    try:
        return asyncio.run(_run(arguments, prompt))
    except BrokenOutputError:
        return EXIT_BROKEN_PIPE
    except OutputError as error:
        write_stderr(f"agentframework: {error}\n".encode())
        return EXIT_ERROR
    except ConfigurationError as error:
        return _refuse(arguments, error, EXIT_CONFIGURATION)
    except AgentFrameworkError as error:
        return _refuse(arguments, error, EXIT_ERROR)


def _refuse(arguments: Arguments, error: AgentFrameworkError, exit_code: int) -> int:
    write_stderr(f"agentframework: {error.message}\n".encode())
    if arguments.output_format != "text":
        record = result_record("error", is_error=True, result=error.message, code=str(error.code), session_id=None)
        try:
            write_stdout(dump_line(record))
        except OutputError:
            return exit_code
    return exit_code


async def _run(arguments: Arguments, prompt: str) -> int:
    provider = _provider(arguments)
    session = InteractiveSession(
        cwd=arguments.cwd or os.getcwd(),
        provider=provider,
        model=None if _is_model_file(arguments.model) else arguments.model,
        permission_mode=arguments.permission_mode,
        allowed_tools=arguments.allowed_tools,
        denied_tools=arguments.denied_tools,
        max_turns=arguments.max_turns,
    )
    if arguments.verbose:
        _narrate(session)
    runner = create_headless_runner(
        session,
        output_format=arguments.output_format,  # type: ignore[arg-type] - argparse allows only the three
        write=write_stdout,
        complain=write_stderr,
    )
    signals = _Signals(runner)
    try:
        with signals:
            code = await runner.run(prompt)
    finally:
        await session.shutdown()
        await provider.aclose()
    return signals.exit_code or code


def _provider(arguments: Arguments) -> Provider:
    model_path = arguments.model if _is_model_file(arguments.model) else None
    name = arguments.provider or ("local" if model_path else None)
    try:
        return resolve_provider(name, environment=os.environ, model_path=model_path)
    except MissingCredentialsError as error:
        raise ConfigurationError(error.message, code=error.code, details=error.details) from error


def _is_model_file(model: str | None) -> bool:
    return model is not None and model.endswith(".gguf")


def _narrate(session: InteractiveSession) -> None:
    def say(line: str) -> None:
        write_stderr(f"· {line}\n".encode("utf-8", "replace"))

    def decided(event: PermissionDecision) -> None:
        if event.decision != "allow":
            say(f"{event.tool_name} {event.decision}: {event.reason}")

    session.on(ToolStart, lambda event: say(f"{event.tool_name}({event.first_arg})"))
    session.on(PermissionDecision, decided)
    session.on(Retry, lambda event: say(f"retry {event.attempt} in {event.delay_s:.1f} s: {event.reason}"))
    session.on(WarningEvent, lambda event: say(f"warning: {event.message}"))


class _Signals:
    """SIGINT, SIGTERM and SIGHUP stop the turn in order; a second SIGINT within three seconds ends at once."""

    def __init__(self, runner: HeadlessRunner) -> None:
        self._runner = runner
        self._last_interrupt = 0.0
        self.exit_code = 0

    def __enter__(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._received, number)

    def __exit__(self, *_exc: object) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)

    def _received(self, number: signal.Signals) -> None:
        now = time.monotonic()
        if number == signal.SIGINT:
            if now - self._last_interrupt < SECOND_INTERRUPT_S:
                kill_descendants()
                self._runner.finish_interrupted()
                os._exit(128 + number)
            self._last_interrupt = now
        self.exit_code = 128 + number
        self._runner.stop()
