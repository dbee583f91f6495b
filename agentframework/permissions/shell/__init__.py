"""A typed view of what a shell command line does: commands, redirections, assignments, and what is not known.

It decides nothing. The rules of the permission layer are matched against it.
"""

from agentframework.permissions.shell.model import Assignment, CommandLine, Redirection, SimpleCommand, Word
from agentframework.permissions.shell.view import parse_command_line

__all__ = ["Assignment", "CommandLine", "Redirection", "SimpleCommand", "Word", "parse_command_line"]
