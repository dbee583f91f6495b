"""Slash commands: what a command is, what it may see of its session, and how one is found and run.

This package ships none; hosts pass modules of them. Nothing here knows the session: it is on the other side of
`CommandHost`. Above: the session and the commands themselves. Below: permissions and messages.
"""

from agentframework.slash.executor import CommandExecutor
from agentframework.slash.host import CommandHost, CommandInfo, PermissionOverview, ServerOverview
from agentframework.slash.module import Command, CommandModule, CommandResult, CommandSet
from agentframework.slash.parse import SlashLine, looks_like_command, normalise_name, split_line
from agentframework.slash.registry import CommandRegistry

__all__ = [
    "Command",
    "CommandExecutor",
    "CommandHost",
    "CommandInfo",
    "CommandModule",
    "CommandRegistry",
    "CommandResult",
    "CommandSet",
    "PermissionOverview",
    "ServerOverview",
    "SlashLine",
    "looks_like_command",
    "normalise_name",
    "split_line",
]
