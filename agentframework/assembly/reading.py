"""Turns merged settings into what the parts of a session understand, and says what in them cannot be used.

Settings know neither rules nor hooks, and these know no files; here the one becomes the other, each with the place
where it was written.
"""

import os
from collections.abc import Mapping
from typing import Any, cast

from agentframework._base.diagnostic import Diagnostic
from agentframework.errors import ConfigurationError
from agentframework.hooks import HookConfig, parse_hooks
from agentframework.permissions import Effect, PermissionMode, Rule, RuleSet, read_entry
from agentframework.settings import Layer, LoadedSettings, Origin, UnsetVariableError, expand
from agentframework.settings.source import SOURCE, key_text, settings_error

EFFECTS: tuple[Effect, ...] = ("allow", "deny", "ask")
# What a level of trust means for calls that no rule decides.
LEVEL_MODES = {"safe": "plan", "moderate": "default", "full": "acceptEdits"}
_STRICTEST_FIRST = ("plan", "default", "acceptEdits", "auto", "bypassPermissions")


class Reader:
    """Turns one reading into what the parts understand; ``found`` collects what was wrong, ``places`` the origins of
    rules by the text that rules carry."""

    def __init__(self, root: str | None, loaded: LoadedSettings) -> None:
        self._root = root
        self._loaded = loaded
        self.found: list[Diagnostic] = []
        self.places: dict[str, Origin] = {}

    def _warn(self, origin: Origin | None, message: str) -> None:
        path, line = (None, None) if origin is None else (origin.layer.path, origin.line)
        self.found.append(Diagnostic("warning", SOURCE, message, path, line))

    def rules(self, cwd: str, home: str | None) -> RuleSet:
        parsed: dict[Effect, list[Rule]] = {effect: [] for effect in EFFECTS}
        for effect in EFFECTS:
            entries = cast("list[Any]", getattr(self._loaded.settings.permissions, effect))
            for number, entry in enumerate(entries):
                origin = self._loaded.origins[f"permissions.{effect}[{number}]"]
                problem: str | None = None
                for base in self._bases(effect, origin.layer, cwd):
                    rule, problem = read_entry(entry, effect, base=base, home=home, origin=origin.place)
                    if rule is not None and rule not in parsed[effect]:
                        self.places[origin.place] = origin
                        parsed[effect].append(rule)
                if problem is not None:
                    self._warn(origin, f"{key_text(origin.key)}: {problem}")
        return RuleSet(tuple(parsed["allow"]), tuple(parsed["deny"]), tuple(parsed["ask"]))

    def _bases(self, effect: Effect, layer: Layer, cwd: str) -> list[str]:
        """What relative paths of a rule belong to. A rule that restricts holds for the folder as well."""
        own = self._root if layer.project and self._root is not None else cwd
        if effect == "allow" or self._root is None:
            return [own]
        return list(dict.fromkeys((own, self._root, cwd)))

    def hooks(self, environment: Mapping[str, str], fail_closed: bool) -> HookConfig:
        layers = self._loaded.layers
        user_off = any(layer.values.get("disableAllHooks") is True for layer in layers if not layer.project)
        any_off = user_off or any(layer.values.get("disableAllHooks") is True for layer in layers)
        together = HookConfig()
        for layer in layers:
            raw = layer.values.get("hooks")
            # A project may switch off its own hooks; those of the user may be guards.
            if raw is None or user_off or (any_off and layer.project):
                continue
            together = together + self._hooks_of(layer, raw, environment, fail_closed)
        return together

    def _hooks_of(self, layer: Layer, raw: Any, environment: Mapping[str, str], fail_closed: bool) -> HookConfig:
        line = layer.line(("hooks",))
        try:
            config = parse_hooks(expand(raw, environment), fail_closed=fail_closed)
        except UnsetVariableError as error:
            raise settings_error(layer.path, line, None, f"hooks: {error}") from None
        except ConfigurationError as error:
            raise settings_error(layer.path, line, None, error.message) from error
        for problem in config.problems:
            line = layer.line(_key_of(problem.partition(": ")[0], layer))
            self.found.append(Diagnostic("warning", "hooks", problem, layer.path, line))
        return HookConfig(config.hooks)

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in self._loaded.settings.env.items():
            origin = self._loaded.origins[key_text((name,), "env")]
            if not name or set(name) & set("=\0") or "\0" in str(value):
                self._warn(origin, f"env: {name!r} is no name of a variable; it is left out")
                continue
            try:
                text = expand(value, environment)
            except UnsetVariableError as error:
                self._warn(origin, f"env.{name}: {error}; it is left out")
                continue
            found[name] = str(text).lower() if isinstance(text, bool) else str(text)
        return found

    def mode(self) -> PermissionMode | None:
        settings = self._loaded.settings
        named: list[str] = []
        if settings.default_trust_level is not None:
            named.append(LEVEL_MODES[settings.default_trust_level])
        wanted = settings.permissions.default_mode
        if wanted in _STRICTEST_FIRST:
            named.append(wanted)
        elif wanted is not None:
            origin = self._loaded.origins["permissions.defaultMode"]
            self._warn(origin, f"permissions.defaultMode: there is no mode {wanted!r} here")
        if not named:
            return None
        return PermissionMode(min(named, key=_STRICTEST_FIRST.index))


    def directories(self, cwd: str, home: str | None) -> list[str]:
        found: list[str] = []
        for number, text in enumerate(self._loaded.settings.permissions.additional_directories):
            origin = self._loaded.origins[f"permissions.additionalDirectories[{number}]"]
            base = self._root if origin.layer.project and self._root is not None else cwd
            path = os.path.join(home, text[2:]) if home is not None and text.startswith("~/") else text
            place = os.path.join(base, path)
            if "\0" not in place and os.path.isdir(place):
                found.append(place)
            else:
                self._warn(origin, f"{key_text(origin.key)}: there is no directory {text!r}; it is left out")
        return found


def _key_of(place: str, layer: Layer) -> tuple[str | int, ...]:
    """The key that a place such as ``hooks.Stop[0].hooks[1]`` names, as far as the layer knows it."""
    return next((key for key in layer.located.places if key_text(key) == place), ("hooks",))
