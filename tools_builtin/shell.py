"""The tool ``Shell``: ``Bash`` under the name that other models know."""

from agentframework.tools import Tool

from ._shell import DEFAULT_TIMEOUT_MS, ShellState, make_shell_tool


def shell_tool(shells: ShellState, *, default_timeout_ms: int = DEFAULT_TIMEOUT_MS) -> Tool:
    """``Shell(command, timeout, description)``; ``shells`` is shared with the other shell tools of the assembly."""
    return make_shell_tool("Shell", shells, default_timeout_ms)
