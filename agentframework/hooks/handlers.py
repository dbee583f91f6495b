"""One hook entry of a settings file: its type, its fields, its limits.

Above: `agentframework.hooks.config`, which knows the events and groups around the entries.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlsplit

from agentframework._base.bounded import head_and_tail
from agentframework.hooks.model import (
    CallAction,
    CommandAction,
    HookAction,
    HttpAction,
    PromptAction,
)

# Seconds. Nothing that a turn waits for may take longer than the last.
DEFAULT_TIMEOUTS_S = {"command": 60.0, "http": 10.0, "prompt": 60.0, "callable": 60.0}
MAX_TIMEOUT_S = 600.0
_COMMON = frozenset({"type", "timeout", "failClosed", "name", "description", "statusMessage"})
_FIELDS = {
    "command": frozenset({"command"}),
    "http": frozenset({"url", "headers", "allowedEnvVars"}),
    "prompt": frozenset({"prompt", "model"}),
    "callable": frozenset({"callable"}),
}
# The field that says what an entry without a type is.
_KINDS = {"command": "command", "url": "http", "prompt": "prompt", "callable": "callable"}


class UnusableError(Exception):
    """An entry that cannot be used; ``str()`` says why."""


@dataclass(frozen=True, slots=True)
class Handler:
    """An entry that can be used. ``problems`` tell what was put right or left aside."""

    name: str
    action: HookAction
    timeout_s: float
    fail_closed: bool
    problems: tuple[str, ...]


def read_handler(raw: object, fail_closed: bool) -> Handler:
    """The entry; ``fail_closed`` if it does not say. Raises `UnusableError`."""
    if not isinstance(raw, Mapping):
        raise UnusableError(f"a hook must be a dict with a type, not {type(raw).__name__}")
    entry = cast("Mapping[Any, Any]", raw)
    kind = _kind(entry)
    problems: list[str] = []
    action, shown = _READERS[kind](entry)
    unknown = sorted(str(key) for key in entry if key not in _COMMON | _FIELDS[kind])
    if unknown:
        problems.append(f"unknown {', '.join(unknown)}; left aside")
    closed = entry.get("failClosed", fail_closed)
    if not isinstance(closed, bool):
        problems.append(f"failClosed must be true or false, not {closed!r:.40}; it counts as true")
        closed = True
    name = entry.get("name")
    label = name if isinstance(name, str) and name.strip() else f"{kind}: {shown}"
    shown = head_and_tail(" ".join(label.split()))
    return Handler(shown, action, _timeout(entry, kind, problems), closed, tuple(problems))


def _kind(entry: Mapping[Any, Any]) -> str:
    kind = entry.get("type")
    if kind is None:
        found = [_KINDS[key] for key in _KINDS if key in entry]
        if len(found) == 1:
            return found[0]
        raise UnusableError(f"a hook needs a type, one of {', '.join(_FIELDS)}")
    if kind == "agent":
        raise UnusableError("hooks of type 'agent' need subagents, which sessions do not have yet")
    if not isinstance(kind, str) or kind not in _FIELDS:
        raise UnusableError(f"hooks of type {kind!r:.40} are not known here; there are {', '.join(_FIELDS)}")
    return kind


def _timeout(entry: Mapping[Any, Any], kind: str, problems: list[str]) -> float:
    default = DEFAULT_TIMEOUTS_S[kind]
    given = entry.get("timeout")
    if given is None:
        return default
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        problems.append(f"timeout must be a number of seconds above 0, not {given!r:.40}; it counts as {default:g}")
        return default
    if given > MAX_TIMEOUT_S:
        problems.append(f"timeout is in seconds; {given!r:.40} counts as {MAX_TIMEOUT_S:g}")
    return float(min(given, MAX_TIMEOUT_S))


def _text(entry: Mapping[Any, Any], key: str) -> str:
    found = entry.get(key)
    if not isinstance(found, str) or not found.strip() or "\0" in found:
        raise UnusableError(f"{key} must be a text that is not blank, not {found!r:.40}")
    return found


def _command(entry: Mapping[Any, Any]) -> tuple[HookAction, str]:
    command = _text(entry, "command")
    return CommandAction(command), command


def _http(entry: Mapping[Any, Any]) -> tuple[HookAction, str]:
    url = _text(entry, "url")
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.username
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        good = False
    if not good:
        raise UnusableError(f"url must be an http or https address without user and password, not {url!r:.80}")
    headers = entry.get("headers") or {}
    names = entry.get("allowedEnvVars") or ()
    if not isinstance(headers, Mapping) or not all(
        isinstance(part, str) for pair in cast("Mapping[Any, Any]", headers).items() for part in pair
    ):
        raise UnusableError("headers must be a dict of texts")
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in cast("list[Any]", names)):
        raise UnusableError("allowedEnvVars must be a list of names")
    action = HttpAction(url, dict(cast("Mapping[str, str]", headers)), frozenset(cast("list[str]", names)))
    return action, url.partition("?")[0]


def _prompt(entry: Mapping[Any, Any]) -> tuple[HookAction, str]:
    prompt, model = _text(entry, "prompt"), entry.get("model")
    if model is not None and not isinstance(model, str):
        raise UnusableError(f"model must be a name, not {model!r:.40}")
    return PromptAction(prompt, model or None), prompt


def _callable(entry: Mapping[Any, Any]) -> tuple[HookAction, str]:
    function = entry.get("callable")
    if not callable(function):
        raise UnusableError(f"callable must be a function of one argument, not {function!r:.40}")
    return CallAction(function), getattr(function, "__qualname__", None) or type(function).__name__


_READERS: Mapping[str, Callable[[Mapping[Any, Any]], tuple[HookAction, str]]] = {
    "command": _command,
    "http": _http,
    "prompt": _prompt,
    "callable": _callable,
}
