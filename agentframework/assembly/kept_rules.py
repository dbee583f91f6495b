"""Answers for the project, written to the last settings file that the host named for it – while it is trusted."""

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

from agentframework.permissions.subject import EDIT_NAMES, READ_NAMES
from agentframework.settings import SettingsSources, add_permission_rules


class NotTrustedError(Exception):
    """The project's files must not be changed."""


class KeptRules:
    """The `ProjectRules` of a session with settings files."""

    __slots__ = ("_cwd", "_sources")

    def __init__(self, sources: SettingsSources, cwd: str) -> None:
        self._sources = sources
        self._cwd = cwd

    async def add(self, entries: Sequence[str]) -> None:
        """Add allow rules. Raises `NotTrustedError`, or `SettingsError` if the file cannot be changed."""
        access = self._sources.access
        if not self._sources.trusted or access is None or access.root is None:
            raise NotTrustedError("the project is not trusted")
        target = self._sources.project[-1].relative_path
        root, path = access.root, Path(access.root, target)
        rules = [_anchored(entry, self._cwd, root) for entry in entries]
        await asyncio.to_thread(add_permission_rules, path, "allow", rules, shown=target, within=root)


def _anchored(entry: str, cwd: str, root: str) -> str:
    """The rule with its path seen from the project's root, which rules of its settings are relative to."""
    tool, bracket, rest = entry.partition("(")
    if cwd == root or not bracket or tool not in EDIT_NAMES | READ_NAMES or rest.startswith(("/", "~")):
        return entry
    return f"{tool}(/{os.path.relpath(os.path.join(cwd, rest.removesuffix(')')), root)})"
