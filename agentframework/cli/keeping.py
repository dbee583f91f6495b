"""Where the command keeps sessions: ``~/.agentframework/sessions``, if there is a home that can be written."""

import os
from collections.abc import Mapping
from pathlib import Path

from agentframework.cli.arguments import Arguments
from agentframework.errors import ConfigurationError, InvalidInputError
from agentframework.stores import JsonlSessionStore

FOLDER = ".agentframework"


def session_store(environment: Mapping[str, str]) -> tuple[JsonlSessionStore | None, str | None]:
    """The store, or None and a sentence about why nothing is kept. Only ``HOME`` counts."""
    home = environment.get("HOME")
    if not home:
        return None, "HOME is not set, so nothing of this session is kept"
    directory = Path(home) / FOLDER / "sessions"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        return None, f"{directory} cannot be written ({error.strerror or error}), so nothing of this session is kept"
    if not os.access(directory, os.W_OK | os.X_OK):
        return None, f"{directory} cannot be written, so nothing of this session is kept"
    return JsonlSessionStore(directory), None


async def session_to_resume(arguments: Arguments, store: JsonlSessionStore | None, cwd: str) -> str | None:
    """The id of the session that ``--resume`` or ``--continue`` means, None without either.

    Raises `ConfigurationError` if there is none.
    """
    if arguments.resume is None and not arguments.continue_last:
        return None
    if store is None:
        raise ConfigurationError("there are no sessions to resume: none can be kept here", details={"field": "resume"})
    if arguments.resume is not None:
        return _known(arguments.resume, store)
    here = os.path.realpath(cwd)
    page, size = 0, 200
    while listed := await store.list(limit=size, offset=page * size):
        for summary in listed:
            if summary.cwd == here:
                return summary.session_id
        page += 1
    raise ConfigurationError(f"no session of {here} is kept that could be continued", details={"field": "continue"})


def _known(session_id: str, store: JsonlSessionStore) -> str:
    try:
        known = store.path_of(session_id).is_file()
    except InvalidInputError as error:
        raise ConfigurationError(error.message, details={"field": "resume"}) from error
    if not known:
        raise ConfigurationError(
            f"no session {session_id} is kept; agentframework sessions list shows those there are",
            details={"field": "resume"},
        )
    return session_id
