"""What is in force when a call is decided: the mode, rules, grants, and the switches of the host."""

from dataclasses import dataclass

from agentframework.permissions.grants import Grants
from agentframework.permissions.modes import PermissionMode
from agentframework.permissions.rules import RuleSet


@dataclass(frozen=True, slots=True)
class Policy:
    """What is in force when a call is decided.

    ``read_only_commands``: shell lines that only read run unasked. ``protected``: further places, absolute, whose
    change is asked about in every mode. ``governed`` False: no mode is in force, see `GateOptions`.
    """

    mode: PermissionMode
    rules: RuleSet
    grants: Grants
    read_only_commands: bool = False
    protected: tuple[str, ...] = ()
    governed: bool = True
