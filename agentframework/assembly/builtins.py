"""The built-in tools and slash commands, from wherever they are bundled."""

from collections.abc import Mapping

from agentframework.bundled import load_commands, load_tools_builtin
from agentframework.slash import CommandSet
from agentframework.tools import ToolSet


def builtin_tools(
    *, environment: Mapping[str, str] | None = None, variables: Mapping[str, str] | None = None
) -> ToolSet:
    """A fresh set of the ten built-in tools; pick from it with ``builtin_tools().pick("Read", "Grep")``.

    ``environment`` is what shell commands may inherit (an allow-list of names applies); None means that of
    this process. ``variables`` they get besides, each time as they stand then. A set remembers which files were read
    and where the shell stands, per session.
    """
    return load_tools_builtin().builtin_tools(environment=environment, variables=variables)


def builtin_commands() -> CommandSet:
    """The built-in slash commands, each as a module of its own: pass them as ``command_modules``.

    Pick from them with ``builtin_commands().pick("help", "clear")``; a library session has none by itself.
    """
    return load_commands().builtin_commands()
