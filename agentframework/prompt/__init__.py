"""The system prompt, composed of sections, and the instruction files of a project."""

from agentframework.prompt.compose import prompt_sections
from agentframework.prompt.instructions import InstructionFiles, Instructions
from agentframework.prompt.sections import INSTRUCTIONS, Section, join_sections

__all__ = ["INSTRUCTIONS", "InstructionFiles", "Instructions", "Section", "join_sections", "prompt_sections"]
