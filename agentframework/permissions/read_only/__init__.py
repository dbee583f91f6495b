"""The built-in read-only set: shell commands that change nothing, run nothing else and stay in the working
directories.

Conservative: a command is in it only if its program is listed and every one of its words is known to do no more
than read, see `table`. It is decided by what a program does with its words at their places, never by its name alone.
"""

from agentframework.permissions.read_only.check import as_found, line_reads_only, reads_only, reads_only_from

__all__ = ["as_found", "line_reads_only", "reads_only", "reads_only_from"]
