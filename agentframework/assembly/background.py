"""Background tasks wired to a conversation: their events, and the tools that start and watch them."""

from collections.abc import Sequence
from functools import partial

from agentframework.abilities.background import BackgroundRegistry
from agentframework.bundled import load_tools_builtin
from agentframework.errors import ConfigurationError
from agentframework.events import BackgroundTaskEvent
from agentframework.events.sink import EventSink
from agentframework.tools import Tool
from agentframework.tools.background import CanGoToBackground


def background_registry(sink: EventSink) -> BackgroundRegistry:
    """The tasks of one conversation."""
    return BackgroundRegistry(partial(sink.emit, BackgroundTaskEvent))


def in_background(tools: Sequence[Tool], tasks: BackgroundRegistry) -> list[Tool]:
    """``tools`` with those that can start background tasks made able to, and the tools that watch such tasks.

    Raises `ConfigurationError` if none of them can.
    """
    able = [tool.with_background(tasks) if isinstance(tool, CanGoToBackground) else tool for tool in tools]
    if not any(isinstance(tool, CanGoToBackground) for tool in tools):
        raise ConfigurationError(
            "background_shells needs the built-in tool Bash or Shell among the default tools",
            details={"field": "background_shells"},
        )
    return [*able, *load_tools_builtin().background_tools(tasks)]
