"""A sandbox that also refuses what may not be read.

The gate sees where a search starts, not what it finds. Tools that read and search ask the sandbox about every
file, so that is where Read deny rules hold for each single one.
"""

from agentframework.permissions.paths import absolute
from agentframework.permissions.rules import PathScope, RuleSet
from agentframework.permissions.subject import SEARCH_NAMES, Family
from agentframework.sandbox import OutsideWorkspaceError, ResolvedPath, Sandbox


class ReadFence:
    """``sandbox`` without the files that the deny rules take from reading tools. Made anew for each call."""

    def __init__(self, sandbox: Sandbox, rules: RuleSet) -> None:
        self._sandbox = sandbox
        self._rules = [
            (rule.text, rule.scope.patterns)
            for rule in rules.deny
            if isinstance(rule.scope, PathScope) and rule.family is Family.READ and rule.tool not in SEARCH_NAMES
        ]
        self.shell_directory = sandbox.shell_directory

    @property
    def roots(self) -> tuple[str, ...]:
        """Those of the sandbox."""
        return self._sandbox.roots

    def resolve(self, path: str) -> ResolvedPath:
        """See `Sandbox.resolve`. Raises `OutsideWorkspaceError` also for a file that a deny rule covers."""
        found = self._sandbox.resolve(path)
        places = {found.path, absolute(path, self.roots[0])}
        for rule, patterns in self._rules:
            if any(pattern.matches_any(places) for pattern in patterns):
                raise OutsideWorkspaceError(f"{path} is not to be read: the deny rule {rule} forbids it")
        return found
