"""The system prompt, composed of sections."""

from agentframework.prompt.compose import compose_system_prompt

__all__ = ["compose_system_prompt"]
