"""What was typed before, kept in ``~/.agentframework/history`` if there is a home to keep it in."""

import os
from collections.abc import Mapping
from pathlib import Path

from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from agentframework.cli.keeping import FOLDER

FILE = "history"


class _PrivateHistory(FileHistory):
    """A disk that fills up later costs the entry, not the session."""

    def store_string(self, string: str) -> None:
        try:
            super().store_string(string)
        except OSError:
            return


def open_history(environment: Mapping[str, str]) -> tuple[History, str | None]:
    """The history, and a sentence about why nothing is kept if so.

    Only ``HOME`` counts. The file is readable by its owner alone: prompts may hold anything.
    """
    home = environment.get("HOME")
    if not home:
        return InMemoryHistory(), "HOME is not set, so nothing of this session is kept"
    path = Path(home) / FOLDER / FILE
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600))
        return _PrivateHistory(path), None
    except OSError as error:
        reason = f"{path} cannot be written ({error.strerror or error}), so nothing of this session is kept"
        return InMemoryHistory(), reason
