"""``.mcp.json`` files as they are found: with or without the wrapper ``mcpServers``, with placeholders for the
environment, with ids that hold blanks or worse.

One bad entry harms only itself: it is reported by name and the others load.
"""

import json
import os
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentframework.errors import ConfigurationError
from agentframework.mcp.config import SERVER_ID, Server, named_server

WRAPPERS = ("mcpServers", "mcp_servers", "servers")
_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_PLACEHOLDER = re.compile(rf"\$\{{(?:env:)?({_NAME})(?::-([^}}]*))?\}}|\$ENV:({_NAME})")


@dataclass(frozen=True, slots=True)
class ServerFile:
    """What a file holds: servers by id, and what was wrong with the rest, in sentences that name it."""

    servers: Mapping[str, Server]
    problems: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reading:
    environment: Mapping[str, str]
    missing: set[str] = field(default_factory=set[str])


def load_server_file(path: str | Path, environment: Mapping[str, str]) -> ServerFile:
    """The servers of a ``.mcp.json``. Raises `ConfigurationError` for a file that cannot be read as such."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}", details={"path": str(path)}) from None
    try:
        return read_servers(data, environment)
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error.message}", details={"path": str(path)}) from None


def read_servers(data: Any, environment: Mapping[str, str]) -> ServerFile:
    """The servers of a file's content. ``environment`` is what placeholders may name; nothing else is looked up."""
    if not isinstance(data, Mapping):
        raise ConfigurationError("holds no object of servers")
    wrapper = next((name for name in WRAPPERS if isinstance(data.get(name), Mapping)), None)
    entries: Mapping[Any, Any] = data[wrapper] if wrapper else data
    if not wrapper and entries and not any(_is_server(value) for value in entries.values()):
        raise ConfigurationError(f"holds neither mcpServers nor servers by id, but {_keys(data)}")
    servers: dict[str, Server] = {}
    problems: list[str] = []
    for name, value in entries.items():
        server_id = normalised_id(str(name))
        if server_id in servers:
            problems.append(f"MCP server {name!r} is left out: {server_id!r} is taken")
            continue
        if isinstance(value, Mapping) and (value.get("disabled") is True or value.get("enabled") is False):
            continue
        try:
            server, missing = _server(server_id, value, environment)
        except ConfigurationError as error:
            problems.append(error.message)
            continue
        servers[server_id] = server
        problems += [f"MCP server {server_id}: the variable {one} is not set; it reads as empty" for one in missing]
    return ServerFile(servers, tuple(problems))


def normalised_id(name: str) -> str:
    """A server id for any name: what may not stand there becomes ``-``."""
    if SERVER_ID.fullmatch(name):
        return name
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("._-")[:64]
    return plain or "server"


def _server(server_id: str, value: Any, environment: Mapping[str, str]) -> tuple[Server, list[str]]:
    reading = _Reading(environment)
    expanded = _expanded(value, reading)
    if isinstance(expanded, Mapping):
        expanded = _split_command(expanded)
    return named_server(server_id, expanded), sorted(reading.missing)


def _expanded(value: Any, reading: _Reading) -> Any:
    if isinstance(value, str):
        return expand(value, reading.environment, reading.missing)
    if isinstance(value, Mapping):
        return {key: _expanded(item, reading) for key, item in value.items()}
    if isinstance(value, list):
        return [_expanded(item, reading) for item in value]
    return value


def expand(text: str, environment: Mapping[str, str], missing: set[str]) -> str:
    """``text`` with ``${VAR}``, ``${VAR:-x}``, ``${env:VAR}`` and ``$ENV:VAR`` replaced, once and not again.

    A variable that is unset and has no default reads as empty and is added to ``missing``.
    """

    def value_of(match: re.Match[str]) -> str:
        name, default = match[1] or match[3], match[2]
        found = environment.get(name)
        if default is not None:
            return found or default
        if found is None:
            missing.add(name)
        return found or ""

    return _PLACEHOLDER.sub(value_of, text)


def _split_command(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Some files hold a whole command line in ``command``."""
    command = value.get("command")
    if not isinstance(command, str) or value.get("args") or not re.search(r"\s", command.strip()):
        return value
    if os.path.isabs(command) and os.path.exists(command):  # a path with a blank
        return value
    try:
        first, *rest = shlex.split(command)
    except ValueError:
        return value
    return {**value, "command": first, "args": rest}


def _is_server(value: Any) -> bool:
    return isinstance(value, Mapping) and any(key in value for key in ("command", "url", "serverUrl", "link", "type"))


def _keys(data: Mapping[Any, Any]) -> str:
    return ", ".join(repr(str(key)) for key in list(data)[:5]) or "nothing"
