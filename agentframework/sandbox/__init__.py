"""Where things run: the sandbox protocol and the local machine."""

from agentframework.sandbox.local import LocalSandbox, is_within
from agentframework.sandbox.protocol import OutsideWorkspaceError, ResolvedPath, Sandbox

__all__ = ["LocalSandbox", "OutsideWorkspaceError", "ResolvedPath", "Sandbox", "is_within"]
