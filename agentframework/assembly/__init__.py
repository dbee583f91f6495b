"""Options to wired parts, shared by both faces."""

from agentframework.assembly.build import ModelSettings, Parts, build
from agentframework.assembly.builtins import builtin_tools
from agentframework.assembly.options import (
    AssemblyOptions,
    ModelOptions,
    PermissionOptions,
    ToolOptions,
    session_limits,
)

__all__ = [
    "AssemblyOptions",
    "ModelOptions",
    "ModelSettings",
    "Parts",
    "PermissionOptions",
    "ToolOptions",
    "build",
    "builtin_tools",
    "session_limits",
]
