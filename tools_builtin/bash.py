"""The tool ``Bash``: runs a shell command."""

from agentframework.tools import Tool

from ._shell import DEFAULT_TIMEOUT_MS, ShellState, make_shell_tool


def bash_tool(shells: ShellState, *, default_timeout_ms: int = DEFAULT_TIMEOUT_MS) -> Tool:
    """``Bash(command, timeout, description)``; ``shells`` is shared with the other shell tools of the assembly."""
    return make_shell_tool("Bash", shells, default_timeout_ms)
