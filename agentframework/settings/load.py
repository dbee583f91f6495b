"""All sources of a session as one: what is in force, where it comes from, and what was wrong.

With a restricted access no project file is opened; sources of the user still count.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentframework._base.diagnostic import Diagnostic
from agentframework.errors import WorkspaceTrustError
from agentframework.settings.project_files import ProjectFileError
from agentframework.settings.source import (
    SOURCE,
    Layer,
    Origin,
    ProjectSettingsPath,
    SettingsSource,
    parse_layer,
    project_settings_paths,
    read_host_file,
    settings_error,
    shown_path,
)
from agentframework.settings.trust import ProjectAccess

if TYPE_CHECKING:
    from agentframework.settings.merge import Merged
    from agentframework.settings.schema import Settings


class LoadedSettings:
    """Settings as they stand: ``layers`` lowest first, and ``diagnostics``.

    Where no file says anything, the model of settings, which takes time to import, is made only when asked for.
    """

    __slots__ = ("_merged", "diagnostics", "layers")

    def __init__(
        self, merged: "Merged | None" = None, layers: Sequence[Layer] = (), diagnostics: Sequence[Diagnostic] = ()
    ) -> None:
        self._merged = merged
        self.layers = tuple(layers)
        self.diagnostics = (*diagnostics, *(() if merged is None else merged.diagnostics))

    @property
    def settings(self) -> "Settings":
        """All layers as one."""
        if self._merged is None:
            from agentframework.settings.merge import merge_layers  # noqa: PLC0415 - pydantic

            self._merged = merge_layers(())
        return self._merged.settings

    @property
    def origins(self) -> Mapping[str, Origin]:
        """Where each value was written, by its key in the whole, such as ``permissions.deny[0]``."""
        return {} if self._merged is None else self._merged.origins


@dataclass(frozen=True, slots=True)
class SettingsSources:
    """The sources a host has named, lowest first within each kind; those of the project come after the user's."""

    user: Sequence[SettingsSource] = ()
    project: Sequence[ProjectSettingsPath] = ()
    access: ProjectAccess | None = None

    @property
    def trusted(self) -> bool:
        """Whether the project's count at this moment."""
        return self.access is not None and self.access.trusted

    def load(self) -> LoadedSettings:
        """Read everything. Raises `SettingsError` for a file that cannot be used."""
        layers: list[Layer] = []
        for source in self.user:
            data = read_host_file(source)
            if data is not None:
                path = os.fspath(source.path)
                _add(layers, parse_layer(data, scope=source.scope, path=path, shown=shown_path(path)))
        for item in self.project:
            _add(layers, self._project_layer(item))
        return self.merged(layers)

    def merged(self, layers: Sequence[Layer]) -> LoadedSettings:
        """The same with given layers, lowest first. Raises `SettingsError`."""
        if not layers:
            return LoadedSettings(None, (), self._skipped())
        from agentframework.settings.merge import merge_layers  # noqa: PLC0415 - pydantic, which takes time

        return LoadedSettings(merge_layers(layers), layers, self._skipped())

    def _project_layer(self, item: ProjectSettingsPath) -> Layer | None:
        if not self.trusted or self.access is None or self.access.root is None:
            return None
        path = os.path.join(self.access.root, item.relative_path)
        try:
            data = self.access.files().read(item.relative_path)
        except ProjectFileError as error:
            raise settings_error(path, None, None, str(error)) from error
        except WorkspaceTrustError:
            return None
        if data is None:
            return None
        return parse_layer(data, scope=item.scope, path=path, shown=item.relative_path, project=True)

    def _skipped(self) -> tuple[Diagnostic, ...]:
        if self.trusted or self.access is None or self.access.root is None:
            return ()
        root = self.access.root
        there = [item.relative_path for item in self.project if os.path.lexists(os.path.join(root, item.relative_path))]
        if not there:
            return ()
        message = f"settings of the project were not read ({', '.join(there)}): {self.access.reason}"
        return (Diagnostic("warning", SOURCE, message, root),)


def _add(layers: list[Layer], layer: Layer | None) -> None:
    if layer is not None:
        layers.append(layer)


def load_settings(
    user_sources: Sequence[SettingsSource] = (),
    project_access: ProjectAccess | None = None,
    project_paths: Sequence[object] = (),
) -> LoadedSettings:
    """The settings of a host, for use before there is a session: `resolve_provider` takes ``.settings`` of it.

    Raises `SettingsError` for a file that cannot be used.
    """
    return SettingsSources(tuple(user_sources), project_settings_paths(project_paths), project_access).load()

