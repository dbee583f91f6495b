"""Tasks that go on beside the turns of a session: who they are, what they write, how they end."""

from agentframework.abilities.background.log import TaskLog
from agentframework.abilities.background.registry import BackgroundRegistry

__all__ = ["BackgroundRegistry", "TaskLog"]
