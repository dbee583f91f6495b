"""A session's side of its settings files: reading them again, and what was found in them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentframework._base.diagnostic import Diagnostic
from agentframework.assembly import Parts
from agentframework.assembly.settings_files import told
from agentframework.events import WarningEvent
from agentframework.events.sink import EventSink

if TYPE_CHECKING:
    from agentframework.settings.schema import Settings


class SessionSettings:
    """Part of `InteractiveSession`; works on its ``_parts``."""

    _parts: Parts
    _sink: EventSink

    @property
    def settings(self) -> "Settings":
        """The settings in force: all files as one."""
        return self._parts.files.configured.now.loaded.settings

    def reload_settings(self) -> Sequence[Diagnostic]:
        """Read the settings files again; rules, hooks and variables of theirs count from the next call on.

        A file that cannot be used is reported by an ``error`` event, and everything stays as it was. Gives the
        problems found. The mode and the model stay as they are.
        """
        return self._parts.files.reload()

    def diagnostics(self) -> Sequence[Diagnostic]:
        """What is wrong in settings and options (levels ``error`` and ``warning``), and as ``info`` where each
        value that counts was written."""
        return self._parts.files.diagnostics

    def _tell_problems(self) -> None:
        for problem in self._parts.files.problems:
            if problem.level != "info":
                self._sink.emit(WarningEvent, told(problem), problem.source)
