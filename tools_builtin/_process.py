"""Running programs: the framework's own runner, under the name that the tools of this folder use."""

from agentframework.sandbox.process import Command, Ended, Leftover, group_alive, run_program

__all__ = ["Command", "Ended", "Leftover", "group_alive", "run_program"]
