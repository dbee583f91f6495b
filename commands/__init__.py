"""The built-in slash commands. A command sees its session only through the host port of ``agentframework.slash``.

Inside this folder siblings are imported relatively and the framework by its full name, because a wheel ships the
folder under another package name. Nothing but ``agentframework.bundled`` may load it on behalf of the framework.
"""

from agentframework.slash import CommandModule, CommandSet

from .clear import clear_command
from .compact import compact_command
from .context import context_command
from .cost import cost_command
from .exit import exit_command
from .help import help_command
from .mcp import mcp_command
from .mode import mode_command
from .model import model_command
from .permissions import permissions_command


def builtin_commands() -> CommandSet:
    """All of them, each in a module of its own that bears its name."""
    commands = (
        help_command(),
        clear_command(),
        permissions_command(),
        mode_command(),
        model_command(),
        context_command(),
        compact_command(),
        cost_command(),
        mcp_command(),
        exit_command(),
    )
    return CommandSet(CommandModule(command.name, (command,)) for command in commands)
