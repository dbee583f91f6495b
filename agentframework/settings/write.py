"""Adds to a settings file without losing what others wrote to it meanwhile.

The file is read again under its lock, only the list in question is extended, and the whole is put in place at once.
Keys that mean nothing here are kept. A file that is no JSON is left as it is.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from agentframework.errors import SettingsError
from agentframework.settings.atomic import locked, replace_text
from agentframework.settings.project_files import ProjectFiles
from agentframework.settings.source import parse_layer, settings_error

LOCK_WAIT_S = 20.0


def add_permission_rules(path: Path, effect: str, entries: Sequence[str], *, shown: str, within: str) -> None:
    """Append ``entries`` that are not there yet to the list ``permissions.<effect>`` of the file.

    ``within`` is the folder the file really has to lie in. Raises `SettingsError` if it cannot be written, or holds
    something else where the list belongs.
    """
    if ProjectFiles(within).real(os.fspath(path.parent)) != os.fspath(path.parent) or path.is_symlink():
        raise settings_error(str(path), None, None, "it is reached through a link and is left as it is")
    try:
        with locked(path, LOCK_WAIT_S):
            data = path.read_bytes() if path.exists() else b""
            layer = parse_layer(data, scope="project", path=str(path), shown=shown)
            values: dict[str, Any] = {} if layer is None else dict(layer.values)
            known = _list_of(values, effect, shown, path)
            fresh = [entry for entry in entries if entry not in known]
            if fresh:
                known.extend(fresh)
                replace_text(path, json.dumps(values, indent=2, ensure_ascii=False) + "\n")
    except OSError as error:
        raise settings_error(str(path), None, None, f"it cannot be written: {error}") from error


def _list_of(values: dict[str, Any], effect: str, shown: str, path: Path) -> list[Any]:
    section = values.setdefault("permissions", {})
    if not isinstance(section, dict):
        raise _wrong(shown, path, "permissions is no object")
    found = cast("dict[str, Any]", section).setdefault(effect, [])
    if not isinstance(found, list):
        raise _wrong(shown, path, f"permissions.{effect} is no list")
    return cast("list[Any]", found)


def _wrong(shown: str, path: Path, problem: str) -> SettingsError:
    return settings_error(str(path), None, None, f"{problem}, so nothing was added")
