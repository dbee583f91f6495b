"""Options to wired parts, shared by both faces."""

from agentframework.assembly.build import ModelSettings, Parts, build
from agentframework.assembly.builtins import builtin_commands, builtin_tools
from agentframework.assembly.options import (
    AssemblyOptions,
    AutoMode,
    HookOptions,
    ModelOptions,
    PermissionOptions,
    ServerOptions,
    SettingsOptions,
    ToolOptions,
    check_effort,
    session_limits,
)

__all__ = [
    "AssemblyOptions",
    "AutoMode",
    "HookOptions",
    "ModelOptions",
    "ModelSettings",
    "Parts",
    "PermissionOptions",
    "ServerOptions",
    "SettingsOptions",
    "ToolOptions",
    "build",
    "builtin_commands",
    "builtin_tools",
    "check_effort",
    "session_limits",
]
