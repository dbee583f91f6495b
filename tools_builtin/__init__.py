"""The built-in tools. They may use ``agentframework.tools``, what lies below it, and ``agentframework.sandbox``.

Inside this folder siblings are imported relatively and the framework by its full name, because a wheel ships the
folder under another package name. Nothing but ``agentframework.bundled`` may load it on behalf of the framework.
"""

import os
from collections.abc import Mapping
from dataclasses import replace

from agentframework.tools import Tool, ToolInfo, ToolSet
from agentframework.tools.background import BackgroundTasks

from ._ledger import FileLedger
from ._shell import ShellState
from .ask_user_question import ask_user_question_tool
from .bash import bash_tool
from .bash_output import bash_output_tool
from .edit import edit_tool
from .glob import glob_tool
from .grep import grep_tool
from .kill_shell import kill_shell_tool
from .multi_edit import multi_edit_tool
from .notebook_edit import notebook_edit_tool
from .read import read_tool
from .shell import shell_tool
from .todo_write import todo_write_tool
from .web_fetch import web_fetch_tool
from .web_search import engine_for, web_search_tool
from .write import write_tool

_BUILTIN = ToolInfo("builtin")  # one for all sessions


def builtin_tools(
    *, environment: Mapping[str, str] | None = None, variables: Mapping[str, str] | None = None
) -> ToolSet:
    """A fresh set of the ten that a session offers, in that order; ``pick`` also knows the optional ones.

    Shell commands inherit what an allow-list lets through of ``environment``, by default that of this process, and
    get ``variables`` as they are, each time as they stand then. ``BRAVE_API_KEY`` or ``TAVILY_API_KEY`` in
    ``environment`` choose who searches.
    """
    files = FileLedger()
    around = os.environ if environment is None else environment
    shells = ShellState(around, variables=variables)
    tools = (
        shell_tool(shells),
        bash_tool(shells),
        read_tool(files),
        write_tool(files),
        edit_tool(files),
        glob_tool(),
        grep_tool(),
        web_fetch_tool(),
        web_search_tool(engine_for(around)),
        ask_user_question_tool(),
    )
    optional = (multi_edit_tool(files), notebook_edit_tool(files), todo_write_tool())
    return ToolSet(map(_as_builtin, tools), optional=map(_as_builtin, optional))


def background_tools(tasks: BackgroundTasks) -> list[Tool]:
    """The tools that watch and end what shell tools have started in the background."""
    return [_as_builtin(tool) for tool in (bash_output_tool(tasks), kill_shell_tool(tasks))]


def _as_builtin(tool: Tool) -> Tool:
    return replace(tool, info=_BUILTIN)
