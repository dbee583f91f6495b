"""Where settings come from, and one file of them as it was read.

A host names every file; nothing is looked for. A file that is missing or blank says nothing. One that is there but
cannot be used is an error with its place: what it forbids must not go missing in silence.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, cast

from agentframework.errors import ConfigurationError, SettingsError
from agentframework.settings.located import Key, Located, LocatedError, parse_located

SOURCE = "settings"
MAX_BYTES = 4 * 1024 * 1024
_BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """A settings file of the host or its user, read whatever project is open. ``scope`` is a name for people."""

    scope: str
    path: Path


def host_settings_source(scope: str, path: str | os.PathLike[str]) -> SettingsSource:
    """A settings file outside any project, for ``user_settings_sources``. It need not exist."""
    return SettingsSource(scope, Path(path).expanduser())


@dataclass(frozen=True, slots=True)
class ProjectSettingsPath:
    """A settings file of the project, relative to its root: read only with trust."""

    scope: str
    relative_path: str


def project_settings_paths(raw: Sequence[object]) -> tuple[ProjectSettingsPath, ...]:
    """``{"scope", "relative_path"}`` dicts as objects.

    Raises `ConfigurationError` for a path that is absolute or leaves the project.
    """
    return tuple(_project_path(item) for item in raw)


def _project_path(item: object) -> ProjectSettingsPath:
    if isinstance(item, Mapping):
        given = cast("Mapping[str, object]", item)
        item = ProjectSettingsPath(str(given.get("scope", "project")), str(given.get("relative_path", "")))
    if not isinstance(item, ProjectSettingsPath):
        raise _refused(f"holds {item!r:.200}; give {{'scope': …, 'relative_path': …}}")
    path = PurePosixPath(item.relative_path)
    if not path.parts or path.is_absolute() or ".." in path.parts or "\0" in item.relative_path:
        raise _refused(f"must be relative to the project and stay inside it, not {item.relative_path!r}")
    return item


def _refused(problem: str) -> ConfigurationError:
    return ConfigurationError(f"project_settings_paths {problem}", details={"field": "project_settings_paths"})


@dataclass(frozen=True, slots=True)
class Layer:
    """One settings file as it was read. ``shown`` is its path for people; ``base`` is the folder that its path rules
    with one leading slash belong to; ``project`` is True for what came with a project."""

    scope: str
    path: str
    shown: str
    values: Mapping[str, Any]
    located: Located
    project: bool = False

    def line(self, key: Key) -> int | None:
        """The line of the value, or of the nearest thing around it."""
        for length in range(len(key), -1, -1):
            if (place := self.located.places.get(key[:length])) is not None:
                return place[0]
        return None


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value was written: ``layer``, the ``key`` there, and the line (from 1)."""

    layer: Layer
    key: Key
    line: int | None

    @property
    def place(self) -> str:
        """``file line n``."""
        return self.layer.shown if self.line is None else f"{self.layer.shown} line {self.line}"


def parse_layer(data: bytes, *, scope: str, path: str, shown: str, project: bool = False) -> Layer | None:
    """The layer in ``data``; None if it is blank. Raises `SettingsError` with file, line and column."""
    try:
        text = decoded(data)
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = error.start - before.rfind(b"\n")
        raise settings_error(path, before.count(b"\n") + 1, column, "it is not UTF-8 text") from None
    if not text.strip():
        return None
    try:
        located = parse_located(text)
    except LocatedError as error:
        raise settings_error(path, error.line, error.column, f"it is no JSON: {error}") from None
    if not isinstance(located.value, dict):
        raise settings_error(path, 1, 1, f"it must hold an object, not {type(located.value).__name__}")
    return Layer(scope, path, shown, located.value, located, project)


def decoded(data: bytes) -> str:
    """The text of ``data``, whose byte order mark is left out. Raises ``UnicodeDecodeError``."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return data.decode(encoding).lstrip("\ufeff")
    return data.decode("utf-8")


def read_host_file(source: SettingsSource) -> bytes | None:
    """The bytes of a file outside the project; None if it is missing. Raises `SettingsError`."""
    try:
        with source.path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise settings_error(str(source.path), None, None, f"it cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise settings_error(str(source.path), None, None, f"it is larger than {MAX_BYTES} bytes")
    return data


def shown_path(path: str | os.PathLike[str]) -> str:
    """``path`` for people: what lies in the home directory begins with ``~``."""
    home, text = os.path.expanduser("~"), os.fspath(path)
    if home not in ("", "/", "~") and text.startswith(home.rstrip("/") + "/"):
        return "~" + text[len(home.rstrip("/")) :]
    return text


def settings_error(path: str, line: int | None, column: int | None, problem: str) -> SettingsError:
    """``file:line:column: problem``, with the parts in the details."""
    place = ":".join(str(part) for part in (path, line, column) if part is not None)
    details = {"path": path, "line": line, "column": column, "problem": problem}
    return SettingsError(f"settings {place}: {problem}", details=details)


_PART = re.compile(r"[A-Za-z_][\w-]*")


def key_text(key: Key, text: str = "") -> str:
    """``("permissions", "deny", 0)`` as ``permissions.deny[0]``, after ``text``."""
    for part in key:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PART.fullmatch(part):
            text += f".{part}" if text else part
        else:
            text += f"[{part!r}]"
    return text
