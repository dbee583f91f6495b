"""Risk and permission key of tools that do not declare them, by name.

A registration completes what the tool itself says; it never overrides a declared risk class. The table is per
process, as the risk of a named tool is a fact about the program, not about one session.
"""

from dataclasses import dataclass

from agentframework.errors import ConfigurationError
from agentframework.tools.tool import RiskClass, Tool


@dataclass(frozen=True, slots=True)
class PermissionProfile:
    """What the gate knows of a tool."""

    risk_class: RiskClass | None = None
    argument_key: str | None = None


_profiles: dict[str, PermissionProfile] = {}


def register_tool_permission_profile(
    name: str, *, risk_class: RiskClass | str | None = None, argument_key: str | None = None
) -> None:
    """Declare a tool's risk class and the argument that rules match. Registrations of one name merge.

    Raises `ConfigurationError` for an unknown class.
    """
    try:
        risk = RiskClass(risk_class) if risk_class is not None else None
    except ValueError:
        raise ConfigurationError(
            f"risk_class must be inspect, modify or execute, not {risk_class!r}", details={"field": "risk_class"}
        ) from None
    known = _profiles.get(name, PermissionProfile())
    _profiles[name] = PermissionProfile(risk or known.risk_class, argument_key or known.argument_key)


def profile_of(tool: Tool) -> PermissionProfile:
    """The tool's own declaration, completed from the table."""
    known = _profiles.get(tool.name)
    own = RiskClass(tool.risk) if tool.risk is not None else None
    if known is None:
        return PermissionProfile(own, tool.permission_key)
    return PermissionProfile(own or known.risk_class, tool.permission_key or known.argument_key)
