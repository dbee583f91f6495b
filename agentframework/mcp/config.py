"""Servers as the host describes them: a program to start, or an address.

Everything is checked when it is written down, before anything starts: `ConfigurationError` with code
``INVALID_CONFIGURATION`` names the field. Files with placeholders are read by `agentframework.mcp.config_files`.
"""

import ipaddress
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from agentframework.errors import ConfigurationError

SERVER_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
DEFAULT_STARTUP_TIMEOUT_S = 30.0


def refused(field_name: str, problem: str) -> ConfigurationError:
    """The error for a field that cannot work."""
    return ConfigurationError(f"{field_name} {problem}", details={"field": field_name})


def check_seconds(name: str, value: float | None, *, zero: bool = False) -> None:
    """Raise `ConfigurationError` unless ``value`` is None or a finite number of seconds above 0 (or 0 if ``zero``)."""
    if value is None:
        return
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not number or value < 0 or (value == 0 and not zero):
        raise refused(name, f"must be a number of seconds above 0, not {value!r}")


def check_server_id(server_id: object) -> str:
    """``server_id`` if it is one. Raises `ConfigurationError`."""
    if not isinstance(server_id, str) or not SERVER_ID.fullmatch(server_id):
        raise ConfigurationError(
            f"the server id {server_id!r} must begin with a letter or digit "
            "and go on with at most 63 of A-Z a-z 0-9 . _ -",
            details={"field": "server_id"},
        )
    return server_id


@dataclass(frozen=True, slots=True, kw_only=True)
class _Common:
    """What all servers have. Tool names are the server's own, before they are qualified."""

    allowed_tools: Sequence[str] | None = None
    denied_tools: Sequence[str] = ()
    timeout_s: float | None = None
    startup_timeout_s: float = DEFAULT_STARTUP_TIMEOUT_S
    max_buffer_size: int | None = None
    trust_annotations: bool = False
    defer: bool = False

    def _check(self) -> None:
        for name in ("allowed_tools", "denied_tools"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(item, str) for item in value or ()):
                raise refused(name, f"must be a list of tool names, not {value!r}")
            object.__setattr__(self, name, None if value is None else tuple(value))
        check_seconds("timeout_s", self.timeout_s)
        check_seconds("startup_timeout_s", self.startup_timeout_s)
        size: Any = self.max_buffer_size
        if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
            raise refused("max_buffer_size", f"must be a number of bytes of at least 1, not {size!r}")

    def offers(self, tool_name: str) -> bool:
        """Whether the host wants this tool of the server."""
        return (self.allowed_tools is None or tool_name in self.allowed_tools) and tool_name not in self.denied_tools


@dataclass(frozen=True, slots=True)
class StdioServer(_Common):
    """A program that speaks MCP on its standard input and output.

    ``command`` is one program, best an absolute path; its arguments go into ``args``. It gets a few harmless variables
    (``PATH``, ``HOME``, the language) and ``env``; with ``inherit_env=True`` all of this process. ``allowed_tools``
    means only these, ``denied_tools`` not these. ``timeout_s`` None means that of `McpOptions`; ``max_buffer_size``
    bounds one message in bytes. ``trust_annotations`` lets ``readOnlyHint`` classify its tools. ``defer``: a model is
    told of its tools when it looks for them.
    """

    command: str
    args: Sequence[str] = ()
    env: Mapping[str, str] | None = field(default=None, repr=False)
    cwd: str | Path | None = None
    inherit_env: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.command, str) or not self.command.strip() or "\0" in self.command:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise refused("command", "must name a program")
        if isinstance(self.args, str) or not all(isinstance(item, str) and "\0" not in item for item in self.args):
            raise refused("args", f"must be a list of texts, not {self.args!r}")
        for name, value in (self.env or {}).items():
            if not isinstance(name, str) or not isinstance(value, str) or "=" in name or "\0" in name + value:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise refused("env", f"must map names of variables to texts; look at {name!r}")
        object.__setattr__(self, "args", tuple(self.args))
        self._check()


@dataclass(frozen=True, slots=True)
class _Remote(_Common):
    """An address. ``auth`` is a bearer token or a provider object of the official client, and goes to it as it is."""

    url: str
    headers: Mapping[str, str] | None = field(default=None, repr=False)
    auth: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", checked_url(self.url))
        for name, value in (self.headers or {}).items():
            texts = isinstance(name, str) and isinstance(value, str)  # pyright: ignore[reportUnnecessaryIsInstance]
            if not texts or not name.strip() or any(sign in name + value for sign in "\r\n\0"):
                raise refused("headers", f"must map names to texts of one line; look at {name!r}")
        if isinstance(self.auth, str) and (not self.auth.strip() or any(sign in self.auth for sign in "\r\n\0")):
            raise refused("auth", "must be a token of one line")
        self._check()


@dataclass(frozen=True, slots=True)
class HttpServer(_Remote):
    """A server behind an address, over Streamable HTTP: https, or plain http on this machine.

    ``headers`` go with every request; ``auth`` is a bearer token or a provider object of the official client. The
    other options are those of `StdioServer`.
    """


@dataclass(frozen=True, slots=True)
class SseServer(_Remote):
    """A server that still speaks the older HTTP+SSE transport. Options as for `HttpServer`."""


Server = StdioServer | HttpServer | SseServer


def checked_url(url: object) -> str:
    """``url`` if it may be connected to. Raises `ConfigurationError`; the message never shows credentials."""
    if not isinstance(url, str):
        raise refused("url", f"must be a text, not {type(url).__name__}")
    text = url.strip()
    try:
        parts = urlsplit(text)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise refused("url", f"cannot be read: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise refused("url", "must begin with https:// (or http:// on this machine) and name a host")
    if parts.username is not None or parts.password is not None:
        raise refused("url", f"for {host} holds credentials; give them as auth or headers")
    if parts.scheme == "http" and not is_loopback(host):
        raise refused("url", f"for {host} must be https; plain http is for this machine only")
    return text


def is_loopback(host: str) -> bool:
    """True for names and addresses that never leave this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


ServerLike = Server | str | Mapping[str, Any]
"""A server, the URL of one, or a dict as in a ``.mcp.json`` (without placeholders)."""


def as_servers(servers: Mapping[str, Any] | Sequence[Any] | None) -> dict[str, Server]:
    """Servers by id. A list gets the ids ``server_1``, ``server_2``, …

    Raises `ConfigurationError` for an id or a server that cannot work; the message names the id.
    """
    if servers is None:
        return {}
    if isinstance(servers, str) or not isinstance(servers, Mapping | Sequence):
        raise refused("mcp_servers", "must map ids to servers, or be a list of servers")
    named = servers if isinstance(servers, Mapping) else {f"server_{n}": one for n, one in enumerate(servers, 1)}
    return {check_server_id(server_id): named_server(server_id, value) for server_id, value in named.items()}


def named_server(server_id: str, value: Any) -> Server:
    """One server of a map. Raises `ConfigurationError` that names it."""
    try:
        return as_server(value)
    except ConfigurationError as error:
        details = {**error.details, "server_id": server_id}
        raise ConfigurationError(f"MCP server {server_id}: {error.message}", details=details) from None


def as_server(value: Any) -> Server:
    """A server from what stands for one: itself, a URL, or a dict in the shape of a ``.mcp.json``."""
    if isinstance(value, StdioServer | HttpServer | SseServer):
        return value
    if isinstance(value, str):
        return HttpServer(value)
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"a server is a StdioServer, HttpServer, SseServer, URL or dict, not {value!r}")
    return server_from_dict(value)


_TYPES = {
    "stdio": "stdio", "local": "stdio", "command": "stdio",
    "http": "http", "https": "http", "streamable-http": "http", "streamable_http": "http", "streamablehttp": "http",
    "remote": "http",
    "sse": "sse",
}  # fmt: skip
_OPTIONS = {
    "allowed_tools": ("allowed_tools", "allowedTools", "enabledTools", "includeTools", "include_tools"),
    "denied_tools": ("denied_tools", "deniedTools", "disabledTools", "excludeTools", "exclude_tools"),
    "max_buffer_size": ("max_buffer_size", "maxBufferSize"),
    "trust_annotations": ("trust_annotations", "trustAnnotations"),
    "defer": ("defer",),
    "timeout_s": ("timeout_s",),
    "startup_timeout_s": ("startup_timeout_s",),
}


def server_from_dict(value: Mapping[str, Any]) -> Server:
    """A server from the keys that files in the wild use. Keys that say nothing about the connection are ignored."""
    stated = value.get("type", value.get("transport", value.get("transportType")))
    kind = _kind(stated, value)
    options = {name: found for name, keys in _OPTIONS.items() if (found := _first(value, *keys)) is not None}
    if kind == "stdio":
        command, args = _command_line(value.get("command"), value.get("args"))
        given = {name: value[name] for name in ("env", "cwd") if value.get(name) is not None}
        return StdioServer(command, args, **given, inherit_env=bool(value.get("inherit_env")), **options)
    url = _first(value, "url", "serverUrl", "server_url", "link", "endpoint")
    auth = value.get("auth")
    if isinstance(auth, Mapping):
        auth = auth.get("token", auth.get("provider"))
    make = SseServer if kind == "sse" else HttpServer
    return make(url, value.get("headers"), auth, **options)  # type: ignore[arg-type]


def _kind(stated: Any, value: Mapping[str, Any]) -> str:
    if stated is not None:
        kind = _TYPES.get(str(stated).lower())
        if kind is None:
            raise refused("type", f"must be stdio, http or sse, not {stated!r}")
        return kind
    if value.get("command") is not None:
        return "stdio"
    url = _first(value, "url", "serverUrl", "server_url", "link", "endpoint")
    if url is None:
        raise ConfigurationError("has neither a command nor a url", details={"field": "command"})
    return "sse" if urlsplit(str(url)).path.rstrip("/").endswith("/sse") else "http"


def _first(value: Mapping[str, Any], *keys: str) -> Any:
    return next((value[key] for key in keys if value.get(key) is not None), None)


def _command_line(command: Any, args: Any) -> tuple[Any, Any]:
    """Command and arguments; some files hold both in one list."""
    if isinstance(command, Sequence) and not isinstance(command, str) and command:
        first, *rest = command
        return first, [*rest, *(args or ())]
    return command, args or ()
