"""Keeps the instruction files of a trusted project in the system prompt, as they stand at the start of each turn."""

from typing import Protocol

from agentframework._base.diagnostic import Diagnostic
from agentframework.events import ContextFileRefreshed
from agentframework.events.sink import EventSink
from agentframework.prompt import INSTRUCTIONS, Instructions, Section, join_sections
from agentframework.sandbox import is_within
from agentframework.settings import ProjectAccess, ProjectFiles


class Prompted(Protocol):
    """What holds the system prompt of the next request."""

    system: str


class Instructed:
    """The instructions of one session. ``own`` are the other sections of its prompt."""

    def __init__(
        self, access: ProjectAccess, cwd: str, own: tuple[Section, ...], settings: Prompted, sink: EventSink
    ) -> None:
        self._access = access
        self._own = own
        self._settings = settings
        self._sink = sink
        self._instructions: Instructions | None = None
        if access.root is not None and is_within(cwd, access.root):
            self._instructions = Instructions(ProjectFiles(access.root), cwd)
        self._read = False
        self.refresh()

    @property
    def problems(self) -> tuple[Diagnostic, ...]:
        """Files that could not be used."""
        found = self._instructions.problems if self._instructions is not None else []
        return tuple(Diagnostic("warning", "instructions", reason, path) for path, reason in found)

    def refresh(self) -> None:
        """Bring the prompt up to date. Unchanged files change nothing; without the trust the instructions go."""
        if self._instructions is None:
            return
        if not self._access.trusted:
            self._instructions = None
            self._settings.system = join_sections(self._own)
            return
        changed = self._instructions.refresh()
        if changed:
            told = Section("instructions", INSTRUCTIONS, self._instructions.text)
            self._settings.system = join_sections((*self._own, told))
        if self._read:
            for path in changed:
                self._sink.emit(ContextFileRefreshed, path)
        self._read = True
