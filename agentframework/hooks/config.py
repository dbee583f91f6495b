"""Hooks from a settings-shaped dict, as such files look in the wild.

What cannot be used is reported by its place and skipped, never guessed; a broken entry that was to fail closed stays as
a hook that always fails, for all that its event is about. Format: the ``hooks`` key of Claude Code's settings files.
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from agentframework.errors import ConfigurationError
from agentframework.hooks.handlers import Handler, UnusableError, read_handler
from agentframework.hooks.model import TRAITS, BrokenAction, Hook, HookEvent

_GROUP_FIELDS = frozenset({"matcher", "hooks", "env", "description", "name", "id"})
_HANDLER_MARKS = frozenset({"type", "command", "url", "prompt", "callable"})
_EVENTS: frozenset[str] = frozenset(HookEvent)
_EVENT_KEYS = ("event", "hook_event_name", "hookEventName")


@dataclass(frozen=True, slots=True)
class HookConfig:
    """The hooks of each event, in their order, and what was wrong with the rest."""

    hooks: Mapping[HookEvent, Sequence[Hook]] = field(default_factory=dict[HookEvent, Sequence[Hook]])
    problems: tuple[str, ...] = ()

    def __add__(self, other: "HookConfig") -> "HookConfig":
        """Both, the hooks of ``other`` after ours."""
        if not (other.hooks or other.problems):
            return self
        if not (self.hooks or self.problems):
            return other
        events = dict.fromkeys((*self.hooks, *other.hooks))
        hooks = {event: (*self.hooks.get(event, ()), *other.hooks.get(event, ())) for event in events}
        return HookConfig(hooks, (*self.problems, *other.problems))


NO_HOOKS = HookConfig()


def parse_hooks(raw: object, *, fail_closed: bool = False) -> HookConfig:
    """``{"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}]}`` as a `HookConfig`.

    ``fail_closed`` is the default of the entries. Also taken: the dict inside a ``hooks`` key, a list of groups that
    name their event, one group where a list of them belongs, an entry without a group around it. Raises
    `ConfigurationError` if ``raw`` is neither dict nor list.
    """
    if raw is None:
        return NO_HOOKS
    reader = _Reader(fail_closed)
    reader.read(raw)
    return HookConfig(reader.hooks, tuple(reader.problems))


class _Reader:
    def __init__(self, fail_closed: bool) -> None:
        self._fail_closed = fail_closed
        self.hooks: dict[HookEvent, list[Hook]] = {}
        self.problems: list[str] = []

    def read(self, raw: object) -> None:
        if raw is None:
            return
        if isinstance(raw, Mapping):
            self._read_events(cast("Mapping[object, object]", raw))
        elif isinstance(raw, list | tuple):
            self._read_list(cast("Sequence[object]", raw))
        else:
            raise ConfigurationError(
                f"hooks must be a dict of event names, not {type(raw).__name__}", details={"field": "hooks"}
            )

    def _read_events(self, raw: Mapping[object, object]) -> None:
        for key, groups in raw.items():
            if key == "hooks" and isinstance(groups, Mapping | list | tuple):
                self.read(cast(object, groups))
            elif isinstance(groups, Mapping | list | tuple):
                event = self._event(key, f"hooks.{key}")
                if event is not None:
                    self._read_groups(event, groups, f"hooks.{key}")
            elif isinstance(key, str) and key in _EVENTS:
                self._problem(f"hooks.{key}", f"must be a list of groups, not {type(groups).__name__}")

    def _read_list(self, raw: Sequence[object]) -> None:
        if raw:
            self._problem("hooks", "is a list; of its entries those are used that name their event")
        for number, entry in enumerate(raw):
            place = f"hooks[{number}]"
            if not isinstance(entry, Mapping):
                self._problem(place, f"must be a dict, not {type(entry).__name__}")
                continue
            group = dict(cast("Mapping[object, object]", entry))
            named = [group.pop(key) for key in _EVENT_KEYS if key in group]
            event = self._event(named[0] if named else None, place)
            if event is not None:
                self._read_group(event, group, place)

    def _event(self, name: object, place: str) -> HookEvent | None:
        if isinstance(name, str) and name in _EVENTS:
            return HookEvent(name)
        known = next((event for event in HookEvent if str(name).casefold() == event.casefold()), None)
        hint = f"did you mean {known}?" if known else f"known are {', '.join(HookEvent)}"
        self._problem(place, f"{name!r:.80} is no hook event; {hint}")
        return None

    def _read_groups(self, event: HookEvent, groups: object, place: str) -> None:
        if isinstance(groups, Mapping):
            self._read_group(event, cast("Mapping[object, object]", groups), place)
            return
        for number, group in enumerate(cast("Sequence[object]", groups)):
            self._read_group(event, group, f"{place}[{number}]")

    def _read_group(self, event: HookEvent, group: object, place: str) -> None:
        if not isinstance(group, Mapping):
            self._broken(event, place, f"must be a dict with the key hooks, not {type(group).__name__}", None)
            return
        group = cast("Mapping[Any, Any]", group)
        entries, bare = _entries(group)
        if not bare:
            self._unknown_fields(group, _GROUP_FIELDS, place)
        if entries is None:
            self._broken(event, place, "has no list of hooks", None)
            return
        matcher: re.Pattern[str] | None = None
        try:
            matcher = _matcher(group.get("matcher"))
        except UnusableError as error:
            for entry in entries:
                self._stand_in(event, place, str(error), entry)
            self._problem(place, f"{error}; the group is skipped")
            return
        if matcher is not None and TRAITS[event].target is None:
            self._problem(place, f"{event} has nothing to match, so its hooks run every time")
            matcher = None
        environment = self._environment(group.get("env"), place)
        for number, entry in enumerate(entries):
            self._read_entry(event, entry, (matcher, environment), place if bare else f"{place}.hooks[{number}]")

    def _read_entry(
        self, event: HookEvent, entry: object, shared: tuple[re.Pattern[str] | None, Mapping[str, str]], place: str
    ) -> None:
        try:
            handler: Handler = read_handler(entry, self._fail_closed)
        except UnusableError as error:
            self._broken(event, place, str(error), entry)
            return
        for problem in handler.problems:
            self._problem(place, problem)
        found = self.hooks.setdefault(event, [])
        found.append(Hook(handler.name, handler.action, handler.timeout_s, handler.fail_closed, *shared))

    def _environment(self, raw: object, place: str) -> dict[str, str]:
        if raw is None:
            return {}
        found: dict[str, str] = {}
        for name, value in cast("Mapping[object, object]", raw).items() if isinstance(raw, Mapping) else [(raw, None)]:
            good = isinstance(name, str) and name and not set(name) & set("=\0")
            if good and isinstance(value, str) and "\0" not in value:
                found[cast(str, name)] = value
            else:
                self._problem(place, f"env holds names and texts; {name!r:.80} is left out")
        return found

    def _broken(self, event: HookEvent, place: str, problem: str, entry: object) -> None:
        self._problem(place, f"{problem}; it is skipped")
        self._stand_in(event, place, problem, entry)

    def _stand_in(self, event: HookEvent, place: str, problem: str, entry: object) -> None:
        """Where a guard that is to fail closed cannot be understood, something has to fail in its place."""
        asked = cast("Mapping[object, object]", entry).get("failClosed") if isinstance(entry, Mapping) else None
        closed = self._fail_closed if asked is None else asked is not False
        if closed and TRAITS[event].gates:
            self.hooks.setdefault(event, []).append(Hook(place, BrokenAction(problem), 1.0, fail_closed=True))

    def _unknown_fields(self, raw: Mapping[Any, Any], known: frozenset[str], place: str) -> None:
        unknown = sorted(str(key) for key in raw if key not in known)
        if unknown:
            self._problem(place, f"unknown {', '.join(unknown)}; left aside")

    def _problem(self, place: str, problem: str) -> None:
        self.problems.append(f"{place}: {problem}")


def _entries(group: Mapping[Any, Any]) -> tuple[Sequence[object] | None, bool]:
    """The group's hooks (None: it has none), and whether the group is itself the only one."""
    inner = group.get("hooks")
    if isinstance(inner, list | tuple):
        return cast("Sequence[object]", inner), False
    if isinstance(inner, Mapping):
        return [cast(object, inner)], False
    if inner is None and _HANDLER_MARKS & group.keys():
        return [{key: value for key, value in group.items() if key not in ("matcher", "env")}], True
    return None, False


def _matcher(raw: object) -> re.Pattern[str] | None:
    """A regular expression for the whole of a name; None matches all. Raises `UnusableError`."""
    if raw is None or raw in ("", "*"):
        return None
    if not isinstance(raw, str):
        raise UnusableError(f"the matcher must be a text, not {type(raw).__name__}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return re.compile(raw)
    except (re.error, RecursionError, OverflowError) as error:
        raise UnusableError(f"the matcher {raw!r:.80} is no regular expression: {error}") from None
