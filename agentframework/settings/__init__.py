"""Settings files, and trust in the projects that bring some."""

from agentframework.settings.contributions import ContributionSources, contribution_sources_for
from agentframework.settings.load import LoadedSettings, SettingsSources, load_settings
from agentframework.settings.project_files import ProjectFileError, ProjectFiles
from agentframework.settings.secrets import UnsetVariableError, expand, variable_of
from agentframework.settings.source import (
    Layer,
    Origin,
    ProjectSettingsPath,
    SettingsSource,
    host_settings_source,
    project_settings_paths,
)
from agentframework.settings.trust import ProjectAccess, WorkspaceTrustService, create_workspace_trust_service
from agentframework.settings.write import add_permission_rules

__all__ = [
    "ContributionSources",
    "Layer",
    "LoadedSettings",
    "Origin",
    "ProjectAccess",
    "ProjectFileError",
    "ProjectFiles",
    "ProjectSettingsPath",
    "SettingsSource",
    "SettingsSources",
    "UnsetVariableError",
    "WorkspaceTrustService",
    "add_permission_rules",
    "contribution_sources_for",
    "create_workspace_trust_service",
    "expand",
    "host_settings_source",
    "load_settings",
    "project_settings_paths",
    "variable_of",
]
