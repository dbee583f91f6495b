"""Permission modes, and what each lets a class of risk do when no rule has spoken.

The table is data; whether a file lies within reach is for `agentframework.permissions.stages` to add.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from agentframework.errors import ConfigurationError
from agentframework.tools import RiskClass

Outcome = Literal["allow", "ask", "deny"]


class PermissionMode(StrEnum):
    """How much runs without asking."""

    PLAN = "plan"
    DEFAULT = "default"
    ACCEPT_EDITS = "acceptEdits"
    BYPASS_PERMISSIONS = "bypassPermissions"
    AUTO = "auto"


_Row = Mapping[RiskClass | None, Outcome]


def _row(inspect: Outcome, modify: Outcome, execute: Outcome, unclassified: Outcome) -> _Row:
    return MappingProxyType(
        {
            RiskClass.INSPECT: inspect,
            RiskClass.MODIFY: modify,
            RiskClass.EXECUTE: execute,
            None: unclassified,
        }
    )


MATRIX: Mapping[PermissionMode, _Row] = MappingProxyType(
    {
        PermissionMode.PLAN: _row("allow", "deny", "deny", "deny"),
        PermissionMode.DEFAULT: _row("allow", "ask", "ask", "ask"),
        PermissionMode.ACCEPT_EDITS: _row("allow", "allow", "ask", "ask"),
        PermissionMode.BYPASS_PERMISSIONS: _row("allow", "allow", "allow", "allow"),
        PermissionMode.AUTO: _row("allow", "allow", "ask", "ask"),
    }
)

_DOING: Mapping[RiskClass | None, str] = MappingProxyType(
    {
        RiskClass.INSPECT: "reading and searching",
        RiskClass.MODIFY: "changing files",
        RiskClass.EXECUTE: "running commands",
        None: "using a tool that declares no risk class",
    }
)

_DOES: Mapping[Outcome, str] = MappingProxyType({"allow": "allows", "ask": "asks before", "deny": "refuses"})


def parse_mode(value: "PermissionMode | str") -> PermissionMode:
    """The mode of that name. Raises `ConfigurationError` for any other."""
    try:
        return PermissionMode(value)
    except ValueError:
        raise ConfigurationError(
            f"permission_mode must be one of {', '.join(PermissionMode)}, not {value!r}",
            details={"field": "permission_mode"},
        ) from None


def mode_outcome(mode: PermissionMode, risk: RiskClass | None) -> Outcome:
    """What the table says; a class it does not know counts as unclassified."""
    row = MATRIX[mode]
    return row.get(risk, row[None])


def mode_reason(mode: PermissionMode, risk: RiskClass | None) -> str:
    """The same in words, such as "default mode asks before running commands"."""
    if mode is PermissionMode.AUTO and mode_outcome(mode, risk) == "ask":
        return f"{mode} mode leaves {_DOING.get(risk, _DOING[None])} to a classifier"
    return f"{mode} mode {_DOES[mode_outcome(mode, risk)]} {_DOING.get(risk, _DOING[None])}"
