"""Completion of slash commands and of files behind an ``@``."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agentframework.cli.view_text import visible
from agentframework.slash import CommandInfo

MOST_FILES = 50
# A directory with more entries is looked at in part: somebody is typing.
MOST_ENTRIES = 5_000
_COMMAND = re.compile(r"\s*/([A-Za-z0-9_.:-]*)")
_SUBCOMMAND = re.compile(r"\s*/([A-Za-z0-9_.:-]+)\s+(\S*)")
_FILE = re.compile(r"(?:^|[\s(\[{])@(\S*)$")


class LineCompleter(Completer):
    """Completes in the first line after ``/``, anywhere after ``@``. Paths are relative to ``cwd``."""

    def __init__(
        self, cwd: str, commands: Callable[[], Sequence[CommandInfo]], enabled: Callable[[], bool]
    ) -> None:
        self._cwd = cwd
        self._commands = commands
        self._enabled = enabled

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What fits the text before the cursor."""
        before = document.text_before_cursor
        if not self._enabled():
            return ()
        if match := _COMMAND.fullmatch(before):
            return self._names(match[1])
        if match := _SUBCOMMAND.fullmatch(before):
            return self._subcommands(match[1], match[2])
        if match := _FILE.search(before):
            return self._files(match[1])
        return ()

    def _names(self, prefix: str) -> Iterator[Completion]:
        for info in self._commands():
            if info.name.startswith(prefix.lower()):
                yield Completion(
                    info.name, -len(prefix), display=f"/{info.name}", display_meta=visible(info.description)
                )

    def _subcommands(self, name: str, prefix: str) -> Iterator[Completion]:
        info = next((info for info in self._commands() if info.name == name), None)
        for word in info.subcommands if info else ():
            if word.lower().startswith(prefix.lower()):
                yield Completion(word, -len(prefix))

    def _files(self, typed: str) -> Iterator[Completion]:
        folder, _, prefix = typed.rpartition("/")
        place = os.path.join(self._cwd, os.path.expanduser(folder + "/" if folder or typed.startswith("/") else ""))
        for name, is_folder in _entries(place, prefix)[:MOST_FILES]:
            shown = f"{name}/" if is_folder else name
            yield Completion(shown, -len(prefix), display=visible(shown))


def _entries(place: str, prefix: str) -> list[tuple[str, bool]]:
    """Names in ``place`` that begin with ``prefix``, and whether each is a folder. Hidden ones only if asked for."""
    found: list[tuple[str, bool]] = []
    try:
        with os.scandir(place) as entries:
            for number, entry in enumerate(entries):
                if number >= MOST_ENTRIES:
                    break
                fits = entry.name.lower().startswith(prefix.lower())
                if fits and (prefix.startswith(".") or not entry.name.startswith(".")):
                    found.append((entry.name, entry.is_dir()))
    except OSError:
        return found
    return sorted(found, key=lambda item: (not item[1], item[0].lower()))
