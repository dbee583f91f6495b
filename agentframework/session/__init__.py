"""The interactive face: a queue of prompts, typed events, prompts for permission."""

from agentframework.session.query import Query, create_query
from agentframework.session.session import InteractiveSession
from agentframework.session.turn_handle import TurnHandle

__all__ = ["InteractiveSession", "Query", "TurnHandle", "create_query"]
