"""Finding the command inside a command that runs another one: which reader knows which program."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentframework.permissions.shell import unwrap_shells as shells
from agentframework.permissions.shell import unwrap_special as special
from agentframework.permissions.shell.model import Word
from agentframework.permissions.shell.unwrap_table import unwrap_by_table
from agentframework.permissions.shell.unwrapped import Unwrapped
from agentframework.permissions.shell.wrappers import MULTICALL, OTHER_SHELLS, SHELLS, WRAPPERS

_READERS: dict[str, Callable[[Sequence[Word]], Unwrapped]] = {
    "env": special.env,
    "find": special.find,
    "xargs": special.xargs,
    "ssh": special.ssh,
    "parallel": special.parallel,
    "su": special.su,
    "runuser": special.runuser,
    "docker": special.container,
    "podman": special.container,
    "docker-compose": special.compose,
    "podman-compose": special.compose,
    "eval": shells.evaluate,
    "trap": shells.trap,
    "jobs": shells.jobs,
    "source": shells.source,
    ".": shells.source,
    **dict.fromkeys(MULTICALL, shells.multicall),
}


def unwrap(name: str, words: Sequence[Word], stdin: str | None) -> Unwrapped | None:
    """What `name` runs, given its arguments; None when it is no wrapper.

    `stdin` is the text a here-document or here-string feeds it, None when that is not known.
    """
    if name in SHELLS:
        return shells.shell(name, words, stdin)
    if name in OTHER_SHELLS:
        return shells.other_shell()
    if reader := _READERS.get(name):
        return reader(words)
    wrapper = WRAPPERS.get(name)
    return None if wrapper is None else unwrap_by_table(words, wrapper)
