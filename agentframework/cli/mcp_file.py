"""Changes of a ``.mcp.json`` that leave everything else in it as it is."""

import argparse
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentframework.errors import ConfigurationError
from agentframework.mcp.config import check_server_id, named_server
from agentframework.mcp.config_files import WRAPPERS


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command says, in words and as data."""

    text: str
    data: Any


def add_server(path: Path, found: argparse.Namespace) -> Answer:
    """Write one server into the file. Raises `ConfigurationError` for a bad one or a name that is taken."""
    check_server_id(found.server)
    entry = _entry(found)
    named_server(found.server, entry)
    content = _read(path) if path.exists() else {"mcpServers": {}}
    servers = _servers(content)
    if found.server in servers and not found.replace:
        raise ConfigurationError(f"{path} has a server {found.server} already; --replace puts this one in its place")
    servers[found.server] = entry
    _write(path, content)
    return Answer(f"{found.server} is in {path} now.", {"path": str(path), "added": found.server, "entry": entry})


def remove_server(path: Path, found: argparse.Namespace) -> Answer:
    """Take one server out of the file. Raises `ConfigurationError` if it is not there."""
    content = _read(path)
    servers = _servers(content)
    if found.server not in servers:
        known = ", ".join(servers) or "none"
        raise ConfigurationError(f"{path} has no server {found.server!r}; there are: {known}")
    del servers[found.server]
    _write(path, content)
    return Answer(f"{found.server} is no longer in {path}.", {"path": str(path), "removed": found.server})


def _entry(found: argparse.Namespace) -> dict[str, Any]:
    args = found.args[1:] if found.args[:1] == ["--"] else found.args
    if "://" in found.target:
        if args or found.env:
            raise ConfigurationError("an address takes neither arguments nor --env")
        entry: dict[str, Any] = {"type": "sse" if found.sse else "http", "url": found.target}
        headers = dict(_pair(text, ":", "--header") for text in found.header)
        return {**entry, "headers": headers} if headers else entry
    if found.header or found.sse:
        raise ConfigurationError("--header and --sse are for addresses; a program takes --env")
    entry = {"command": found.target, "args": list(args)}
    variables = dict(_pair(text, "=", "--env") for text in found.env)
    return {**entry, "env": variables} if variables else entry


def _pair(text: str, sign: str, option: str) -> tuple[str, str]:
    name, found, value = text.partition(sign)
    if not found or not name.strip():
        raise ConfigurationError(f"{option} takes NAME{sign}VALUE, not {text!r}")
    return name.strip(), value.strip() if sign == ":" else value


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read, so it is left as it is: {error}") from None
    if not isinstance(content, dict):
        raise ConfigurationError(f"{path} holds no object of servers; it is left as it is")
    return content


def _servers(content: dict[str, Any]) -> dict[str, Any]:
    """Where the servers stand in ``content``: below a wrapper, or bare."""
    wrapper = next((name for name in WRAPPERS if isinstance(content.get(name), dict)), None)
    if wrapper is not None:
        return content[wrapper]
    return content if content else content.setdefault("mcpServers", {})


def _write(path: Path, content: dict[str, Any]) -> None:
    """Replace the file whole: a reader sees the old one or the new one."""
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600  # it may hold keys
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".mcp-", suffix=".tmp")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
        os.chmod(name, mode)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
