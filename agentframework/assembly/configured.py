"""What settings files amount to for one session, and again when they are read anew.

With trust in the project taken back, what came from it is gone at once.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from sys import intern
from types import MappingProxyType

from agentframework._base.diagnostic import Diagnostic
from agentframework.assembly.kept_rules import KeptRules
from agentframework.assembly.options import AssemblyOptions, SettingsOptions
from agentframework.assembly.reading import EFFECTS, Reader
from agentframework.errors import ConfigurationError
from agentframework.hooks import HookConfig
from agentframework.permissions import PermissionMode, Rule, RuleSet
from agentframework.providers.protocol import Provider
from agentframework.settings import LoadedSettings, Origin, ProjectAccess, SettingsSources, project_settings_paths
from agentframework.settings.source import SOURCE

NO_BYPASS = "the settings switch the mode bypassPermissions off (permissions.disableBypassPermissionsMode)"


@dataclass(frozen=True, slots=True)
class Effective:
    """One reading of all files, in the terms of a session."""

    loaded: LoadedSettings
    rules: RuleSet
    places: Mapping[str, Origin]
    hooks: HookConfig
    variables: Mapping[str, str]
    mode: PermissionMode | None
    directories: list[str]
    diagnostics: tuple[Diagnostic, ...]


_NOTHING = Effective(LoadedSettings(), RuleSet(), {}, HookConfig(), {}, None, [], ())


_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


class Configured:
    """The settings of one session. Reads files when made and on `reload`. Raises `SettingsError`."""

    __slots__ = ("_cwd", "_environment", "_fail_closed", "_home", "_variables", "now", "sources")

    def __init__(
        self, options: SettingsOptions, *, cwd: str, home: str | None, environment: Mapping[str, str], fail_closed: bool
    ) -> None:
        self.sources = SettingsSources(
            tuple(options.user_sources), project_settings_paths(options.project_paths), options.project_access
        )
        self._cwd = cwd
        self._home = home
        self._environment = environment
        self._fail_closed = fail_closed
        # One object for the life of the session: shells and hooks hold it.
        self._variables: dict[str, str] | None = {} if self.changeable else None
        self.now = self._read(self.sources.load())
        self._publish()

    @property
    def access(self) -> ProjectAccess | None:
        """The project's access, as given."""
        return self.sources.access

    @property
    def variables(self) -> Mapping[str, str]:
        """What shells and hooks get besides, as it stands at the moment."""
        return _NO_VARIABLES if self._variables is None else self._variables

    @property
    def changeable(self) -> bool:
        """True if reading again could give anything else."""
        return bool(self.sources.user or self.sources.project)

    @property
    def project_root(self) -> str | None:
        """The root of the project while it is trusted."""
        return self.access.root if self.access is not None and self.sources.trusted else None

    def in_force(self) -> Iterator[Diagnostic]:
        """A finding for each value that counts: where it was written. Values, which may be secret, are not shown."""
        rules = self.now.rules
        for rule in (*rules.deny, *rules.ask, *rules.allow):
            yield Diagnostic("info", SOURCE, f"permissions.{rule.effect}: {rule.text}", *self._place(rule))
        for key, origin in self.now.loaded.origins.items():
            if not key.startswith(tuple(f"permissions.{effect}[" for effect in EFFECTS)):
                yield Diagnostic("info", SOURCE, f"{key} is set here", origin.layer.path, origin.line)

    def unknown_tools(self, names: Iterable[str], awaited: tuple[str, ...]) -> list[Diagnostic]:
        """A warning for each rule that names a tool which is not there."""
        found: list[Diagnostic] = []
        for rule in self.now.rules.unknown(names, awaited):
            text = f"the {rule.effect} rule {rule.text!r} names the tool {rule.tool}, which this session does not have"
            found.append(Diagnostic("warning", "permissions", text, *self._place(rule)))
        return found

    @property
    def no_bypass(self) -> bool:
        """Whether the mode ``bypassPermissions`` is switched off."""
        return bool(self.now.loaded.layers and self.now.loaded.settings.permissions.disable_bypass_permissions_mode)

    def mode(self, asked: PermissionMode | None) -> PermissionMode:
        """The mode to begin with: as asked for, else that of the settings. Raises `ConfigurationError`."""
        mode = asked or self.now.mode or PermissionMode.DEFAULT
        if mode is not PermissionMode.BYPASS_PERMISSIONS or not self.no_bypass:
            return mode
        if asked is None:
            return PermissionMode.DEFAULT
        raise ConfigurationError(NO_BYPASS, details={"field": "permission_mode"})

    def model_for(self, provider: Provider) -> str | None:
        """The model that the settings name, unless it is plainly another provider's."""
        model = self.now.loaded.settings.model if self.now.loaded.layers else None
        foreign = model is not None and model.startswith("claude") and provider.name != "anthropic"
        return None if foreign else model

    @property
    def additional_directories(self) -> list[str]:
        """Further roots for the file tools; those that do not exist are left out."""
        return self.now.directories

    def _place(self, rule: Rule) -> tuple[str, int | None]:
        origin = self.now.places[rule.origin]
        return origin.layer.path, origin.line

    def protected(self) -> Sequence[str]:
        """Files whose change would change what is allowed."""
        if not self.changeable:
            return ()
        places = [os.path.abspath(source.path) for source in self.sources.user]
        if self.access is not None and self.access.root is not None:
            places += [os.path.join(self.access.root, item.relative_path) for item in self.sources.project]
        return places

    def look(self) -> None:
        """Notice if another program has taken back the trust in the project; holders of the access are told then."""
        if self.access is not None:
            _ = self.access.trusted

    def kept_rules(self) -> KeptRules | None:
        """Where answers for the project go, if the host named a place."""
        return KeptRules(self.sources, self._cwd) if self.sources.project else None

    def reload(self, report: Callable[[ConfigurationError], None]) -> Effective:
        """Read everything again; what cannot be used is reported, and then all stays as it was."""
        try:
            self.now = self._read(self.sources.load())
        except ConfigurationError as error:
            report(error)
            self._drop_untrusted()
        self._publish()
        return self.now

    def _publish(self) -> None:
        if self._variables is not None:
            self._variables.clear()
            self._variables.update(self.now.variables)

    def _drop_untrusted(self) -> None:
        """The last good reading without what came from a project that is not trusted any more."""
        layers = [layer for layer in self.now.loaded.layers if not layer.project or self.sources.trusted]
        if len(layers) != len(self.now.loaded.layers):
            self.now = self._read(self.sources.merged(layers))

    def _read(self, loaded: LoadedSettings) -> Effective:
        if not loaded.layers:
            return replace(_NOTHING, loaded=loaded, diagnostics=loaded.diagnostics) if loaded.diagnostics else _NOTHING
        reader = Reader(self.project_root, loaded)
        rules = reader.rules(self._cwd, self._home)
        hooks = reader.hooks(self._environment, self._fail_closed)
        variables = reader.variables(self._environment)
        mode, directories = reader.mode(), reader.directories(self._cwd, self._home)
        found = (*loaded.diagnostics, *reader.found)
        return Effective(loaded, rules, reader.places, hooks, variables, mode, directories, found)


@cache
def _unconfigured() -> Configured:
    """The settings of all sessions without any: nothing in them can change."""
    return Configured(SettingsOptions(), cwd="", home=None, environment={}, fail_closed=False)


def configure(options: AssemblyOptions, *, home: str | None) -> Configured:
    """The settings of a session. Raises `SettingsError`, and `ConfigurationError` for paths that leave the project."""
    chosen = options.settings
    if not (chosen.user_sources or chosen.project_paths or chosen.project_access is not None):
        return _unconfigured()
    environment = os.environ if options.hooks.environment is None else options.hooks.environment
    return Configured(
        options.settings,
        cwd=intern(os.path.realpath(options.cwd)),
        home=home,
        environment=environment,
        fail_closed=options.hooks.fail_closed,
    )


def unusable(error: ConfigurationError) -> Diagnostic:
    """A file that cannot be used, as a finding."""
    details = error.details
    return Diagnostic("error", SOURCE, error.message, details.get("path"), details.get("line"))
