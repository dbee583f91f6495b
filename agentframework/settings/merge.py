"""Several layers as one `Settings`, with the origin of every value.

Layers come lowest first. The rule of each field stands on the field (`agentframework.settings.schema.Merge`); a field
whose value cannot be used is left out of its layer with a diagnostic, or is an error if it may have been meant to
forbid something.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from agentframework._base.diagnostic import Diagnostic
from agentframework.settings.located import Key
from agentframework.settings.schema import RESTRICTIVE, TRUST_LEVELS, Merge, Settings
from agentframework.settings.source import SOURCE, Layer, Origin, key_text, settings_error

_LISTS = frozenset({"allow", "deny", "ask", "additionalDirectories"})
# A project may not lift the questions for itself.
_USER_MODES = frozenset({"auto", "bypassPermissions"})


@dataclass(frozen=True, slots=True)
class Merged:
    """The settings in force, where each value comes from (by its key there), and what was left out."""

    settings: Settings
    origins: Mapping[str, Origin]
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class _Given:
    """What one layer says to one field."""

    layer: Layer
    key: Key
    value: Any

    def origin(self, *inner: str | int) -> Origin:
        key = (*self.key, *inner)
        return Origin(self.layer, key, self.layer.line(key))


@dataclass(slots=True)
class _Pot:
    """What grows while layers are put together."""

    origins: dict[str, Origin] = field(default_factory=dict[str, Origin])
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def warn(self, given: _Given, problem: str, *inner: str | int) -> None:
        origin = given.origin(*inner)
        found = Diagnostic("warning", SOURCE, f"{key_text(origin.key)} {problem}", given.layer.path, origin.line)
        self.diagnostics.append(found)

    def note(self, key: str, origin: Origin) -> None:
        self.origins[key] = origin


def merge_layers(layers: Sequence[Layer]) -> Merged:
    """Raises `SettingsError` for a value that cannot be used where it may have been meant to forbid something."""
    pot = _Pot()
    for layer in layers:
        for key in layer.located.doubled:
            pot.warn(_Given(layer, key, None), "stands twice; both count, of plain values the last")
        _unknown_keys(layer, pot)
    merged = _merge_model(Settings, [_Given(layer, (), layer.values) for layer in layers], pot)
    _settle_providers(merged, pot)
    settings = Settings.model_validate(merged)
    return Merged(settings, pot.origins, tuple(pot.diagnostics))


def _unknown_keys(layer: Layer, pot: _Pot) -> None:
    known = {_alias(name, info) for name, info in Settings.model_fields.items()} | {"$schema"}
    unknown = sorted(key for key in layer.values if key not in known)
    if unknown:
        message = f"keys that mean nothing here: {', '.join(unknown)}"
        pot.diagnostics.append(Diagnostic("info", SOURCE, message, layer.path, layer.line((unknown[0],))))


def _alias(name: str, info: FieldInfo) -> str:
    return info.alias or name


def _merge_model(model: type[BaseModel], given: Sequence[_Given], pot: _Pot) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, info in model.model_fields.items():
        alias = _alias(name, info)
        parts = [part for one in given if (part := _part(one, alias, info, pot)) is not None]
        if parts:
            rule = next(item for item in info.metadata if isinstance(item, Merge))
            path = key_text(parts[0].key)
            found[alias] = _merge_inside(info, parts, pot) if rule is Merge.INSIDE else _RULES[rule](path, parts, pot)
    return found


def _merge_inside(info: FieldInfo, parts: Sequence[_Given], pot: _Pot) -> dict[str, Any]:
    return _merge_model(cast("type[BaseModel]", info.annotation), parts, pot)


def _part(given: _Given, alias: str, info: FieldInfo, pot: _Pot) -> _Given | None:
    """The layer's value of a field, if it has one that can be used."""
    value = cast("Mapping[str, Any]", given.value).get(alias)
    if value is None:
        return None
    part = _Given(given.layer, (*given.key, alias), value)
    if alias in _LISTS and isinstance(value, str):
        pot.warn(part, "should be a list; its text is taken for the only entry")
        part = _Given(given.layer, part.key, [value])
    try:
        # Inside a section each field is checked by itself.
        wanted: Any = dict[str, Any] if Merge.INSIDE in info.metadata else info.annotation
        TypeAdapter[Any](wanted).validate_python(part.value)
    except ValidationError as error:
        return _unusable(part, error, pot)
    if alias == "defaultMode" and given.layer.project and value in _USER_MODES:
        pot.warn(part, f"is {value!r}, which only settings of the user may choose; it is left aside")
        return None
    return part


def _unusable(part: _Given, error: ValidationError, pot: _Pot) -> _Given | None:
    """Only the entries that can be used, if that is a list or object of them; None if nothing is left."""
    first = error.errors(include_url=False, include_input=False)[0]
    inner = tuple(step for step in first["loc"] if isinstance(step, int) or step in _keys(part.value))
    key = key_text((*part.key, *inner))
    problem = f"cannot be used: {first['msg'].lower()}"
    if key_text(part.key) in RESTRICTIVE:
        place = part.layer.located.places.get((*part.key, *inner), (part.layer.line(part.key), None))
        raise settings_error(part.layer.path, *place, f"{key} {problem}")
    pot.warn(part, f"{problem}; it is left aside", *inner[:1])
    if not inner:
        return None
    if isinstance(part.value, list):
        rest: Any = [item for number, item in enumerate(cast("list[Any]", part.value)) if number != inner[0]]
    else:
        rest = {name: item for name, item in cast("dict[str, Any]", part.value).items() if name != inner[0]}
    return _Given(part.layer, part.key, rest) if _fits(part.key, rest) else None


def _keys(value: Any) -> Iterable[Any]:
    return cast("dict[Any, Any]", value).keys() if isinstance(value, dict) else ()


def _fits(key: Key, value: Any) -> bool:
    model: Any = Settings
    for step in key[:-1]:
        model = next(info.annotation for name, info in model.model_fields.items() if _alias(name, info) == step)
    info = next(info for name, info in model.model_fields.items() if _alias(name, info) == key[-1])
    try:
        TypeAdapter[Any](info.annotation).validate_python(value)
    except ValidationError:
        return False
    return True


def _last(path: str, parts: Sequence[_Given], pot: _Pot) -> Any:
    pot.note(path, parts[-1].origin())
    return parts[-1].value


def _united(path: str, parts: Sequence[_Given], pot: _Pot) -> list[Any]:
    found: list[Any] = []
    seen: set[str] = set()
    for part in parts:
        for number, item in enumerate(cast("list[Any]", part.value)):
            text = json.dumps(item, sort_keys=True)
            if text not in seen:
                seen.add(text)
                pot.note(f"{path}[{len(found)}]", part.origin(number))
                found.append(item)
    return found


def _per_event(path: str, parts: Sequence[_Given], pot: _Pot) -> dict[str, Any]:
    """Hooks of one layer keep their place, so a fault in them can be found: only the overview is put together."""
    found: dict[str, Any] = {}
    for part in parts:
        if isinstance(part.value, list):
            found.setdefault("hooks", []).extend(cast("list[Any]", part.value))
            continue
        for event, groups in cast("dict[str, Any]", part.value).items():
            many = cast("list[Any]", groups) if isinstance(groups, list) else [groups]
            here = cast("list[Any]", found.setdefault(event, []))
            for number, group in enumerate(many):
                inner = (event, number) if isinstance(groups, list) else (event,)
                pot.note(f"{path}.{event}[{len(here)}]", part.origin(*inner))
                here.append(group)
    return found


def _by_key(path: str, parts: Sequence[_Given], pot: _Pot) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in parts:
        for name, value in cast("dict[str, Any]", part.value).items():
            pot.note(key_text((name,), path), part.origin(name))
            found[name] = value
    return found


def _strictest(path: str, parts: Sequence[_Given], pot: _Pot) -> Any:
    chosen = min(parts, key=lambda part: TRUST_LEVELS.index(part.value))
    pot.note(path, chosen.origin())
    return chosen.value


def _any(path: str, parts: Sequence[_Given], pot: _Pot) -> bool:
    for part in parts:
        if part.value in (True, "disable", "true"):
            pot.note(path, part.origin())
            return True
    return False


def _profiles(path: str, parts: Sequence[_Given], pot: _Pot) -> dict[str, Any]:
    found: dict[str, dict[str, Any]] = {}
    for part in parts:
        for name, profile in cast("dict[str, dict[str, Any]]", part.value).items():
            for item, value in profile.items():
                if value is not None:
                    pot.note(key_text((name, item), path), part.origin(name, item))
                    found.setdefault(name, {})[item] = value
    return found


_RULES: Mapping[Merge, Callable[[str, Sequence[_Given], _Pot], Any]] = {
    Merge.LAST: _last,
    Merge.UNITED: _united,
    Merge.PER_EVENT: _per_event,
    Merge.BY_KEY: _by_key,
    Merge.STRICTEST: _strictest,
    Merge.ANY: _any,
    Merge.PROFILES: _profiles,
}


def _settle_providers(merged: dict[str, Any], pot: _Pot) -> None:
    """Where a project says which address to talk to, the key of somebody else is not sent there."""
    for name, profile in cast("dict[str, dict[str, Any]]", merged.get("providers", {})).items():
        path = key_text((name,), "providers")
        address, secret = pot.origins.get(f"{path}.baseURL"), pot.origins.get(f"{path}.apiKey")
        if address is None or not address.layer.project:
            continue
        profile["addressOfProject"] = True
        if secret is not None and not secret.layer.project:
            del profile["apiKey"], pot.origins[f"{path}.apiKey"]
            given = _Given(address.layer, address.key, None)
            pot.warn(given, f"is the project's, so the key from {secret.place} is not used with it")
