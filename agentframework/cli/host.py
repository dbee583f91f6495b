"""The session and the provider that arguments and environment ask for. Above: print mode and interactive mode."""

import os
from collections.abc import Sequence

from agentframework.assembly.builtins import builtin_tools
from agentframework.assembly.providers import resolve_provider
from agentframework.cli.arguments import Arguments
from agentframework.cli.keeping import session_store, session_to_resume
from agentframework.errors import ConfigurationError, MissingCredentialsError
from agentframework.providers.protocol import Provider
from agentframework.session import InteractiveSession
from agentframework.slash import CommandModule

EXIT_ERROR = 1
EXIT_CONFIGURATION = 2


async def make_session(
    arguments: Arguments, provider: Provider, *, command_modules: Sequence[CommandModule] = ()
) -> tuple[InteractiveSession, str | None]:
    """The session that ``arguments`` describe, and a sentence about why nothing of it is kept if so.

    Raises `ConfigurationError`.
    """
    cwd = arguments.cwd or _here()
    store, problem = session_store(os.environ)
    resume = await session_to_resume(arguments, store, cwd)
    session = InteractiveSession(
        cwd=cwd,
        provider=provider,
        model=None if _is_model_file(arguments.model) else arguments.model,
        permission_mode=arguments.permission_mode,
        allowed_tools=arguments.allowed_tools,
        denied_tools=arguments.denied_tools,
        read_only_commands=True,
        background_shells=True,
        default_tools=builtin_tools().plus("TodoWrite"),
        max_turns=arguments.max_turns,
        command_modules=command_modules,
        session_store=store,
        resume_session_id=resume,
        fork_session=arguments.fork,
    )
    return session, problem


def make_provider(arguments: Arguments) -> Provider:
    """Who answers, by option or environment. Raises `ConfigurationError`, also for a missing key."""
    model_path = arguments.model if _is_model_file(arguments.model) else None
    name = arguments.provider or ("local" if model_path else None)
    try:
        return resolve_provider(name, environment=os.environ, model_path=model_path)
    except MissingCredentialsError as error:
        raise ConfigurationError(error.message, code=error.code, details=error.details) from error


def _is_model_file(model: str | None) -> bool:
    return model is not None and model.endswith(".gguf")


def _here() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        raise ConfigurationError(
            f"the current directory cannot be used ({error.strerror}); name another with --cwd",
            details={"field": "cwd"},
        ) from error
