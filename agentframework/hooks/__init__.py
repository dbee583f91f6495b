"""Hooks: what a host has run when something happens in a session, and what that may hold back or change."""

from agentframework.hooks.config import HookConfig, parse_hooks
from agentframework.hooks.engine import HookEngine, HookSurroundings
from agentframework.hooks.merge import HookOutcome
from agentframework.hooks.model import HookEvent
from agentframework.hooks.prompt import ModelPort

__all__ = ["HookConfig", "HookEngine", "HookEvent", "HookOutcome", "HookSurroundings", "ModelPort", "parse_hooks"]
