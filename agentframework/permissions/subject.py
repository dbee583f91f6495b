"""What a call looks like to the rules: its family, its risk, and the one argument that rules are matched against."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from agentframework.permissions.paths import PathForms, path_forms
from agentframework.permissions.shell import CommandLine, parse_command_line
from agentframework.sandbox import Sandbox
from agentframework.tools import RiskClass, Tool
from agentframework.tools.profile import profile_of


class Family(StrEnum):
    """Tools that share rules."""

    SHELL = "shell"
    READ = "read"
    EDIT = "edit"
    OTHER = "other"


SHELL_NAMES = frozenset({"Bash", "Shell"})
SEARCH_NAMES = frozenset({"Glob", "Grep", "LS"})
READ_NAMES = frozenset({"NotebookRead", "Read"}) | SEARCH_NAMES
EDIT_NAMES = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
_BY_RISK: Mapping[RiskClass | None, Family] = {RiskClass.INSPECT: Family.READ, RiskClass.MODIFY: Family.EDIT}
_PATH_KEYS = ("file_path", "path", "notebook_path", "filePath", "filepath", "filename", "file", "directory")

# To each process the directory it stands in: not the same place for this one and for a program of the shell.
_OWN_DIRECTORY = re.compile(r"/+(?:\.?/+)*proc/+(?:\./+)*(?:thread-)?self/+(?:\./+)*cwd(?=/|$)")


def family_of(name: str) -> Family:
    """The family of a tool or rule of that name."""
    if name in SHELL_NAMES:
        return Family.SHELL
    if name in READ_NAMES:
        return Family.READ
    return Family.EDIT if name in EDIT_NAMES else Family.OTHER


def family_of_tool(tool: Tool) -> Family:
    """The family of a tool: by its name, else by its risk if its key argument is a path."""
    profile = profile_of(tool)
    if profile.argument_key in _PATH_KEYS and family_of(tool.name) is Family.OTHER:
        return _BY_RISK.get(profile.risk_class, Family.OTHER)
    return family_of(tool.name)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Where calls take effect: the sandbox, the shell's present directory (None: not known), the home directory.

    ``plain_wildcards`` False: wildcards of the shell may stand for more than usual. ``settled`` False: files may be
    changed before the call runs. Made anew for each judgement:
    what it has looked up on disk it does not look up again.
    """

    sandbox: Sandbox
    shell_directory: str | None
    home: str | None
    plain_wildcards: bool = True
    settled: bool = True
    _known: dict[tuple[str, str], PathForms] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def cwd(self) -> str:
        """The session's working directory."""
        return self.sandbox.roots[0]

    def forms(self, path: str, directory: str | None = None) -> PathForms:
        """The forms of ``path`` seen from ``directory`` (the working directory if not given)."""
        seen_from = self.cwd if directory is None else directory
        found = self._known.get((path, seen_from))
        if found is None:
            found = self._known[path, seen_from] = path_forms(self.sandbox, path, seen_from, self.home)
        return found

    def forms_in_shell(self, path: str, directory: str) -> PathForms:
        """The same for a path that a program gets which the shell starts in ``directory``."""
        match = _OWN_DIRECTORY.match(path)
        return self.forms(path if match is None else directory + path[match.end() :], directory)


@dataclass(frozen=True, slots=True)
class Subject:
    """One call, prepared for matching.

    ``value`` is the key argument (None if the call has none), ``key`` its name (None if the tool declares none).
    ``paths`` are the files named, ``line`` the parsed command of a shell call. ``runs`` is the same for another tool
    that executes what its argument ``command`` says: rules take it as text, safeguards look into it.
    """

    tool_name: str
    family: Family
    risk: RiskClass | None
    key: str | None
    value: Any
    arguments: Mapping[str, Any]
    around: Surroundings
    paths: tuple[PathForms, ...] = ()
    line: CommandLine | None = None
    runs: CommandLine | None = None


def subject_of(tool: Tool, arguments: Mapping[str, Any], around: Surroundings) -> Subject:
    """Look at one call. May raise whatever parsing raises: the caller decides that as a denial."""
    profile = profile_of(tool)
    family = family_of_tool(tool)
    key = profile.argument_key
    if family is Family.SHELL:
        key = key or "command"
    elif family is not Family.OTHER:
        key = next((name for name in (key, *_PATH_KEYS) if name in _PATH_KEYS and name in arguments), key)
    value = arguments.get(key) if key is not None else None
    paths: tuple[PathForms, ...] = ()
    line: CommandLine | None = None
    runs: CommandLine | None = None
    if family is Family.SHELL and isinstance(value, str):
        line = parse_command_line(value, cwd=around.shell_directory)
        around = _as_changed_by(line, around)
    elif family in (Family.READ, Family.EDIT):
        paths = tuple(around.forms(path) for path in _named_paths(tool.name, value, arguments))
    elif key == "command" and isinstance(value, str) and profile.risk_class is RiskClass.EXECUTE:
        runs = parse_command_line(value, cwd=around.cwd)
        around = _as_changed_by(runs, around)
    return Subject(tool.name, family, profile.risk_class, key, value, arguments, around, paths, line, runs)


def _as_changed_by(line: CommandLine, around: Surroundings) -> Surroundings:
    """Without what the line itself changes: the home directory, and what wildcards stand for."""
    given = (assignment for command in line.commands for assignment in command.assignments)
    names = {assignment.name for assignment in (*line.assignments, *given)}
    if "HOME" in names:
        around = replace(around, home=None)
    options = (command for command in line.commands if command.name == "shopt")
    if "GLOBIGNORE" in names or any("glob" in (word.value or "glob") for one in options for word in one.arguments):
        around = replace(around, plain_wildcards=False)
    return around


def _named_paths(name: str, value: Any, arguments: Mapping[str, Any]) -> list[str]:
    if name not in SEARCH_NAMES:
        return [value] if isinstance(value, str) else []
    start = arguments.get("path")
    start = start if isinstance(start, str) and start else "."
    pattern = arguments.get("pattern")
    if name == "Glob" and isinstance(pattern, str):
        return [os.path.join(start, _fixed_part(pattern))]
    return [start]


def _fixed_part(pattern: str) -> str:
    """The leading components of a glob that hold no wildcard: where the search really starts."""
    fixed: list[str] = []
    for part in pattern.split("/"):
        if any(character in part for character in "*?[{"):
            break
        fixed.append(part)
    return "/".join(fixed) or ("/" if pattern.startswith("/") else "")
